"""The map makes up its mind: what a look showed counts with what all looks at its thing say."""

from __future__ import annotations

import numpy as np
import pytest

from wayword.camera import Camera
from wayword.mapping.grid import CELL_M
from wayword.mapping.landmarks import LandmarkConfig, Landmarks
from wayword.mapping.settled_map import SettledMap

GLOBE, PLANTER = (0.9, 0.05, 0.05), (0.05, 0.9, 0.05)
TABLE = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
"""P(o | r): "the globe", "the planter"."""
POSE = np.array([1.0, 1.0, 0.7, 0.0, 0.0, 0.0])
CELL = (7, 17)
"""Row and column."""
X, Y = 17.5 * CELL_M, 7.5 * CELL_M
"""Its middle: 2.57 m, 1.10 m."""


def new_map(config: LandmarkConfig | None = None) -> SettledMap:
    return SettledMap(Landmarks(("globe", "planter"), Camera().at_model_size(), config or LandmarkConfig()))


def look(settled: SettledMap, row: tuple[float, float, float], p_box: float = 1.0) -> None:
    settled.add(np.array([(X, Y, 0.15, 1.0)], np.float32), np.array([p_box]), np.array([row]), POSE)


def test_one_look_is_what_it_says() -> None:
    settled = new_map()
    look(settled, GLOBE)
    # One look at P(b) = 1 and full quality: evidence 0.5 log P, so P is proportional to sqrt(0.9, 0.05, 0.05).
    roots = np.sqrt(GLOBE)
    assert settled.references(TABLE)[0][CELL] == pytest.approx(roots[0] / roots.sum(), abs=1e-5)


def test_a_wrong_first_look_does_not_stay() -> None:
    """The planter's mask would keep 0.9 for ever; after five looks at a globe hardly anything is left of it."""
    settled = new_map()
    look(settled, PLANTER)
    before = settled.references(TABLE)[1][CELL]
    for _ in range(5):
        look(settled, GLOBE)
    globe, planter = settled.references(TABLE)
    assert before > 0.6
    assert planter[CELL] < 0.02
    assert globe[CELL] > 0.95


def test_a_box_without_a_landmark_counts_as_it_is() -> None:
    """A box that hardly is one makes no landmark: 0.3 * 0.9."""
    settled = new_map()
    look(settled, GLOBE, p_box=0.3)
    assert settled.landmarks.confirmed == []
    assert settled.sightings[0].numbers.tolist() == [-1]
    assert settled.references(TABLE)[0][CELL] == pytest.approx(0.27, abs=1e-5)


def test_looks_follow_their_landmark_into_another() -> None:
    """Landmarks at y = 1.0 and 1.75; near looks, which count more, draw the second to 0.36 m from the first.

    With ``join_m`` 0.7 two that are nearer than 0.42 m to each other are one.
    """
    settled = new_map(LandmarkConfig(join_m=0.7))
    marks = settled.landmarks
    places = np.array([(2.5, 1.0, 0.15, 1.0), (2.5, 1.75, 0.15, 1.0)], np.float32)
    settled.add(places, np.ones(2), np.array([GLOBE, PLANTER]), POSE)
    first, second = settled.sightings[0].numbers
    assert first != second
    near = np.array([2.3, 1.4, 0.7, 0.0, 0.0, 0.0])
    for y in (1.40, 1.25):
        assert len(marks.confirmed) == 2
        settled.add(np.array([(2.5, y, 0.15, 1.0)], np.float32), np.ones(1), np.array([GLOBE]), near)
    assert len(marks.confirmed) == 1
    believed = marks.believed(np.array([first, second]), np.array([GLOBE, PLANTER]))
    assert believed[0] == pytest.approx(believed[1])
    # Half of the evidence of three looks at a globe and one at a planter.
    product = np.array(GLOBE) ** 1.5 * np.array(PLANTER) ** 0.5
    assert believed[0] == pytest.approx(product / product.sum(), abs=1e-6)


def test_looks_follow_their_landmark_into_a_third_one() -> None:
    """As above; then a third one, first seen at y = 2.4, is drawn to what the two have become, by three near looks."""
    marks = new_map(LandmarkConfig(join_m=0.7)).landmarks

    def see(ys: tuple[float, ...], rows: list[tuple[float, float, float]], pose: tuple[float, ...]) -> None:
        places = np.array([(2.5, y, 0.15, 1.0) for y in ys], np.float32)
        marks.update(places, np.ones(len(ys)), np.array(rows), pose)

    see((1.0, 1.75, 2.4), [GLOBE, PLANTER, PLANTER], tuple(POSE))
    for y in (1.40, 1.25):
        see((y,), [GLOBE], (2.3, 1.4, 0.7, 0.0, 0.0, 0.0))
    assert [mark.number for mark in marks.confirmed] == [1, 2]
    for y in (1.95, 1.70, 1.62):
        see((y,), [PLANTER], (2.3, 1.7, 0.7, 0.0, 0.0, 0.0))
    assert [mark.number for mark in marks.confirmed] == [2]
    believed = marks.believed(np.array([0, 1, 2]), np.array([GLOBE, PLANTER, PLANTER]))
    # Half of the evidence of three looks at a globe and five at a planter, whichever landmark the look was at.
    product = np.array(GLOBE) ** 1.5 * np.array(PLANTER) ** 2.5
    np.testing.assert_allclose(believed, np.tile(product / product.sum(), (3, 1)), atol=1e-6)


def test_nothing_seen_or_nothing_asked() -> None:
    settled = new_map()
    settled.add(np.zeros((0, 4), np.float32), np.zeros(0), np.zeros((0, 3)), POSE)
    assert settled.references(TABLE).shape == (2, 32, 32)
    assert settled.references(TABLE).max() == 0.0
    look(settled, GLOBE)
    assert settled.references(np.zeros((0, 3))).shape == (0, 32, 32)


def test_a_look_stays_where_it_was_taken_when_the_drone_flies_on() -> None:
    settled, pose = new_map(), POSE.copy()
    settled.add(np.array([(X, Y, 0.15, 1.0)], np.float32), np.ones(1), np.array([GLOBE]), pose)
    pose += 1.0
    np.testing.assert_array_equal(settled.sightings[0].pose, POSE)
