"""Stage 2's inputs against the same rules said cell by cell, from anywhere, along any way."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from wayword.mapping.grid import CELL_M, UNOBSERVED, to_frame, to_world
from wayword.policy.control import PAPER, Control, ControlConfig, Trails, control_inputs, to_actions, unpack

EVERYTHING = ControlConfig(things=True)
SEEDS = st.integers(0, 10**9)


def sampled(grid: np.ndarray, line: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Bilinear between the centres of cells, fading to 0 over one cell outside."""
    return ndimage.map_coordinates(np.pad(grid.astype(np.float64), 1), np.stack([line + 1, column + 1]), order=1)


def around(pose: np.ndarray, cells: int) -> np.ndarray:
    """World places (cells, cells, 2) of a square around the drone: rows to its left, columns ahead."""
    axis = (np.arange(cells) - (cells - 1) / 2) * CELL_M
    v, u = np.meshgrid(axis, axis, indexing="ij")
    return to_world(np.stack([u, v], axis=2), pose)


def on_prediction_grid(places: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Line and column."""
    u, v = np.moveaxis(to_frame(places, start) / CELL_M + 31.5, -1, 0)
    return v, u


def scene(seed: int) -> dict[str, np.ndarray]:
    """Two drones somewhere in the arena, that have seen and flown some of it."""
    rng = np.random.default_rng(seed)
    distributions = rng.random((2, 2, UNOBSERVED + 1)).astype(np.float32) ** 30
    distributions /= distributions.sum(axis=2, keepdims=True)
    return {
        "distributions": distributions,
        "starts": np.column_stack([rng.uniform(0, 4.7, (2, 2)), rng.uniform(-7, 7, 2)]),
        "poses": np.column_stack([rng.uniform(0, 4.7, (2, 2)), rng.uniform(-7, 7, 2)]),
        "coverage": rng.random((2, 32, 32)).astype(np.float32),
        "trail": (rng.random((2, 64, 64)) < 0.1).astype(np.float32),
        "motion": rng.normal(size=(2, 2)).astype(np.float32),
        "things": rng.random((2, 32, 32)).astype(np.float32),
    }


@settings(max_examples=20, derandomize=True)
@given(SEEDS)
def test_the_image_is_what_lies_around_the_drone(seed: int) -> None:
    given_ = scene(seed)
    default, paper = (unpack(control_inputs(**given_, config=c), c).image for c in (EVERYTHING, PAPER))
    assert (default.shape, paper.shape) == ((2, 6, 16, 16), (2, 4, 16, 16))
    for n in range(2):
        start, places = given_["starts"][n], around(given_["poses"][n], 16)
        for k in range(2):
            grid = given_["distributions"][n, k, :UNOBSERVED].reshape(64, 64)
            crop = sampled(grid, *on_prediction_grid(places, start))
            np.testing.assert_allclose(default[n, k], crop / grid.max(), atol=1e-4)
            np.testing.assert_allclose(paper[n, k], crop / crop.max() if crop.max() > 0 else 0, atol=1e-4)
            np.testing.assert_allclose(default[n, 2 + k], given_["distributions"][n, k, UNOBSERVED])
            np.testing.assert_allclose(paper[n, 2 + k], given_["distributions"][n, k, UNOBSERVED])
        np.testing.assert_allclose(
            default[n, 4], sampled(given_["trail"][n], *on_prediction_grid(places, start)), atol=1e-4
        )
        line, column = places[..., 1] / CELL_M - 0.5, places[..., 0] / CELL_M - 0.5
        np.testing.assert_allclose(default[n, 5], sampled(given_["things"][n], line, column), atol=1e-4)


@settings(max_examples=10, derandomize=True)
@given(SEEDS)
def test_the_masks_are_what_is_unseen_and_the_boundary_within_9_4_m(seed: int) -> None:
    given_ = scene(seed)
    masks = unpack(control_inputs(**given_), ControlConfig()).masks
    assert masks.shape == (2, 2, 16, 16)
    for n in range(2):
        x, y = np.moveaxis(around(given_["poses"][n], 64) / CELL_M - 0.5, 2, 0)
        inside = np.minimum(np.minimum(x, y), np.minimum(31 - x, 31 - y))
        seen = sampled(np.pad(given_["coverage"][n], 2, mode="edge"), y + 2, x + 2)  # a seen wall side is seen
        unseen = np.where(inside > -0.5, 1 - seen, 0.0)
        wall = np.where(inside >= -1, np.maximum(0, 1 - np.abs(inside)), 0.0)
        for found, fine in zip(masks[n], (unseen, wall), strict=True):
            np.testing.assert_allclose(found, fine.reshape(16, 4, 16, 4).mean(axis=(1, 3)), atol=1e-4)


def pointed(place: np.ndarray, pose: np.ndarray) -> list[float]:
    """A world place as ahead, left, shorter than 1 within a cell, and log(1 + metres)."""
    u, v = to_frame(place, pose)
    far = math.hypot(u, v)
    return [u / (far + CELL_M), v / (far + CELL_M), math.log1p(far)]


@settings(max_examples=15, derandomize=True)
@given(SEEDS, st.sampled_from([1.0, 1e-5, 0.0]))
def test_the_sixteen_numbers(seed: int, share: float) -> None:
    given_ = scene(seed)
    given_["distributions"][0, :, :UNOBSERVED] *= share
    summary = unpack(control_inputs(**given_), ControlConfig()).summary
    assert summary.shape == (2, 16)
    for n in range(2):
        start, pose = given_["starts"][n], given_["poses"][n]
        path, goal = given_["distributions"][n, :, :UNOBSERVED].astype(np.float64).reshape(2, 64, 64)
        line, column = np.mgrid[0:64, 0:64]

        def place(i: float, j: float, start: np.ndarray = start) -> np.ndarray:
            return to_world(((j - 31.5) * CELL_M, (i - 31.5) * CELL_M), start)

        def mean(mass: np.ndarray, start: np.ndarray = start, line=line, column=column) -> np.ndarray:
            i, j = (mass * line).sum() / mass.sum(), (mass * column).sum() / mass.sum()
            return to_world(((j - 31.5) * CELL_M, (i - 31.5) * CELL_M), start)

        wanted = np.zeros(16)
        wanted[:2] = given_["distributions"][n, :, UNOBSERVED]
        if goal.sum() > 1e-6:
            held = ndimage.uniform_filter(goal, 5, mode="constant") * 25
            price = np.full((64, 64), -1.0)
            price[2:62, 2:62] = (held + goal)[2:62, 2:62]  # of equal windows, the one with the likelier middle
            best = np.unravel_index(int(price.argmax()), price.shape)
            wanted[2:5], wanted[5:8], wanted[8] = pointed(mean(goal), pose), pointed(place(*best), pose), held[best]
        u, v = np.moveaxis(
            to_frame(to_world(np.stack([column - 31.5, line - 31.5], axis=2) * CELL_M, start), pose), 2, 0
        )
        wanted[9] = goal[np.hypot(u, v) < 0.47].sum()
        rest = path * (1 - given_["trail"][n])
        if rest.sum() > 1e-6:
            wanted[10:13] = pointed(mean(rest), pose)
        wanted[13:] = [rest.sum(), *given_["motion"][n]]
        np.testing.assert_allclose(summary[n], wanted, atol=2e-4)


@settings(max_examples=30, derandomize=True)
@given(SEEDS)
def test_trails_are_the_cells_that_a_drone_flew_over(seed: int) -> None:
    rng = np.random.default_rng(seed)
    starts = np.column_stack([rng.uniform(0, 4.7, (3, 2)), rng.uniform(-4, 4, 3)])
    trails, slots = Trails(starts), np.array([2, 0])
    last, wanted, places = starts.copy(), np.zeros((3, 64, 64)), starts.copy()

    def mark(n: int, a: np.ndarray, b: np.ndarray) -> None:
        parts = int(math.dist(a[:2], b[:2]) / CELL_M * 10) + 1
        for k in range(parts + 1):
            v, u = on_prediction_grid(a[:2] + (b[:2] - a[:2]) * k / parts, starts[n])
            i, j = math.floor(v + 0.5), math.floor(u + 0.5)
            if 0 <= i < 64 and 0 <= j < 64:
                wanted[n, i, j] = 1

    for n in range(3):
        mark(n, starts[n], starts[n])
    for turn in range(4):
        places[slots] += np.column_stack([rng.normal(0, 2.5, (2, 2)), rng.uniform(-7, 7, 2)])
        trails.add(slots, places[slots])
        for n in slots:
            mark(n, last[n], places[n])
            step = places[n] - last[n]
            ahead = step[0] * math.cos(places[n, 2]) + step[1] * math.sin(places[n, 2])
            turned = math.atan2(math.sin(step[2]), math.cos(step[2]))
            np.testing.assert_allclose(trails.motion[n], [ahead, turned], atol=1e-5)
        last = places.copy()
        np.testing.assert_array_equal(trails.maps, wanted)
        if turn == 1:  # the next leg of one of them
            starts = starts.copy()
            starts[2] = last[2] = places[2] = rng.uniform(0, 4.7, 3)
            trails.reset([2], starts[2:])
            wanted[2] = 0
            mark(2, starts[2], starts[2])
    assert not trails.motion[1].any()


def test_the_sizes_of_what_is_shown() -> None:
    assert (ControlConfig().channels, EVERYTHING.channels, PAPER.channels) == (5, 6, 4)
    assert ControlConfig().size == 7 * 256 + 16
    assert EVERYTHING.size == 8 * 256 + 16
    assert PAPER.size == 6 * 256
    assert ControlConfig() == ControlConfig(scale="grid", trail=True, summary=True, things=False)


def test_a_stop_is_likelier_than_not_and_limits_are_0_7_and_1() -> None:
    outputs = np.array([[1.2, 0, 1.2, 0, 1e-6], [-0.1, 0, -1.2, 0, -1e-6], [0.5, 0, 0.25, 0, 0.0]], np.float32)
    np.testing.assert_allclose(to_actions(outputs), [[0.7, 1, 1], [0, -1, 0], [0.35, 0.25, 0]], atol=1e-6)


def test_each_slot_is_shown_its_own_trail_and_start_and_begins_anew_when_told() -> None:
    asked: list[np.ndarray] = []

    def network(inputs: np.ndarray) -> tuple[np.ndarray]:
        asked.append(inputs)
        return (np.zeros((len(inputs), 5), np.float32),)

    control, given_ = Control(network, EVERYTHING), scene(4)
    starts = np.array([[1.0, 1.0, 0.0], [3.0, 3.0, 2.0]])
    control.reset(starts)
    trails = Trails(starts)
    for slots, restarted in (([1, 0], False), ([1], False), ([1, 0], True), ([0], False)):
        index = np.array(slots)
        if restarted:
            control.restart([1], [[2.0, 2.0, 1.0]])
            trails.reset([1], [[2.0, 2.0, 1.0]])
        poses = given_["poses"][index] + 0.01 * len(asked)
        rows = [given_[name][index] for name in ("distributions", "coverage", "things")]
        control.act(index, rows[0], poses, rows[1], rows[2])
        trails.add(index, poses)
        wanted = control_inputs(
            rows[0], trails.starts[index], poses, rows[1], trails.maps[index], trails.motion[index], rows[2], EVERYTHING
        )
        np.testing.assert_array_equal(asked[-1], wanted)


@pytest.mark.parametrize("name", ["distributions", "starts", "poses", "coverage", "trail", "motion", "things"])
def test_every_part_has_one_shape(name: str) -> None:
    given_ = scene(1)
    given_[name] = given_[name][:1]
    with pytest.raises(ValueError, match="has shape"):
        control_inputs(**given_)
