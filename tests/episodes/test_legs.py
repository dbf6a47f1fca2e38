"""Sketches of single manoeuvres: tangents, arcs and rounded corners, checked against school geometry."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayword.episodes.geometry import wrap
from wayword.episodes.leg_pieces import SKETCH_STEP_M, Arc, Line
from wayword.episodes.legs import Leg, LegConfig, approach, past, past_and_on, propose_leg
from wayword.episodes.manoeuvres import ManoeuvreKind

CONFIG = LegConfig()
KINDS: tuple[ManoeuvreKind, ...] = ("approach", "pass", "around", "between", "beside")
CENTRES = [(1.0, 1.0), (2.4, 1.1), (1.3, 2.5), (3.6, 3.2), (3.4, 1.2)]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def nearest(leg: Leg, centre: tuple[float, float]) -> float:
    points = leg.points(rng(), 0.0)
    return float(np.hypot(*(points - centre).T).min())


def test_the_end_of_an_arc_by_hand() -> None:
    # Around (0, 0), flying north at the east of it: a quarter of a circle counter-clockwise ends in the north.
    arc = Arc((0.0, 0.0), 2.0, math.pi / 2, 1, math.pi / 2)
    assert arc.end == pytest.approx((0.0, 2.0))
    assert arc.length == pytest.approx(math.pi)
    # Flying north at the west of it, a quarter clockwise ends in the north as well.
    assert Arc((0.0, 0.0), 2.0, math.pi / 2, -1, math.pi / 2).end == pytest.approx((0.0, 2.0))


def test_points_lie_on_the_pieces_about_two_centimetres_apart() -> None:
    line, arc = Line((0.0, 0.0), (1.0, 0.0)), Arc((1.0, 0.5), 0.5, 0.0, 1, math.pi)
    leg = Leg("around", (0,), (line, arc))
    points = leg.points(rng(), 0.0)
    assert leg.length == pytest.approx(1 + math.pi / 2)
    assert leg.end == pytest.approx((1.0, 1.0))
    np.testing.assert_allclose(points[0], (0.0, 0.0))
    np.testing.assert_allclose(points[-1], leg.end, atol=1e-12)
    steps = np.hypot(*np.diff(points, axis=0).T)
    assert steps.max() <= SKETCH_STEP_M + 1e-9
    on_arc = points[len(points) - math.ceil(arc.length / SKETCH_STEP_M) :]
    np.testing.assert_allclose(np.hypot(*(on_arc - arc.centre).T), 0.5)


def test_a_bow_is_greatest_in_the_middle_and_leaves_the_ends_alone() -> None:
    class Two:
        def standard_normal(self) -> float:
            return 2.0

    points = Leg("pass", (0,), (Line((0.0, 0.0), (2.0, 0.0)),)).points(Two(), 0.01)  # type: ignore[arg-type]
    # Two sigmas of 1 % of 2 m: 4 cm to the left, halfway.
    assert points[:, 1].argmax() == len(points) // 2
    assert points[:, 1].max() == pytest.approx(0.04)
    np.testing.assert_allclose(points[[0, -1], 1], 0.0, atol=1e-12)


def test_an_approach_stops_in_front_and_comes_from_far_enough() -> None:
    for seed in range(20):
        leg = approach(0, (0.0, 0.0), [(2.0, 0.0)], rng(seed), CONFIG)
        assert leg is not None
        low, high = CONFIG.stop_m
        assert low <= math.dist(leg.end, (2.0, 0.0)) <= high
        assert leg.end[0] < 2.0
    assert approach(0, (1.2, 0.0), [(2.0, 0.0)], rng(), CONFIG) is None  # half a metre of way at least


@pytest.mark.parametrize("sign", [1, -1])
def test_past_is_a_tangent_with_the_thing_on_its_side(sign: int) -> None:
    centre = (2.0, 0.0)
    leg = past("pass", 0, sign, (0.0, 0.0), [centre], 0.4, rng(3), CONFIG)
    assert leg is not None
    (line,) = leg.pieces
    assert isinstance(line, Line)
    radius = float(rng(3).uniform(*CONFIG.abeam_m))
    # The line touches the circle: its length up to there is the other leg of a right-angled triangle.
    assert leg.length == pytest.approx(math.sqrt(4 - radius**2) + 0.4)
    direction = np.subtract(line.end, line.start) / leg.length
    assert sign * (direction[0] * centre[1] - direction[1] * centre[0]) == pytest.approx(radius)
    assert nearest(leg, centre) == pytest.approx(radius, abs=1e-3)


def test_past_needs_the_thing_ahead_and_the_drone_outside_its_circle() -> None:
    assert past("pass", 0, 1, (0.0, 0.0), [(0.3, 0.0)], 0.4, rng(), CONFIG) is None
    # Abeam already: the way to the touching point is below 25 cm.
    narrow = LegConfig(abeam_m=(0.5, 0.5))
    assert past("pass", 0, 1, (0.0, 0.0), [(0.54, 0.0)], 0.4, rng(), narrow) is None


@pytest.mark.parametrize("sign", [1, -1])
def test_past_and_on_joins_its_pieces_at_tangents(sign: int) -> None:
    centres = [(1.5, 0.0), (2.6, sign * 1.2)]
    leg = past_and_on("around", 0, 1, sign, 0.45, (0.0, 0.0), centres, rng(), CONFIG)
    assert leg is not None
    first, arc, last = leg.pieces
    assert isinstance(first, Line)
    assert isinstance(arc, Arc)
    assert isinstance(last, Line)
    begins = (
        arc.centre[0] + arc.radius * math.cos(arc.heading - sign * math.pi / 2),
        arc.centre[1] + arc.radius * math.sin(arc.heading - sign * math.pi / 2),
    )
    assert first.end == pytest.approx(begins)
    assert last.start == pytest.approx(arc.end)
    into = math.atan2(first.end[1] - first.start[1], first.end[0] - first.start[0])
    out = math.atan2(last.end[1] - last.start[1], last.end[0] - last.start[0])
    assert wrap(into - arc.heading) == pytest.approx(0.0, abs=1e-9)
    assert wrap(out - arc.heading - sign * arc.angle) == pytest.approx(0.0, abs=1e-9)
    low, high = CONFIG.stop_m
    # It stops before the goal, on a line that would lead past its centre at no distance.
    assert low - 1e-9 <= math.dist(leg.end, centres[1]) <= high + 1e-9


def test_past_and_on_is_refused_where_it_would_circle_or_has_no_way_left() -> None:
    # The goal lies behind the drone's back: more than the largest arc.
    assert past_and_on("around", 0, 1, 1, 0.45, (0.0, 0.0), [(1.5, 0.0), (0.0, -0.2)], rng(), CONFIG) is None
    # The goal is so near to the thing that nothing is left to fly.
    assert past_and_on("around", 0, 1, 1, 0.45, (0.0, 0.0), [(1.5, 0.0), (2.0, 0.3)], rng(), CONFIG) is None


def test_what_is_out_of_reach_is_not_aimed_at() -> None:
    assert propose_leg("approach", (0.0, 0.0), [(4.0, 4.0)], rng(), CONFIG) is None
    assert propose_leg("approach", (0.0, 0.0), [], rng(), CONFIG) is None


def test_an_approach_that_would_stop_at_another_object_is_none() -> None:
    # Something stands right before the target, 20 cm from where the drone would stop.
    centres = [(2.0, 0.0), (1.5, 0.0)]
    legs = [propose_leg("approach", (0.0, 0.0), centres, rng(seed), CONFIG) for seed in range(30)]
    assert all(leg is None or leg.objects == (1,) for leg in legs)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(KINDS), st.integers(0, 10_000), st.floats(0.3, 4.4), st.floats(0.3, 4.4))
def test_every_leg_begins_where_the_drone_is_and_does_not_jump(
    kind: ManoeuvreKind, seed: int, x: float, y: float
) -> None:
    leg = propose_leg(kind, (x, y), CENTRES, rng(seed), CONFIG)
    if leg is None:
        return
    points = leg.points(rng(seed), 0.0)
    np.testing.assert_allclose(points[0], (x, y), atol=1e-9)
    np.testing.assert_allclose(points[-1], leg.end, atol=1e-9)
    assert np.hypot(*np.diff(points, axis=0).T).max() <= SKETCH_STEP_M + 1e-9
    assert leg.kind == kind
    assert len(leg.objects) == (2 if kind == "between" else 1)
    if kind == "between":
        gap = math.dist(*(CENTRES[i] for i in leg.objects))
        assert CONFIG.gate_m[0] <= gap <= CONFIG.gate_m[1]
    # Bends inside a leg are smooth: no step turns more than on the tightest arc it may fly.
    headings = np.arctan2(*np.diff(points, axis=0).T[::-1])
    moving = np.hypot(*np.diff(points, axis=0).T) > 1e-6
    turns = np.abs((np.diff(headings[moving]) + math.pi) % (2 * math.pi) - math.pi)
    assert not len(turns) or turns.max() < SKETCH_STEP_M / min(CONFIG.round_m) * 1.2 + 1e-6


def test_the_same_seed_draws_the_same_leg() -> None:
    for kind in KINDS:
        assert propose_leg(kind, (0.4, 0.5), CENTRES, rng(7), CONFIG) == propose_leg(
            kind, (0.4, 0.5), CENTRES, rng(7), CONFIG
        )
