"""A flight as a line of text, there and back."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayword.errors import WaywordError
from wayword.recording.track import LONGEST, read_track, track_of


def poses(yaws: list[float]) -> np.ndarray:
    return np.column_stack([np.zeros((len(yaws), 5)), yaws])


def test_a_track_by_hand() -> None:
    # Two decisions of two sub-steps each, then a stop: three places, the last where it stopped.
    path = np.array([[0.0, 0.0], [0.1, 0.0], [0.2, 0.0], [0.3, 0.1], [0.4, 0.2]])
    text = track_of(path, poses([0.0, math.pi / 4, math.pi / 2]), stopped=True)
    assert text == "0.00,0.00,0 0.20,0.00,45 0.40,0.20,90"


def test_a_flight_that_ran_out_of_time_ends_where_its_last_move_led() -> None:
    path = np.array([[0.0, 0.0], [0.1, 0.0], [0.2, 0.0]])
    assert track_of(path, poses([0.0, 0.5]), stopped=False) == "0.00,0.00,0 0.10,0.00,29 0.20,0.00,29"


def test_an_immediate_stop_is_one_place() -> None:
    assert track_of(np.array([[1.0, 2.0]]), poses([-math.pi / 2]), stopped=True) == "1.00,2.00,270"


def test_it_is_read_as_numbers() -> None:
    np.testing.assert_array_equal(read_track("0.00,0.00,0 0.20,-1.00,45"), [[0, 0, 0], [0.2, -1, 45]])


@pytest.mark.parametrize(
    "text",
    ["", "1,2", "1,2,3,4", "a,b,c", "1,2,3 1,2", "nan,0,0", "inf,0,0", "1e9,0,0", None, 3, ["1,2,3"]],
)
def test_anything_else_is_refused_in_one_line(text: object) -> None:
    with pytest.raises(WaywordError, match="is not a list of x,y,heading triples") as error:
        read_track(text)
    assert "\n" not in str(error.value)


def test_endless_tracks_are_not_read() -> None:
    with pytest.raises(WaywordError):
        read_track("0,0,0 " * (LONGEST + 1))


@given(st.integers(1, 30), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_a_track_reads_back_to_the_centimetre(moves: int, steps: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    path = rng.uniform(-1, 6, (moves * steps + 1, 2))
    yaws = rng.uniform(-math.pi, math.pi, moves + 1).tolist()
    track = read_track(track_of(path, poses(yaws), stopped=True))
    assert track.shape == (moves + 1, 3)
    np.testing.assert_allclose(track[:, :2], path[::steps], atol=0.0051)
    off = (track[:, 2] - np.degrees(yaws) + 180) % 360 - 180
    assert np.abs(off).max() <= 0.51
