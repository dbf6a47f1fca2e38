"""The velocity nearest to a wish that keeps clear of things: by hand, against a search, and in flight."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from support.governing import heard, tick, wish
from wayword.flight import State
from wayword.flight.clearance import CREEP_M_S, Around, cleared, joined_discs
from wayword.mapping.standing import side_of

FAST = State(0.0, speed_m_s=0.7)


def left_of(asked, *discs, rest=(1.0, 1.0), heading=0.0, ahead=1.25, side=math.pi):
    """From (1, 1), hull and room together 0.13 m."""
    return cleared((1.0, 1.0), rest, heading, asked, discs, Around(0.13, ahead, side))


def test_it_slows_down_for_what_is_far_and_steers_around_what_is_near():
    # A disc of 0.1 m at 1 m: 0.77 m are free, / 1.25 s = 0.616 m/s. To go past it, 0.23 of 0.7 m/s would be lost: more.
    assert left_of((0.7, 0.0), (2.0, 1.0, 0.1)) == pytest.approx((0.616, 0.0))
    assert left_of((0.6, 0.0), (2.0, 1.0, 0.1)) == (0.6, 0.0)
    assert left_of((0.7, 0.0), (0.5, 1.0, 0.1)) == (0.7, 0.0)  # behind
    assert left_of((0.7, 0.0), (1.4, 1.8, 0.1)) == (0.7, 0.0)  # beside the way
    # At 0.5 m the tangents are asin(0.23 / 0.5) = 27.4 degrees to the sides: 0.7 cos 27.4 = 0.622 m/s along one.
    ux, uy = left_of((0.7, 0.0), (1.5, 1.0, 0.1))
    assert math.hypot(ux, uy) == pytest.approx(0.6215, abs=1e-3)
    assert abs(math.degrees(math.atan2(uy, ux))) == pytest.approx(27.39, abs=0.01)
    # On the side on which it is already.
    assert left_of((0.7, 0.0), (1.5, 0.99, 0.1))[1] > 0 > left_of((0.7, 0.0), (1.5, 1.01, 0.1))[1]


def test_it_is_steered_from_where_it_comes_to_rest():
    thing = (2.5, 1.0, 0.1)
    assert left_of((0.7, 0.0), thing) == (0.7, 0.0)
    # It comes to rest at 1.5: the same as 0.5 m nearer.
    assert left_of((0.7, 0.0), thing, rest=(1.5, 1.0)) == pytest.approx((0.616, 0.0))
    # The rest is 0.03 m within its room: out again in 1.25 s, whatever is wished, and no faster than half a creep.
    assert left_of((0.7, 0.0), thing, rest=(2.3, 1.0)) == pytest.approx((-0.024, 0.0))
    assert left_of((0.0, 0.0), thing, rest=(2.3, 1.0)) == pytest.approx((-0.024, 0.0))
    assert left_of((0.7, 0.0), thing, rest=(2.45, 1.0)) == pytest.approx((-CREEP_M_S / 2, 0.0))
    assert left_of((0.5, 0.5), thing, rest=(2.3, 1.0), heading=math.pi / 4) == pytest.approx((-0.024, 0.5))


def test_the_way_to_rest_stays_clear_while_its_end_moves():
    # It comes to rest a metre ahead; beside the middle of that way, 0.2 m to the left, is the room of a thing.
    # Its end may move to the left so that the middle gets there in 1.25 s, no faster: 0.2 / (0.5 * 1.25) = 0.32 m/s.
    thing = (1.5, 1.43, 0.1)
    _, uy = left_of((0.0, 0.7), thing, rest=(2.0, 1.0), heading=math.pi / 2)
    assert uy == pytest.approx(0.32, abs=1e-6)
    assert left_of((0.0, -0.7), thing, rest=(2.0, 1.0), heading=-math.pi / 2) == (0.0, -0.7)


def test_between_two_things():
    # 0.6 m apart, half a metre ahead: straight through, though each alone would be met on the way to its middle.
    gate = ((1.5, 1.3, 0.1), (1.5, 0.7, 0.1))
    assert left_of((0.7, 0.0), *gate) == (0.7, 0.0)
    ux, uy = left_of((0.6, 0.25), *gate, heading=math.atan2(0.25, 0.6))
    assert ux > 0.6
    assert 0 < uy < 0.15
    # 0.2 m apart there is no way between them, but one around them: no deadlock.
    wall = ((1.3, 1.1, 0.1), (1.3, 0.9, 0.1))
    ux, uy = left_of((0.7, 0.0), *wall, ahead=2.0)
    # The outer tangent: atan(0.1 / 0.3) + asin(0.23 / 0.316) = 65.1 degrees, 0.7 cos 65.1 = 0.295 m/s.
    assert math.degrees(abs(math.atan2(uy, ux))) == pytest.approx(65.1, abs=0.1)
    assert math.hypot(ux, uy) == pytest.approx(0.295, abs=1e-3)
    # That is beside what it sees: it creeps.
    assert math.hypot(*left_of((0.7, 0.0), *wall, ahead=2.0, side=0.7)) == pytest.approx(CREEP_M_S)
    assert [side_of(hfov_deg) for hfov_deg in (84.0, 60.0, 90.0)] == [0.7, 0.5, 0.75]


def test_it_does_not_dash_backwards():
    # Both are too near, 80 degrees to either side: out of both at 0.1 m/s would be 0.1 / cos 80 = 0.58 m/s backwards.
    sides = [(1.0 + 0.1 * math.cos(a), 1.0 + 0.1 * math.sin(a), 0.1) for a in (1.396, -1.396)]
    assert left_of((0.7, 0.0), *sides) == (0.0, 0.0)


def test_things_without_a_way_between_them_are_one():
    # 0.5 m apart, 0.1 m each, 0.18 m to keep: 0.06 m too little. One of 0.35 m half way.
    assert joined_discs([(1.0, 1.0, 0.1), (1.0, 1.5, 0.1), (3.0, 1.0, 0.1)], 0.18) == (
        pytest.approx((1.0, 1.25, 0.35)), (3.0, 1.0, 0.1),
    )  # fmt: skip
    assert len(joined_discs([(1.0, 1.0, 0.1), (1.0, 1.57, 0.1)], 0.18)) == 2
    # A chain is one as well, unless it is as long as a wall.
    chain = [(1.0 + 0.3 * k, 1.0, 0.1) for k in range(8)]
    assert len(joined_discs(chain[:4], 0.18)) == 1
    assert len(joined_discs(chain, 0.18)) == 8
    assert joined_discs([(math.nan, 1.0, 0.1)], 0.18) == ()


@pytest.mark.parametrize("disc", [(math.nan, 2.0, 0.1), (2.5, math.inf, 0.1), (1.0, 1.0, 0.1), (2.5, 2.0, math.nan)])
def test_a_thing_of_no_place_or_right_above_stops_nothing(disc: tuple[float, float, float]):
    assert left_of((0.5, 0.0), disc) == (0.5, 0.0)


def test_the_same_in_every_direction():
    for side in (1, -1):
        rim = (2.0 + 0.28 * math.cos(1.0), 2.0 + side * 0.28 * math.sin(1.0), 0.1)
        _, command = tick(FAST, 1.0, heard(1.0), wish(1.0, 0.7, obstacles=(rim,)))
        assert command.left_m_s * side < 0 < command.forward_m_s
        turned = (2.0 - side * 0.28 * math.sin(1.0), 2.0 + 0.28 * math.cos(1.0), 0.1)
        _, other = tick(FAST, 1.0, heard(1.0, yaw=math.pi / 2), wish(1.0, 0.7, obstacles=(turned,)))
        assert (other.forward_m_s, other.left_m_s) == pytest.approx((command.forward_m_s, command.left_m_s), abs=1e-9)


discs = st.lists(st.tuples(st.floats(0, 4), st.floats(0, 4), st.floats(0, 0.4)), max_size=5)


def _safe(u: np.ndarray, rest: np.ndarray, things: list, ahead: float, slack: float) -> np.ndarray:
    """Whether straight ways from ``rest`` with velocities (N, 2) are clear for so long: by definition, not by rules."""
    ok = np.ones(len(u), bool)
    for x, y, radius in things:
        to, wide = np.array([x, y]) - rest, radius + 0.13
        away = math.hypot(*to)
        n = to / max(away, 1e-12)
        front = u @ n <= max((away - wide) / ahead, -CREEP_M_S / 2) + slack
        if away > wide:
            across = np.abs(u[:, 0] * n[1] - u[:, 1] * n[0])
            front |= across >= wide / away * np.hypot(*u.T) - slack
            front |= u @ n <= slack
        ok &= front
    return ok


@settings(deadline=None, max_examples=120)
@given(st.floats(-3.2, 3.2), st.floats(0.05, 0.7), discs)
@example(1.5, 0.5, [(1.75, 2.0, 0.25)])  # touching: the foot on the line that leads out is 2 % faster than the wish
def test_it_is_safe_and_nothing_safe_is_nearer(angle: float, speed: float, things: list):
    asked, here = np.array([math.cos(angle), math.sin(angle)]) * speed, (2.0, 2.0)
    found = np.array(cleared(here, here, angle, (asked[0], asked[1]), things, Around(0.13, 1.0, math.pi)))
    rest = np.array(here)
    things = [t for t in things if math.hypot(t[0] - 2, t[1] - 2) > 1e-6]
    assert _safe(found[None], rest, things, 1.0, 1e-6).all() or not found.any()
    assert math.hypot(*found) <= max(speed, CREEP_M_S) + 1e-9
    assert found @ asked >= -CREEP_M_S * speed - 1e-9  # hardly back
    turns, shares = np.meshgrid(np.linspace(-1.55, 1.55, 63), np.linspace(0, 1, 21))
    fan = (
        speed
        * shares.ravel()[:, None]
        * np.column_stack([np.cos(angle + turns.ravel()), np.sin(angle + turns.ravel())])
    )
    safe = fan[_safe(fan, rest, things, 1.0, -1e-6)]
    nearest = np.hypot(*(safe - asked).T).min(initial=math.inf)
    assert math.hypot(*(found - asked)) <= nearest + 1e-6
