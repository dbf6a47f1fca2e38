"""What the control network is shown, and how its answer becomes an action."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from wayword.errors import DataError
from wayword.learning.policy.gold import gold_distributions
from wayword.mapping.grid import CELL_M, UNOBSERVED
from wayword.policy.control import (
    PAPER,
    Control,
    ControlConfig,
    ControlInputs,
    Trails,
    control_inputs,
    to_actions,
    unpack,
)

SEEN = np.ones((1, 32, 32), np.float32)
NOTHING = np.zeros((1, 32, 32), np.float32)
START = np.array([[1.0, 2.0, 0.3]])


def shown(
    goal: tuple[float, float],
    pose: np.ndarray,
    config: ControlConfig,
    start: np.ndarray = START,
    coverage: np.ndarray = SEEN,
    flown: list[np.ndarray] | None = None,
    things: np.ndarray = NOTHING,
) -> ControlInputs:
    """Inputs for a straight demonstration from the start to ``goal``, the drone being at ``pose``."""
    distributions = gold_distributions([start[0, :2], goal], start[0], coverage[0])[None]
    trails = Trails(start)
    for place in flown or []:
        trails.add([0], place)
    return unpack(
        control_inputs(distributions, start, pose, coverage, trails.maps, trails.motion, things, config), config
    )  # fmt: skip


def ahead(pose: np.ndarray, u: float, v: float) -> tuple[float, float]:
    """The world point u metres ahead and v to the left of a pose (1, 3)."""
    x, y, yaw = pose[0]
    return x + u * np.cos(yaw) - v * np.sin(yaw), y + u * np.sin(yaw) + v * np.cos(yaw)


def test_the_crop_is_egocentric() -> None:
    # Wherever the start and the drone are, a goal 3.5 cells ahead and 1.5 to the left peaks at column 11, row 9:
    # the drone is between 7 and 8.
    for start, pose in (
        (START, START),
        (START, np.array([[2.0, 2.5, 2.0]])),
        (START + 1, np.array([[2.2, 2.0, -1.0]])),
    ):
        goal = ahead(pose, 3.5 * CELL_M, 1.5 * CELL_M)
        parts = shown(goal, pose, ControlConfig(), start)
        assert np.unravel_index(parts.image[0, 1].argmax(), (16, 16)) == (9, 11)
        assert 0.9 < parts.image[0, 1].max() <= 1  # at its peak, up to the bilinear loss
        assert parts.image.shape == (1, 5, 16, 16)


def test_far_mass_looks_far_by_default_and_near_in_the_papers_crop() -> None:
    # The goal is 1.6 m ahead: only its tail (1.18 m is the edge of the crop) is in the crop.
    goal = ahead(START, 1.6, 0.0)
    assert shown(goal, START, ControlConfig()).image[0, 1].max() < 0.1
    assert shown(goal, START, PAPER).image[0, 1].max() == pytest.approx(1)
    assert shown(goal, START, PAPER).image.shape == (1, 4, 16, 16)
    assert shown(goal, START, PAPER).summary.shape == (1, 0)


def test_unobserved_mass_fills_two_channels() -> None:
    third = np.full((1, 32, 32), 0.25, np.float32)
    image = shown((2.0, 2.0), START, PAPER, coverage=third).image
    np.testing.assert_allclose(image[0, 2:4], 0.75, atol=1e-5)


def test_masks_show_walls_and_what_is_unseen() -> None:
    # In the middle of an arena seen in its left half, facing +y: what is unseen (x > 2.35) lies to the right,
    # where rows are small. The walls are 2.35 m = 16 cells away on all sides: pooled cells 4 and 11.
    left = np.zeros((1, 32, 32), np.float32)
    left[:, :, :16] = 1
    pose = np.array([[2.35, 2.35, np.pi / 2]])
    masks = shown((2.35, 3.0), pose, ControlConfig(), coverage=left).masks[0]
    np.testing.assert_allclose(masks[0, 4:7, 5:11], 1, atol=1e-6)
    np.testing.assert_allclose(masks[0, 9:12, 5:11], 0, atol=1e-6)
    np.testing.assert_allclose(masks[0][:, :3], 0)  # outside the arena nothing is left to see
    np.testing.assert_allclose(masks[1, [4, 11], 8], 0.25, atol=1e-6)  # one of the four cells' lines
    np.testing.assert_allclose(masks[1, 5:11, 5:11], 0, atol=1e-6)
    np.testing.assert_allclose(masks[1], masks[1].T, atol=1e-6)


def test_summary_by_hand() -> None:
    pose = np.array([[2.0, 2.0, np.pi / 2]])
    start = np.array([[1.0, 2.0, 0.0]])
    # Demonstration from (1, 2) along +x to (3, 2); the drone flew its first metre and then turned left.
    # The goal is 1 m to the right: 6.8 cells, so the vector is 6.8 / 7.8 long.
    flown = [np.array([[2.0, 2.0, 0.0]]), pose]
    s = shown((3.0, 2.0), pose, ControlConfig(), start, flown=flown).summary[0]
    length = (1 / CELL_M) / (1 / CELL_M + 1)
    np.testing.assert_allclose(s[:2], 0, atol=1e-5)
    np.testing.assert_allclose(s[2:5], [0, -length, np.log(2)], atol=0.01)
    np.testing.assert_allclose(s[5:8], [0, -length, np.log(2)], atol=0.07)  # the middle of a cell: half a cell off
    assert s[8] == pytest.approx(0.96, abs=0.04)  # two standard deviations and a half in both directions
    assert s[9] == pytest.approx(0, abs=1e-3)
    # The trail is one row of cells and the blurred path five: what lies off it is on average a bit ahead of 1 m.
    assert s[11] < -0.3
    assert 0.5 < s[13] < 0.9
    np.testing.assert_allclose(s[14:], [0, np.pi / 2], atol=1e-6)
    at_goal = shown((3.0, 2.0), np.array([[3.0, 2.0, 0.0]]), ControlConfig(), start).summary[0]
    assert at_goal[9] > 0.98
    np.testing.assert_allclose(at_goal[2:5], 0, atol=0.01)


def test_trails_mark_the_way_and_remember_the_last_motion() -> None:
    starts = np.array([[1.0, 1.0, np.pi / 2], [2.0, 2.0, 0.0]])
    trails = Trails(starts)
    assert trails.maps.sum() == 2
    trails.add([0], [[1.0, 1.0 + 5 * CELL_M, np.pi / 2 + 0.4]])
    # Facing +y from between four cells: half a cell, four cells, half a cell, all in one row of the grid.
    assert trails.maps[0].sum() == 6
    assert (trails.maps[0].sum(1) > 0).sum() == 1
    assert trails.maps[1].sum() == 1
    np.testing.assert_allclose(trails.motion[0], [5 * CELL_M * np.cos(0.4), 0.4], atol=1e-6)
    trails.add([0], [[1.0, 1.0, np.pi / 2 + 0.4 - 2 * np.pi]])
    assert trails.motion[0, 1] == pytest.approx(0, abs=1e-6)  # the same heading, written otherwise
    trails.reset([0], [[3.0, 3.0, 0.0]])
    assert trails.maps[0].sum() == 1
    np.testing.assert_array_equal(trails.motion, 0)


def test_what_stands_around_is_shown_from_the_drone() -> None:
    # A thing in the world's cell (row 20, column 17), whose centre is (17.5, 20.5) cells; the drone looks along +y
    # from 4.5 cells below and 1.5 to the right of it: it lies 4.5 cells ahead and 1.5 to the left, column 12, row 9.
    things = NOTHING.copy()
    things[0, 20, 17] = 1.0
    pose = np.array([[(17.5 + 1.5) * CELL_M, (20.5 - 4.5) * CELL_M, np.pi / 2]])
    config = ControlConfig(things=True)
    image = shown((2.35, 3.0), pose, config, things=things).image[0]
    assert image.shape == (6, 16, 16)
    assert image[5, 9, 12] == pytest.approx(1.0, abs=1e-5)
    assert image[5].sum() == pytest.approx(1.0, abs=1e-5)
    np.testing.assert_array_equal(image[:5], shown((2.35, 3.0), pose, ControlConfig()).image[0])


def test_wrong_shapes_are_named() -> None:
    trails = Trails(START)
    with pytest.raises(ValueError, match="coverage has shape"):
        control_inputs(
            np.zeros((1, 2, UNOBSERVED + 1), np.float32),
            START,
            START,
            SEEN[:, :16],
            trails.maps,
            trails.motion,
            NOTHING,
        )


def test_actions_are_means_within_the_limits() -> None:
    outputs = np.array([[0.5, 9, -0.5, 9, -0.1], [1.4, 1, -3.0, 1, 0.1], [-0.2, 1, 2.0, 1, 0.0]], np.float32)
    expected = [[0.35, -0.5, 0], [0.7, -1.0, 1], [0.0, 1.0, 0]]
    np.testing.assert_allclose(to_actions(outputs), expected, atol=1e-6)
    with pytest.raises(ValueError, match="not finite"):
        to_actions(np.full((1, 5), np.nan, np.float32))


def test_control_keeps_trails_per_slot() -> None:
    seen: list[np.ndarray] = []

    def network(inputs: np.ndarray) -> tuple[np.ndarray, ...]:
        seen.append(inputs)
        return (np.tile(np.array([0.5, 0.1, 0.0, 0.1, -3.0], np.float32), (len(inputs), 1)),)

    config = ControlConfig()
    control = Control(network, config)
    starts = np.repeat(START, 3, axis=0)
    control.reset(starts)
    gold = np.repeat(gold_distributions([[1, 2], [2, 3]], START[0], SEEN[0])[None], 3, axis=0)
    coverage = np.repeat(SEEN, 3, axis=0)
    control.act(np.arange(3), gold, starts, coverage, coverage)
    moved = starts[[0, 2]] + [[0.2, 0.0, 0.0], [0.0, 0.3, 0.0]]
    actions = control.act(np.array([0, 2]), gold[:2], moved, coverage[:2], coverage[:2])
    np.testing.assert_allclose(actions, [[0.35, 0, 0]] * 2, atol=1e-6)
    np.testing.assert_allclose(
        unpack(seen[1], config).summary[:, 14], [0.2 * np.cos(0.3), 0.3 * np.sin(0.3)], atol=1e-6
    )


def test_a_folder_without_weights_says_so(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        Control.load(tmp_path)
    (tmp_path / "control.json").write_text("{}")
    with pytest.raises(DataError, match="damaged"):
        Control.load(tmp_path)
