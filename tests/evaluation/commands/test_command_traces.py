"""What can be measured of a flight: distances, bearings, windings and visits, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.flown_by_hand import Drawn, things
from wayword.episodes.commands import Step, Until
from wayword.errors import WaywordError
from wayword.evaluation.commands.attempt import Attempt, Bounds, once_done
from wayword.evaluation.commands.moves import holds_at
from wayword.evaluation.commands.trace import Flown, Trace, wrapped


def flown(drawn: Drawn, **places: tuple[float, float]) -> Flown:
    return Flown(drawn.trace, things(**places))


def test_a_square_is_as_long_as_its_sides_and_ends_where_it_began() -> None:
    square = flown(Drawn().to((1, 0), (1, 1), (0, 1), (0, 0)))
    assert square.length[-1] == pytest.approx(4.0)
    assert square.way[-1] == pytest.approx(0.0, abs=1e-4)
    assert square.way.max() == pytest.approx(math.sqrt(2), abs=1e-3)


def test_headings_have_no_jumps() -> None:
    twice = flown(Drawn().turn(720))
    assert twice.yaw[-1] == pytest.approx(4 * math.pi, abs=1e-3)
    assert flown(Drawn().turn(-270)).yaw[-1] == pytest.approx(-1.5 * math.pi, abs=1e-3)


def test_distances_and_the_nearest_other() -> None:
    line = flown(Drawn().ahead(2), a=(1, 1), b=(2, 0), c=(5, 5))
    assert line.distance("a").min() == pytest.approx(1.0)
    assert line.distance("b")[-1] == pytest.approx(0.0)
    assert line.nearest_other("b")[0] == pytest.approx(math.sqrt(2))
    assert line.nearest_other("a")[-1] == pytest.approx(0.0)
    assert np.isinf(flown(Drawn().ahead(1), a=(1, 1)).nearest_other("a")).all()


@pytest.mark.parametrize(
    ("place", "degrees"), [((1, 0), 0), ((0, 1), 90), ((0, -1), -90), ((-1, 0.001), 180), ((1, 1), 45), ((1, -1), -45)]
)
def test_bearings_are_those_of_the_drone(place: tuple[float, float], degrees: float) -> None:
    assert flown(Drawn(), a=place).bearing_deg("a")[0] == pytest.approx(degrees, abs=0.1)
    # Turned by 90 degrees to the left, everything is 90 degrees farther to the right.
    turned = flown(Drawn(yaw_deg=90), a=place).bearing_deg("a")[0]
    assert wrapped(np.radians(np.array([turned - degrees + 90])))[0] == pytest.approx(0.0, abs=0.01)


def test_windings_count_round_the_object() -> None:
    circle = flown(Drawn(1.0, 0.0).around((0, 0), 540), a=(0, 0), far=(9, 0))
    assert circle.winding("a")[-1] == pytest.approx(3 * math.pi, abs=1e-3)
    assert abs(circle.winding("far")[-1]) < 0.3
    back = flown(Drawn(1.0, 0.0).around((0, 0), 360).around((0, 0), -360), a=(0, 0))
    assert back.winding("a")[-1] == pytest.approx(0.0, abs=1e-3)
    assert back.winding("a").max() == pytest.approx(2 * math.pi, abs=1e-3)


def test_only_what_is_flown_nearby_winds() -> None:
    circle = Drawn(1.0, 0.0).around((0, 0), 360)
    assert flown(circle, a=(0, 0)).winding("a", within_m=0.9)[-1] == 0.0
    assert flown(circle, a=(0, 0)).winding("a", within_m=1.1)[-1] == pytest.approx(2 * math.pi, abs=1e-3)


def test_the_step_into_what_is_nearby_does_not_wind_yet() -> None:
    # From (1, 1), 1.41 m away, to (0, 0.9): an eighth of a turn from outside. Then on to (-0.9, 0): a quarter inside.
    # Then out to (-1, -1) again: an eighth that does not count either.
    poses = np.array([(1, 1, 0), (0, 0.9, 0), (-0.9, 0, 0), (-1, -1, 0)], np.float64)
    way = Flown(Trace(np.arange(4) / 10, poses), things(a=(0, 0)))
    np.testing.assert_allclose(way.winding("a", within_m=1.0), np.array([0, 0, 1, 1]) * math.pi / 2, atol=1e-9)
    np.testing.assert_allclose(way.winding("a"), np.array([0, 0.5, 1.5, 2.0]) * math.pi / 2, atol=1e-9)


def test_straight_across_the_centre_is_round_it_on_neither_side() -> None:
    assert flown(Drawn(-1.0, 0.0).ahead(2), a=(0, 0)).winding("a")[-1] == pytest.approx(0.0, abs=1e-6)
    # A little beside it is half a turn: with the object on the right, clockwise.
    assert flown(Drawn(-1.0, 0.1).ahead(2), a=(0, 0)).winding("a")[-1] == pytest.approx(
        -(math.pi - 2 * math.atan(0.1)), abs=1e-3
    )


def test_visits_are_stays_nearby() -> None:
    way = flown(Drawn().to((2, 0), (0, 0)), a=(1, 0))
    stays = way.visits("a", 0.5)
    assert len(stays) == 2
    for first, last in stays:
        inside = way.distance("a")[first : last + 1]
        assert inside.max() <= 0.5 + 1e-9
        assert way.distance("a")[first - 1] > 0.5
    whole = way.visits("a", 9.0)
    assert whole == [(0, len(way) - 1)]
    assert way.visits("a", -1.0) == []


def test_traces_are_thinned_and_keep_their_last_pose() -> None:
    poses = np.column_stack([np.arange(12) * 0.01, np.zeros(12), np.zeros(12)])
    trace = Trace.every(poses, 0.02)
    # One in five, and the last: samples 0, 5, 10 and 11.
    np.testing.assert_allclose(trace.times, [0.0, 0.1, 0.2, 0.22])
    np.testing.assert_allclose(trace.poses[:, 0], [0.0, 0.05, 0.1, 0.11])


@pytest.mark.parametrize(
    ("times", "poses"),
    [
        ([], np.zeros((0, 3))),
        ([0.0, 0.1], np.zeros((1, 3))),
        ([0.0], np.zeros((1, 2))),
        ([0.0, 0.0], np.zeros((2, 3))),
        ([0.1, 0.0], np.zeros((2, 3))),
        ([0.0, math.nan], np.zeros((2, 3))),
        ([0.0], [[0.0, math.inf, 0.0]]),
    ],
)
def test_what_is_no_trace_is_refused_in_one_line(times: list[float], poses: object) -> None:
    with pytest.raises(WaywordError) as error:
        Trace(np.array(times), np.array(poses))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("rows", ["nothing", [[0.0, 1.0]], [["a", 0, 0, 0]], None, [{}]])
def test_what_was_not_written_as_a_trace_is_not_read(rows: object) -> None:
    with pytest.raises(WaywordError):
        Trace.from_json(rows)


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=20))
def test_wrapped_angles_are_the_same_angles(values: list[float]) -> None:
    angles = np.array(values)
    result = wrapped(angles)
    assert (result >= -math.pi).all()
    assert (result < math.pi).all()
    np.testing.assert_allclose(np.cos(result), np.cos(angles), atol=1e-9)
    np.testing.assert_allclose(np.sin(result), np.sin(angles), atol=1e-9)


def attempt(drawn: Drawn, step: Step, ready: int = 0, last: bool = True, **places: tuple[float, float]) -> Attempt:
    flight = flown(drawn, **places)
    return Attempt(flight, step, np.arange(len(flight)) == ready, last)


def test_what_is_reported_of_a_last_step_is_how_it_ended() -> None:
    way = Drawn().to((1, 0), (3, 0))
    step = Step("goto", object="a")
    ended = attempt(way, step, a=(1, 0))
    assert ended.reported_value(ended.flown.distance("a")) == pytest.approx(2.0)
    passed = attempt(way, step, last=False, a=(1, 0))
    assert passed.reported_value(passed.flown.distance("a")) == pytest.approx(0.0, abs=1e-6)
    # Only what comes after the beginning counts. Two of the 30 samples were turns, the rest 5 cm each: 1.4 m.
    late = attempt(way, step, ready=30, last=False, a=(1, 0))
    assert late.reported_value(late.flown.distance("a")) == pytest.approx(0.4)
    assert late.after.sum() == len(late.flown) - 30


def test_on_the_spot_is_near_and_without_a_flight_in_between() -> None:
    away = attempt(Drawn().to((0.4, 0), (0, 0)).ahead(0.001), Step("turn", degrees=90))
    assert away.still(0).all()
    # Four times 0.3 m is more than twice the bound of half a metre, though it never was far away.
    busy = attempt(Drawn().to((0.3, 0), (0, 0), (0.3, 0), (0, 0)), Step("turn", degrees=90))
    assert not busy.still(0)[-1]
    assert not attempt(Drawn().ahead(1), Step("turn", degrees=90)).still(0)[-1]


def test_tolerances_are_a_share_or_a_least_amount() -> None:
    bounds = Bounds()
    assert bounds.tolerance_m(0.4) == pytest.approx(0.2)
    assert bounds.tolerance_m(2.0) == pytest.approx(0.5)
    assert bounds.tolerance_m(-2.0) == pytest.approx(0.5)


def test_a_deed_stays_done() -> None:
    assert once_done(np.array([False, True, False, False])).tolist() == [False, True, True, True]
    assert not once_done(np.zeros(3, bool)).any()


@pytest.mark.parametrize(
    ("is_", "place", "expected"),
    [
        ("left", (0, 1), True),
        ("left", (1, 0.5), False),
        ("left", (-1, 0.5), False),
        ("right", (0, -1), True),
        ("right", (0, 1), False),
        ("ahead", (1, 0.5), True),
        ("ahead", (1, 1), False),
        ("behind", (-1, 0.1), True),
        ("behind", (0, 1), False),
        ("close", (0.6, 0.6), True),
        ("close", (0.7, 0.7), False),
        ("seen", (1, 0.8), True),
        ("seen", (1, 1), False),
    ],
)
def test_when_something_holds(is_: str, place: tuple[float, float], expected: bool) -> None:
    step = Step("forward", until=Until("a", is_))  # type: ignore[arg-type]
    assert step.until is not None
    assert holds_at(attempt(Drawn(), step, a=place), step.until)[0] == expected
