"""How well a flight followed its demonstration, and how the numbers are published."""

from wayword.evaluation.metrics import EpisodeMetrics, score
from wayword.evaluation.summary import count_endings, summarise
from wayword.figures import Figure, load_results
from wayword.intervals import Interval, bootstrap_mean, wilson

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
