"""The card of a policy with thoughts: beliefs are painted where they belong, and frames follow the flight."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from PIL import Image

from wayword.episodes import PlacedObject, Pose2
from wayword.mapping.grid import CELL_M, PREDICTION_CELLS, UNOBSERVED, prediction_centres, to_world
from wayword.pictures.colours import PALETTE
from wayword.pictures.thought_card import BARS, LAYOUT, ThoughtCard
from wayword.pictures.thought_map import paint_beliefs
from wayword.pictures.topdown import TopDown
from wayword.pilot.free_flight import free_example, judge_by_mentions
from wayword.pilot.pilot import open_database
from wayword.policy.fspvn import FsPVN, Thought
from wayword.recording.film import Film, RecorderConfig
from wayword.sim.arena import ArenaConfig
from wayword.sim.render.bank import MeshBank

INSTRUCTION = (
    "Go past the globe, then past the unicorn; circle the globe and stop with it on your left, by the fire truck."
)
OBJECTS = [PlacedObject("globe", 2.4, 2.0, 0.0), PlacedObject("strawberry", 1.6, 3.4, 0.0)]


@pytest.fixture(scope="module")
def film() -> Film:
    """Two decisions of the shipped policy."""
    bank = MeshBank.of_catalogue(["globe", "strawberry"])
    example = free_example("seed 0", INSTRUCTION, OBJECTS, Pose2(1.0, 2.0, 0.0))
    config = RecorderConfig(arena=ArenaConfig(horizon=2))
    return Film(FsPVN.load(), example, bank, config, open_database("test"), judge_by_mentions(["globe"]))


@pytest.fixture(scope="module")
def frames(film: Film) -> list[np.ndarray]:
    return list(film)


@pytest.fixture(scope="module")
def thought(film: Film, frames: list[np.ndarray]) -> Thought:
    return film.policy.thought(0)  # type: ignore[attr-defined,no-any-return]


def believing(thought: Thought, **changes: np.ndarray) -> Thought:
    """The same thought with empty beliefs, but for the changes."""
    empty = {
        "references": np.zeros_like(thought.references),
        "coverage": np.ones_like(thought.coverage),
        "distributions": np.eye(UNOBSERVED + 1, dtype=np.float32)[[-1, -1]],
    }
    return Thought(**{**vars(thought), **empty, **changes})


def painted(thought: Thought, topdown: TopDown, colours: list[tuple[int, int, int]]) -> np.ndarray:
    picture = Image.new("RGB", (topdown.size_px, topdown.size_px), (90, 90, 90))
    paint_beliefs(picture, topdown, thought, colours)
    return np.asarray(picture).astype(int)


def test_beliefs_are_painted_where_they_belong(film: Film, thought: Thought) -> None:
    topdown = film.card.topdown
    cell = (40, 44)
    d = np.zeros((2, UNOBSERVED + 1), np.float32)
    d[0, -1], d[1, cell[0] * PREDICTION_CELLS + cell[1]] = 1.0, 1.0
    at = to_world(prediction_centres()[cell], thought.start)
    column, row = topdown.to_pixels(at)[0].astype(int)
    pixels = painted(believing(thought, distributions=d), topdown, [])
    assert pixels[row, column, 0] - pixels[row, column, 2] > 120  # red: it will stop here
    changed = np.argwhere((pixels != 90).any(axis=2))
    assert np.abs(changed - (row, column)).max() < 2.5 * CELL_M * topdown.px_per_m


def test_what_was_not_observed_is_dark_and_references_are_rings(film: Film, thought: Thought) -> None:
    topdown = film.card.topdown
    coverage = np.ones((32, 32), np.float32)
    coverage[:, 16:] = 0
    pixels = painted(believing(thought, coverage=coverage), topdown, [])
    left, right = (topdown.to_pixels([[x, 2.35]])[0].astype(int) for x in (1.0, 3.7))
    assert pixels[left[1], left[0]].tolist() == [90, 90, 90]
    assert pixels[right[1], right[0]].max() < 60
    references = np.zeros((1, 32, 32), np.float32)
    references[0, 10:14, 20:24] = 1.0
    pixels = painted(believing(thought, references=references), topdown, [PALETTE[0]])
    column, row = topdown.to_pixels([[22 * CELL_M, 12 * CELL_M]])[0].astype(int)
    assert pixels[row, column].tolist() == [90, 90, 90]  # the middle of the ring is free
    near = pixels[row - 40 : row + 40, column - 40 : column + 40]
    assert np.abs(near - PALETTE[0]).sum(axis=2).min() < 60


def test_a_film_of_thoughts(film: Film, frames: list[np.ndarray]) -> None:
    assert isinstance(film.card, ThoughtCard)
    assert len(frames) == 1 + 2 * 5 + 20  # before the first decision, five a decision, two seconds of rest
    assert {frame.shape for frame in frames} == {(720, 1280, 3)}
    last = film.flight
    assert last.outcome.startswith("ran out of time after 1.0 s")
    assert [decision.time_s for decision in last.decisions] == [0.0, 0.5]
    first = frames[0].astype(int)
    view = first[LAYOUT.view.top : LAYOUT.view.top + LAYOUT.view.height, LAYOUT.view.left :][:, : LAYOUT.view.width]
    pink = (np.abs(view - PALETTE[0]).sum(axis=2) < 120).sum()
    assert pink > 200  # the globe, which stands ahead, has its mask
    bars = first[BARS.top : BARS.top + BARS.height, BARS.left : BARS.left + BARS.width]
    assert (bars == PALETTE[0]).all(axis=2).sum() > 300


def test_frames_between_decisions_differ_and_the_last_one_rests(frames: list[np.ndarray]) -> None:
    assert all((one != two).any() for one, two in itertools.pairwise(frames[1:11]))
    assert all((frame == frames[-1]).all() for frame in frames[-20:])
