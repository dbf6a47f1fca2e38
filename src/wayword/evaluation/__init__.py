"""How well a flight followed its demonstration, and how the numbers are published.

``publish.publish`` and ``summary.table`` are not lifted here: they would hide the modules of the same names.
"""

from wayword.evaluation.intervals import Interval, bootstrap_mean, wilson
from wayword.evaluation.metrics import EpisodeMetrics, score
from wayword.evaluation.publish import Figure, load_results
from wayword.evaluation.summary import count_endings, summarise

__all__ = [
    "EpisodeMetrics",
    "Figure",
    "Interval",
    "bootstrap_mean",
    "count_endings",
    "load_results",
    "score",
    "summarise",
    "wilson",
]
