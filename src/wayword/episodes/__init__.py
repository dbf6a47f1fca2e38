"""Episodes: their format, the natural corpus, random layouts and procedural demonstrations."""

from wayword.episodes.corpus import SPLITS, held_out_seen, load_natural, load_reworded
from wayword.episodes.format import Episode, Example, PlacedObject, Pose2, Segment, examples
from wayword.episodes.layouts import LayoutConfig, random_layout
from wayword.episodes.legs import LegConfig
from wayword.episodes.loader import EpisodeRules, load_episodes, write_episodes
from wayword.episodes.manoeuvres import Manoeuvre, ManoeuvreKind, Passed, measure_manoeuvre, plain_instruction
from wayword.episodes.paths import PathConfig, generate_episode, generate_episodes

__all__ = [
    "SPLITS",
    "Episode",
    "EpisodeRules",
    "Example",
    "LayoutConfig",
    "LegConfig",
    "Manoeuvre",
    "ManoeuvreKind",
    "Passed",
    "PathConfig",
    "PlacedObject",
    "Pose2",
    "Segment",
    "examples",
    "generate_episode",
    "generate_episodes",
    "held_out_seen",
    "load_episodes",
    "load_natural",
    "load_reworded",
    "measure_manoeuvre",
    "plain_instruction",
    "random_layout",
    "write_episodes",
]
