"""Whole paragraphs of the natural corpus, four or five segments in one text: does the drone get through to the end?

    end        the last segment's end is within the success radius of where the drone stopped by itself
    all ends   every segment's end was passed within that radius, in their order, and the last is where it stopped

The paper flies one or two segments; here a text of any length is read into legs that are flown with one map.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.typing import ArrayLike

from wayword.compute import Workers, in_order
from wayword.episodes import Example, load_natural
from wayword.episodes.format import paragraph
from wayword.evaluation.metrics import EpisodeMetrics
from wayword.evaluation.runner import fly_examples
from wayword.evaluation.table.columns import shipped_database
from wayword.evaluation.table.reading import steady_policy
from wayword.pilot.episode_loop import RunConfig
from wayword.policy import Policy
from wayword.sim.arena import ArenaConfig
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.renderer import RenderConfig
from wayword.task import HORIZON, SUCCESS_RADIUS_M

PART = 16
"""Flights per job."""
PARAGRAPH_HORIZON = 3 * HORIZON
"""Decisions: a paragraph is up to five segments, and two have ``HORIZON``."""


@dataclass(frozen=True)
class FlownParagraph:
    """How one went."""

    example: str
    metrics: EpisodeMetrics
    all_ends: bool


@dataclass(frozen=True)
class _Part:
    policy: str
    split: str
    limit: int | None
    seed: int
    number: int


def fly_paragraphs(
    policy: str,
    split: str = "dev",
    limit: int | None = None,
    seed: int = 0,
    workers: Workers = 2,
    progress: Callable[[int], None] = lambda done: None,
) -> list[FlownParagraph]:
    """Fly every paragraph of a split once, or ``limit`` of them, evenly spread."""
    count = len(paragraph_examples(split, limit))
    parts = [_Part(policy, split, limit, seed, number) for number in range(-(-count // PART))]
    answers: list[FlownParagraph] = []
    for flights in in_order(partial(_fly_part, _bank()), parts, workers):
        progress(len(flights))
        answers += flights
    return answers


def _fly_part(bank: MeshBank, part: _Part) -> list[FlownParagraph]:
    first = part.number * PART
    cuts = paragraph_examples(part.split, part.limit)[first : first + PART]
    arena = ArenaConfig(horizon=PARAGRAPH_HORIZON, render=RenderConfig(threads=1))
    taught = [shipped_database(part.split)] * len(cuts)
    run = RunConfig(part.seed, PART, arena=arena)
    flights = fly_examples(_policy(part.policy), cuts, bank, run, taught, first=first)
    return [
        FlownParagraph(
            flight.example.id,
            flight.metrics,
            bool(flight.metrics.sr) and reached_in_order(flight.path, segment_ends(flight.example)),
        )
        for flight in flights
    ]


def segment_ends(example: Example) -> list[tuple[float, float]]:
    """Where the segments of an example end."""
    episode = example.episode
    ends = [episode.bounds(number)[1] for number in range(example.first, example.first + example.count)]
    return [(float(episode.path[end][0]), float(episode.path[end][1])) for end in ends]


def reached_in_order(path: ArrayLike, ends: Sequence[tuple[float, float]], radius_m: float = SUCCESS_RADIUS_M) -> bool:
    """Whether a path (P, 2) comes within ``radius_m`` of all ``ends``, one after the other."""
    points, at = np.asarray(path, np.float64), 0
    for end in ends:
        near = np.flatnonzero(np.hypot(points[at:, 0] - end[0], points[at:, 1] - end[1]) <= radius_m)
        if not len(near):
            return False
        at += int(near[0])
    return True


@cache
def paragraph_examples(split: str, limit: int | None = None) -> list[Example]:
    """The natural paragraphs of a split, each as one example."""
    cuts = [paragraph(episode) for episode in load_natural(split)]
    return cuts if limit is None or limit >= len(cuts) else [cuts[k * len(cuts) // limit] for k in range(limit)]


@cache
def _policy(name: str) -> Policy:
    return steady_policy(name)


@cache
def _bank() -> MeshBank:
    return MeshBank.of_catalogue()
