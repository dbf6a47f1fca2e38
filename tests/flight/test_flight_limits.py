"""What the governor leaves of a wish: speeds, turns, fading, the fence in every direction, things in the way."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from support.governing import FENCE, heard, tick, wish
from wayword.errors import WaywordError
from wayword.flight import Fence, GovernorConfig, Kind, Reason, State
from wayword.flight.limits import held_back

FAST = State(0.0, speed_m_s=0.7)


@pytest.mark.parametrize(
    ("before", "asked", "sent"),
    [
        (0.0, 0.7, 0.05),  # 1 m/s^2 for 0.05 s
        (0.3, 0.7, 0.35),
        (0.68, 0.7, 0.7),
        (0.7, 0.0, 0.6),  # 2 m/s^2 for 0.05 s
        (0.05, 0.0, 0.0),
        (0.3, 0.3, 0.3),
    ],
)
def test_speed_changes_in_steps(before: float, asked: float, sent: float):
    _, command = tick(State(0.0, speed_m_s=before), 1.0, asked=wish(1.0, asked))
    assert command.forward_m_s == pytest.approx(sent)
    assert (Reason.ACCELERATION in command.reasons) == (abs(asked - sent) > 1e-6)


@pytest.mark.parametrize(
    ("before", "asked", "sent"),
    [(0.0, 1.0, 0.3), (0.0, -1.0, -0.3), (1.0, -1.0, 0.7), (0.9, 1.0, 1.0), (0.2, 0.4, 0.4)],
)
def test_turns_change_in_steps(before: float, asked: float, sent: float):
    """6 rad/s^2 for 0.05 s are 0.3 rad/s."""
    _, command = tick(State(0.0, yaw_rate_rad_s=before), 1.0, asked=wish(1.0, 0.0, asked))
    assert command.yaw_rate_rad_s == pytest.approx(sent)


@pytest.mark.parametrize(("age", "share"), [(0.0, 1.0), (0.75, 1.0), (0.8, 0.8), (0.9, 0.4), (0.95, 0.2), (1.0, 0.0)])
def test_an_old_decision_fades_in_a_straight_line(age: float, share: float):
    """From one and a half intervals of 0.5 s to two; the speed of the last tick is where it would be."""
    asked = wish(2.0 - age, 0.5, 0.4)
    _, command = tick(State(0.0, speed_m_s=0.5 * share, yaw_rate_rad_s=0.4 * share), 2.0, asked=asked)
    assert (command.forward_m_s, command.yaw_rate_rad_s) == pytest.approx((0.5 * share, 0.4 * share))
    assert (Reason.FADING in command.reasons) == (share < 1)


SIDES = {  # a metre and a half from an edge, looking at it
    "+x": (4.2, 2.0, 0.0),
    "-x": (0.5, 2.0, math.pi),
    "+y": (2.0, 4.2, math.pi / 2),
    "-y": (2.0, 0.5, -math.pi / 2),
}


@pytest.mark.parametrize("side", SIDES)
def test_the_fence_is_the_same_on_every_side(side: str):
    # 1.5 m to the edge less 0.3 m of margin, over t_far = 1.25 + 1.1 s: 0.5106 m/s.
    x, y, yaw = SIDES[side]
    _, command = tick(FAST, 1.0, heard(1.0, x=x, y=y, yaw=yaw), wish(1.0, 0.7))
    assert command.forward_m_s == pytest.approx(1.2 / 2.35, abs=0.003)
    assert command.reasons == (Reason.FENCE,)
    # Along the edge there is room.
    _, command = tick(FAST, 1.0, heard(1.0, x=x, y=y, yaw=yaw + math.pi / 2), wish(1.0, 0.5))
    assert Reason.FENCE not in command.reasons


def test_a_vehicle_that_is_carried_towards_the_fence_is_braked_before_it_must_hold():
    # 0.5 m/s sideways towards the edge at y = 5.7: t_near 1.25 s, t_far 2.35 s. At y = 4.4, 1.0 m before the margin, it
    # would stop after 0.625 m but a lost link would carry it 1.175 m: no speed is left of the wish, though it may turn.
    drift = {"velocity": (0.0, 0.5, 0.0)}
    _, command = tick(FAST, 1.0, heard(1.0, y=4.4, **drift), wish(1.0, 0.5, 0.2))
    assert (command.kind, command.forward_m_s) == (Kind.VELOCITY, 0.0)
    assert Reason.FENCE in command.reasons
    # At y = 4.9 half a metre is left, less than it needs to stop: hold.
    _, command = tick(FAST, 1.0, heard(1.0, y=4.9, **drift), wish(1.0, 0.5, 0.2))
    assert command.kind is Kind.HOLD
    # In the middle a drift is no matter.
    assert tick(FAST, 1.0, heard(1.0, y=2.0, **drift), wish(1.0, 0.7))[1].reasons == ()


def test_a_longer_silence_keeps_further_away():
    for silence, speed in ((0.0, 0.7), (1.1, 1.2 / 2.35), (3.9, 1.2 / 5.15)):
        config = GovernorConfig(silence_s=silence)
        _, command = tick(FAST, 1.0, heard(1.0, x=4.2), wish(1.0, 0.7), config)
        assert command.forward_m_s == pytest.approx(speed, abs=0.003)


ELL = Fence(((0, 0), (6, 0), (6, 2), (2, 2), (2, 6), (0, 6)), 0.3, 1.5)


@settings(deadline=None, max_examples=150)
@given(st.floats(0, 6), st.floats(0, 6), st.floats(-7, 7), st.floats(-7, 7), st.floats(0, 0.5))
def test_every_point_of_the_way_that_is_left_is_inside_a_hollow_fence(x, y, dx, dy, margin):
    assume(ELL.distance(x, y) >= margin)
    share = ELL.reach(x, y, dx, dy, margin)
    assert 0 <= share <= 1
    for i in range(21):
        part = share * i / 20
        assert ELL.distance(x + part * dx, y + part * dy) >= margin - 0.01


@settings(deadline=None, max_examples=100)
@given(st.floats(-2, 8), st.floats(-2, 8))
def test_distances_to_the_fence_change_no_faster_than_the_place(x: float, y: float):
    here = ELL.distance(x, y)
    for angle in range(8):
        there = ELL.distance(x + 0.1 * math.cos(angle), y + 0.1 * math.sin(angle))
        assert abs(there - here) <= 0.1 + 1e-9


def test_inwards_is_straight_away_from_an_edge_that_runs_askew():
    # A square on its corner; its south-eastern edge is x - y = 2. From (2.8, 1) it is 0.2 / sqrt(2) m away.
    diamond, half = Fence(((2, 0), (4, 2), (2, 4), (0, 2))), math.sqrt(0.5)
    assert diamond.distance(2.8, 1.0) == pytest.approx(0.2 * half)
    assert diamond.inwards(2.8, 1.0) == pytest.approx((-half, half))
    assert diamond.inwards(3.2, 1.0) == pytest.approx((-half, half))  # from outside
    assert diamond.inwards(1.0, 2.8) == pytest.approx((half, -half))


def test_time_is_given_back_for_the_part_of_a_wish_that_was_lost():
    # Of 0.4 m/s 0.3 are left: a quarter of a tick of 0.05 s. For 0.1 m/s, three quarters; for all of it, nothing.
    config = GovernorConfig()
    for left, seconds in ((0.3, 0.0125), (0.1, 0.0375), (0.4, 0.0)):
        after = held_back(config, State(0.0, held_s=2.0), wish(1.0, 0.4), left, (Reason.CLEARANCE,))
        assert after.held_s == pytest.approx(2.0 + seconds)
    assert held_back(config, State(0.0), wish(1.0, 0.4), 0.1, (Reason.ACCELERATION,)).held_s == 0


def test_a_fence_does_not_care_where_its_corners_begin_or_which_way_they_run():
    corners = ELL.corners
    for other in (Fence(corners[2:] + corners[:2]), Fence(corners[::-1])):
        for x, y in ((1, 1), (3, 3), (5, 1), (1.9, 5.9), (-1, 2)):
            assert other.distance(x, y) == pytest.approx(ELL.distance(x, y))


@pytest.mark.parametrize("band", [(-0.1, 1.0), (1.0, 1.0), (1.5, 0.3), (0.3, math.inf), (math.nan, 1.0)])
def test_bands_of_heights_that_are_none(band: tuple[float, float]):
    with pytest.raises(WaywordError, match="low < high"):
        Fence(FENCE.corners, *band)


@pytest.mark.parametrize(
    "text",
    ['{"corners": [[0, 0], [4, 0]]}', '{"corners": [[0, 0], [4, "x"], [4, 4]]}', "[]", "{", '{"corners": [[0, 0, 0]]}',
     '{"corners": [[0, 0], [4, 4], [4, 0], [0, 4]]}', '{"corners": [[0, 0], [4, 0], [4, 4]], "low_m": 2}'],
)  # fmt: skip
def test_fence_files_that_are_none_name_themselves(tmp_path, text: str):
    file = tmp_path / "fence.json"
    file.write_text(text)
    with pytest.raises(WaywordError, match=r"fence\.json"):
        Fence.load(file)


def test_a_fence_survives_its_file(tmp_path):
    file = tmp_path / "fence.json"
    file.write_text(json.dumps({"corners": ELL.corners, "low_m": 0.5, "high_m": 1.1}))
    assert Fence.load(file) == Fence(tuple((float(x), float(y)) for x, y in ELL.corners), 0.5, 1.1)
