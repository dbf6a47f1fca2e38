"""How well a flight followed its demonstration, and how the numbers are published.

``publish.publish`` is not lifted here: the function would hide the module of the same name.
"""

from wayword.evaluation.intervals import Interval, bootstrap_mean, wilson
from wayword.evaluation.metrics import EpisodeMetrics, score
from wayword.evaluation.publish import Figure, load_results
from wayword.evaluation.summary import count_endings, summarise, table

__all__ = [
    "EpisodeMetrics",
    "Figure",
    "Interval",
    "bootstrap_mean",
    "count_endings",
    "load_results",
    "score",
    "summarise",
    "table",
    "wilson",
]
