from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayword.mapping.grid import (
    CELL_M,
    PREDICTION_CELLS,
    UNOBSERVED,
    WORLD_CELLS,
    frame_pose,
    prediction_centres,
    to_frame,
    to_world,
    world_centres,
    world_to_prediction,
)

places = st.floats(-10, 10, allow_nan=False)
poses = st.tuples(places, places, st.floats(-10, 10, allow_nan=False))


def test_a_point_ahead_and_one_to_the_left():
    # Facing +y from (1, 2): 0.5 m ahead is (1, 2.5), 0.5 m to the left is (0.5, 2).
    pose = (1.0, 2.0, math.pi / 2)
    np.testing.assert_allclose(to_frame([[1.0, 2.5], [0.5, 2.0]], pose), [[0.5, 0], [0, 0.5]], atol=1e-12)
    np.testing.assert_allclose(to_world([[0.5, 0], [0, 0.5]], pose), [[1.0, 2.5], [0.5, 2.0]], atol=1e-12)


@given(poses, st.lists(st.tuples(places, places), min_size=1, max_size=5))
def test_frames_round_trip_and_keep_distances(pose: tuple[float, float, float], points: list[tuple[float, float]]):
    world = np.array(points)
    local = to_frame(world, pose)
    np.testing.assert_allclose(to_world(local, pose), world, atol=1e-9)
    np.testing.assert_allclose(np.hypot(*local.T), np.hypot(*(world - pose[:2]).T), atol=1e-9)


def test_frame_pose_leaves_height_and_tilt():
    np.testing.assert_array_equal(frame_pose([1, 2, 0.7, 0.1, 0.2, 0.3]), [1, 2, 0.3])


def test_centres_of_the_cells():
    # 4.7 / 32 = 0.146875; the first world cell's centre is half of it, and the prediction grid is symmetric.
    assert pytest.approx(0.146875) == CELL_M
    assert UNOBSERVED == PREDICTION_CELLS**2 == 4096
    np.testing.assert_allclose(world_centres()[0, 1], [1.5 * CELL_M, 0.5 * CELL_M])
    np.testing.assert_allclose(prediction_centres()[31, 32], [0.5 * CELL_M, -0.5 * CELL_M])
    np.testing.assert_allclose(prediction_centres().mean(axis=(0, 1)), 0, atol=1e-12)


def test_resampling_without_turning_is_a_shift():
    # From the corner between world cells 15 and 16 on both axes, facing +x, prediction cell 32 + k is world cell
    # 16 + k: the world grid lies unchanged in rows and columns 16 to 47.
    world = np.arange(WORLD_CELLS**2, dtype=np.float32).reshape(1, WORLD_CELLS, WORLD_CELLS)
    start = (16 * CELL_M, 16 * CELL_M, 0.0)
    out = world_to_prediction(world, start, outside=-7.0)
    np.testing.assert_allclose(out[0, 16:48, 16:48], world[0], atol=1e-3)
    assert (out[0, :15] == -7).all()
    assert (out[0, :, 49:] == -7).all()


def test_resampling_turns_left_into_rows():
    # Facing +y: what stands 1.5 cells towards +y is ahead (columns), what stands towards -x is left (rows).
    world = np.zeros((2, WORLD_CELLS, WORLD_CELLS), np.float32)
    world[0, 17, 16] = 1  # centre 1.5 cells ahead, 0.5 cells to the right
    world[1, 16, 14] = 1  # 0.5 ahead, 1.5 to the left
    out = world_to_prediction(world, (16 * CELL_M, 16 * CELL_M, math.pi / 2))
    assert np.unravel_index(out[0].argmax(), out[0].shape) == (31, 33)
    assert np.unravel_index(out[1].argmax(), out[1].shape) == (33, 32)
    np.testing.assert_allclose(out.max(axis=(1, 2)), 1, atol=1e-6)


@given(st.tuples(st.floats(1, 3.7), st.floats(1, 3.7), st.floats(-4, 4)))
def test_resampling_agrees_with_the_frames(pose: tuple[float, float, float]):
    # A linear function of x and y is resampled exactly where its four neighbours are all in the arena.
    x, y = np.moveaxis(world_centres(), 2, 0)
    maps = (2 * x - 3 * y)[None].astype(np.float32)
    wanted = to_world(prediction_centres(), pose)
    inside = ((wanted > CELL_M / 2) & (wanted < 4.7 - CELL_M / 2)).all(axis=2)
    out = world_to_prediction(maps, pose)[0]
    np.testing.assert_allclose(out[inside], (wanted @ [2, -3])[inside], atol=1e-4)
