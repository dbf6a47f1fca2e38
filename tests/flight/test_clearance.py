"""The velocity nearest to a wish that keeps clear of things: by hand, against a search, and in flight."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from support.governing import heard, tick, wish
from wayword.flight import FlightPlan, State, fly_mission
from wayword.flight.autopilot_config import AutopilotModelConfig
from wayword.flight.autopilot_model import AutopilotModel
from wayword.flight.clearance import CREEP_M_S, Around, cleared, joined_discs, squeezed_discs
from wayword.flight.decider import Wish
from wayword.flight.simulated import SimulatedVehicle
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


def test_only_beside_a_gap_that_is_just_one_is_less_room_left():
    # Two things 0.3 m from each other: in the middle 0.15 - 0.08 - 0.01 = 0.06 m are left, 0.04 m less than 0.1 m.
    gap, alone = ((1.0, 1.0, 0.2), (1.7, 1.0, 0.2)), (3.0, 1.0, 0.2)
    assert squeezed_discs([*gap, alone], 0.08, 0.1, 0.04) == (
        pytest.approx((1.0, 1.0, 0.16)), pytest.approx((1.7, 1.0, 0.16)), alone,
    )  # fmt: skip
    # That is less than 0.07 m: there is no way, and nothing is won by coming nearer.
    assert squeezed_discs(gap, 0.08, 0.1, 0.07) == gap
    # And a gap of 0.4 m is wide enough as it is.
    wide = ((1.0, 1.0, 0.2), (1.8, 1.0, 0.2))
    assert squeezed_discs(wide, 0.08, 0.1, 0.04) == wide
    many = [(0.3 * k, 0.0, 0.1) for k in range(60)]
    assert squeezed_discs(many, 0.08, 0.1, 0.04) == tuple(many)


def test_the_way_out_of_a_group_does_not_lead_into_its_things():
    # Three in a row, one disc of 0.65 m together; above the left one it would be led out to the upper left: into it.
    row = ((0.8, 2.43, 0.17), (1.38, 2.43, 0.22), (1.85, 2.24, 0.16))
    (group,) = joined_discs(row, 0.19)
    here, asked = (0.93, 2.69), (0.0, -0.5)
    alone = cleared(here, here, -math.pi / 2, asked, (group,), Around(0.18, 1.25))
    assert alone[0] < -0.05  # as it was: away from the middle of them all
    ux, uy = cleared(here, here, -math.pi / 2, asked, row, Around(0.18, 1.25), (group,))
    nx, ny = (0.8 - 0.93) / math.hypot(0.13, 0.26), (2.43 - 2.69) / math.hypot(0.13, 0.26)
    assert ux * nx + uy * ny <= (math.hypot(0.13, 0.26) - 0.35) / 1.25 + 1e-9  # out of the room of the left one


def test_between_two_that_are_both_too_near_a_stuck_vehicle_creeps_on():
    # 0.26 m on either side, 0.28 m to keep: no velocity leads away from both. If it is stuck, along between them.
    sides = ((1.0, 1.26, 0.15), (1.0, 0.74, 0.15))
    assert left_of((0.7, 0.0), *sides) == (0.0, 0.0)
    stuck = cleared((1.0, 1.0), (1.0, 1.0), 0.0, (0.7, 0.0), sides, Around(0.13, 1.25), joined_discs(sides, 0.13))
    assert stuck == pytest.approx((CREEP_M_S, 0.0))


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


class Wanderer:
    """Goes for one place after the other, straight, whatever stands in between."""

    def __init__(self, rng: np.random.Generator, things: tuple[tuple[float, float, float], ...]) -> None:
        self.rng, self.things, self.decisions = rng, things, 0
        self.goal = rng.uniform(0.3, 4.4, 2)

    def begin_anew(self) -> None:
        """Nothing is remembered."""

    def decide(self, pixels: np.ndarray, pose: tuple[float, ...]) -> Wish:
        self.decisions += 1
        dx, dy = self.goal - pose[:2]
        if math.hypot(dx, dy) < 0.3 or self.decisions % 24 == 0:
            self.goal = self.rng.uniform(0.3, 4.4, 2)
        error = math.remainder(math.atan2(dy, dx) - pose[5], 2 * math.pi)
        return Wish(
            0.7 * math.exp(-1.5 * abs(error)), max(-1.0, min(1.0, 1.8 * error)), self.decisions > 70, self.things
        )


def _crowd(rng: np.random.Generator) -> list[tuple[float, float, float]]:
    """Eight things, half of them close to another one: gaps from a crack to a door."""
    things: list[tuple[float, float, float]] = []
    while len(things) < 8:
        x, y = rng.uniform(0.3, 4.4, 2)
        if things and rng.random() < 0.5:
            beside, angle = things[int(rng.integers(len(things)))], rng.uniform(-math.pi, math.pi)
            apart = rng.uniform(0.45, 0.8)
            x, y = beside[0] + apart * math.cos(angle), beside[1] + apart * math.sin(angle)
        radius = rng.uniform(0.13, 0.22)
        room = all(math.hypot(x - a, y - b) > radius + r + 0.02 for a, b, r in things)
        if room and 0 < x < 4.7 and 0 < y < 4.7 and math.hypot(x - 0.6, y - 0.6) > 0.6:
            things.append((float(x), float(y), float(radius)))
    return things


@pytest.mark.parametrize(
    ("seed", "response", "latency"),
    [(8, 0.7, 0.05), (18, 0.3, 0.2), (24, 0.7, 0.05), (27, 0.5, 0.1), (29, 1.0, 0.2)],
)
def test_what_is_on_the_map_is_not_touched_by_whoever_wanders_among_it(seed: int, response: float, latency: float):
    rng = np.random.default_rng((1, seed))
    things = _crowd(rng)
    model = AutopilotModelConfig(time_constant_s=response, latency_s=latency)
    body = AutopilotModel(model, 0.6, 0.6, seed=seed, columns=np.array(things))
    plan = FlightPlan(lockstep=True, catch_signals=False)
    fly_mission(SimulatedVehicle(body), Wanderer(rng, tuple(things)), plan)
    assert body.contacts == 0
