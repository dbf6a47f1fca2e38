"""Points and motions of steps against the same rules said plainly: all prices written out, all places tried."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from wayword.policy.steps import vias
from wayword.policy.steps.follow import (
    FollowConfig,
    along,
    follow,
    free_ahead,
    length_of,
    present_speed,
    same_way_round,
    speed_to_rest,
    turn_rate,
)
from wayword.policy.steps.keep_clear import ClearConfig, keep_clear
from wayword.policy.steps.reached import FlyerConfig, is_reached
from wayword.policy.steps.vias import ViaPoint

Point = tuple[float, float]
SEEDS = st.integers(0, 10**9)


def wrapped(angle: float) -> float:
    return math.atan2(math.sin(angle), math.cos(angle))


def room(point: Point, discs: np.ndarray) -> float:
    return min((math.dist(point, (x, y)) - r for x, y, r in discs.tolist()), default=1e9)


def at(centre: Point, angle: float, metres: float) -> Point:
    return centre[0] + metres * math.cos(angle), centre[1] + metres * math.sin(angle)


def between(point: Point, edge: float) -> bool:
    """Whether a point is this far inside the arena of 4.7 m."""
    return min(point) >= edge and max(point) <= 4.7 - edge


def cheapest(options: list, price: Callable) -> object:
    """The first of the cheapest."""
    prices = [price(option) for option in options]
    return options[next(k for k, p in enumerate(prices) if p <= min(prices) + 1e-9)]


def scene(seed: int, count: int = 5) -> tuple[np.random.Generator, Point, np.ndarray]:
    """A thing somewhere, often near an edge, and others around it; its own disc is the first."""
    rng = np.random.default_rng(seed)
    centre = tuple(rng.uniform(0.3, 4.4, 2).tolist())
    others = [(*at(centre, rng.uniform(-4, 4), rng.uniform(0.4, 1.6)), rng.uniform(0.1, 0.4)) for _ in range(count)]
    return rng, centre, np.array([(*centre, 0.3), *others])


def the_others(discs: np.ndarray, *centres: Point) -> np.ndarray:
    keep = [all(math.dist((x, y), c) > 0.15 for c in centres) for x, y, _ in discs.tolist()]
    return discs[keep]


# Points ----------------------------------------------------------------------------------------------------


def test_the_numbers_that_are_documented() -> None:
    assert (vias.AT_M, vias.PASS_M, vias.LEAST_M, vias.INSIDE_M, vias.LEFT_M) == (0.5, 0.58, 0.38, 0.2, 1.35)
    assert (vias.LEAST_WINDING, vias.UNWINDING, vias.FAR_ROUND, vias.ARC) == (1.3, -0.5, 2.5, 0.35)
    assert vias.LEAVING == (0.3, 0.6, 0.0, 0.9, 1.2, 1.6)
    assert FollowConfig() == FollowConfig(0.4, 1.8, 3.0, 0.95, 0.65, 0.07)
    assert ClearConfig() == ClearConfig(1.2, 12, 0.5, 0.05, 1.0, 0.35, 6.0, 200.0)
    assert FlyerConfig() == FlyerConfig(0.2, 0.1, 0.25, 0.06, FollowConfig())


@settings(max_examples=120, derandomize=True)
@given(SEEDS)
def test_beside_is_the_cheapest_of_all_places_ten_degrees_apart(seed: int) -> None:
    rng, centre, discs = scene(seed)
    angle, radius = float(rng.uniform(-4, 4)), float(rng.uniform(0.38, 1.0))
    reach = math.radians(float(rng.choice([0, 40, 180])))
    others = the_others(discs, centre)

    def price(turned: float) -> float:
        point = at(centre, angle + turned, radius)
        return (
            0.25 * abs(turned)
            + 8 * max(0.0, radius - 0.28 - room(point, others))
            + (0 if between(point, 0.2) else 5)
        )  # fmt: skip

    turns = [math.radians(d) for d in range(-180, 181, 10) if abs(math.radians(d)) <= reach + 1e-9]
    best = cheapest(turns, price)
    assert isinstance(best, float)
    via = vias.beside("globe", centre, angle, radius, discs, reach)
    assert via.keys == ("globe",)
    assert via.offset == pytest.approx(at((0, 0), angle + best, radius))


def plain_ring(centre: Point, angle: float, discs: np.ndarray) -> float:
    others = the_others(discs, centre)

    def price(radius: float) -> float:
        point = at(centre, angle, radius)
        space = min(room(point, others), radius - 0.3)
        return abs(radius - 0.58) + 6 * max(0.0, 0.22 - space) + (0 if between(point, 0.12) else 2)

    best = cheapest([0.42 + 0.04 * k for k in range(7)], price)
    assert isinstance(best, float)
    return best


def plain_arc(centre: Point, first: float, winding: float, discs: np.ndarray) -> list[Point]:
    count = max(1, math.ceil(abs(winding) / 0.35))
    angles = [first + winding * k / count for k in range(count + 1)]
    rings = [plain_ring(centre, a, discs) for a in angles]
    smooth = [np.mean([rings[j] for j in (k - 1, k, k + 1) if 0 <= j <= count]) for k in range(count + 1)]
    return [at((0, 0), a, r) for a, r in zip(angles, smooth, strict=True)]


def plain_past(centre: Point, before: Point, winding: float, discs: np.ndarray) -> list[Point]:
    first, sign = math.atan2(before[1] - centre[1], before[0] - centre[0]), 1 if winding > 0 else -1
    spare = min(0.7, abs(winding) / 4) if math.dist(before, centre) > 0.9 else 0.0
    left = max(abs(winding) - 2 * spare, min(abs(winding), 1.3))
    return plain_arc(centre, first + sign * spare, sign * left, discs)


def plain_length(offsets: list[Point], centre: Point, before: Point, after: Point | None) -> float:
    points = [before, *((centre[0] + x, centre[1] + y) for x, y in offsets)] + ([after] if after else [])
    return sum(math.dist(points[k], points[k + 1]) for k in range(len(points) - 1))


def offsets(points: list[ViaPoint]) -> np.ndarray:
    assert all(point.keys == ("globe",) for point in points)
    return np.array([point.offset for point in points]).reshape(-1, 2)


@settings(max_examples=60, derandomize=True)
@given(SEEDS)
def test_an_arc_keeps_the_radius_with_most_room_evened_out(seed: int) -> None:
    rng, centre, discs = scene(seed)
    first, winding = float(rng.uniform(-4, 4)), float(rng.uniform(-7, 7))
    assert vias.ring_radius(centre, first, discs) == pytest.approx(plain_ring(centre, first, discs))
    found = offsets(vias.arc_around("globe", centre, first, winding, discs))
    np.testing.assert_allclose(found, plain_arc(centre, first, winding, discs), atol=1e-9)


@settings(max_examples=80, derandomize=True)
@given(SEEDS, st.sampled_from([1.0, -1.0]))
def test_a_way_past_is_the_shortest_of_those_that_wind_enough(seed: int, side: float) -> None:
    rng, centre, discs = scene(seed, count=2)
    before = at(centre, rng.uniform(-4, 4), rng.uniform(0.4, 2))
    after = None if rng.random() < 0.2 else at(centre, rng.uniform(-4, 4), rng.choice([0.1, 0.6, 2.0]))
    first = math.atan2(before[1] - centre[1], before[0] - centre[0])
    if after is None or math.dist(after, centre) < 0.2:
        last = first + math.pi
    else:
        last = math.atan2(after[1] - centre[1], after[0] - centre[0])
    turns = (side * (last - first)) % (2 * math.pi)
    assume(abs(turns) > 1e-6)
    ways = [plain_past(centre, before, side * turns, discs)] if turns >= 1.3 else []
    if turns < 1.3 or turns > 4.2:
        out = at(centre, first + side * 1.5, 1.35)
        if between(out, 0.12) and room(out, discs) > 0.05:
            ways.append([*plain_past(centre, before, side * 1.3, discs), at((0, 0), first + side * 1.5, 1.35)])
    ways = ways or [plain_past(centre, before, side * (turns + 2 * math.pi), discs)]
    best = min(ways, key=lambda way: plain_length(way, centre, before, after))
    found = vias.ways_past("globe", centre, before, after, side, discs)
    np.testing.assert_allclose(offsets(found), best, atol=1e-9)
    assert vias.way_length(found, centre, before, after) == pytest.approx(plain_length(best, centre, before, after))


@settings(max_examples=120, derandomize=True)
@given(SEEDS, st.sampled_from([1.0, -1.0]))
def test_leaving_takes_the_first_free_place_outside_or_goes_on_around(seed: int, side: float) -> None:
    rng, centre, discs = scene(seed, count=int(seed % 4))
    here, target = at(centre, rng.uniform(-4, 4), rng.uniform(0.4, 1.4)), at(centre, rng.uniform(-4, 4), 1.5)
    first = math.atan2(here[1] - centre[1], here[0] - centre[0])
    last = math.atan2(target[1] - centre[1], target[0] - centre[0])
    found = offsets(vias.leaving("globe", centre, here, target, side, discs))
    if math.dist(here, centre) > 1.25 or -0.5 <= side * wrapped(last - first) <= 2.5:
        assert not len(found)
        return
    for further in (0.3, 0.6, 0.0, 0.9, 1.2, 1.6):
        out = at(centre, first + side * further, 1.35)
        if between(out, 0.12) and room(out, discs) > 0.05:
            np.testing.assert_allclose(found, [at((0, 0), first + side * further, 1.35)], atol=1e-9)
            return
    turns = side * ((side * (last - first)) % (2 * math.pi))
    np.testing.assert_allclose(found, plain_arc(centre, first, turns, discs), atol=1e-9)


@settings(max_examples=120, derandomize=True)
@given(SEEDS)
def test_a_gap_is_entered_where_there_is_most_room_and_left_on_the_other_side(seed: int) -> None:
    rng, a, discs = scene(seed)
    b = at(a, rng.uniform(-4, 4), rng.uniform(0.9, 2.5))
    discs = np.concatenate([discs, [[*b, 0.3]]])
    others = the_others(discs, a, b)

    def on_line(share: float) -> Point:
        return a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])

    shares = [0.3 + 0.05 * k for k in range(9)]
    best = cheapest(shares, lambda s: abs(s - 0.5) + 4 * max(0.0, 0.25 - room(on_line(s), others)))
    assert isinstance(best, float)
    middle = vias.middle_of_gap(a, b, discs)
    assert middle == pytest.approx(on_line(best))
    before = at(middle, rng.uniform(-4, 4), 1.2)
    across = math.atan2(b[1] - a[1], b[0] - a[0]) + math.pi / 2
    if math.cos(math.atan2(middle[1] - before[1], middle[0] - before[0]) - across) < 0:
        across += math.pi

    def aside(direction: float) -> Point:
        options = [at(middle, direction + t, r) for t in (0.0, 0.4, -0.4, 0.8, -0.8) for r in (0.65, 0.5, 0.4)]
        prices = [
            4 * max(0.0, 0.22 - room(p, others)) + (0 if between(p, 0.12) else 1) + 0.01 * k
            for k, p in enumerate(options)
        ]
        return options[prices.index(min(prices))]

    wanted = np.array([aside(across + math.pi), middle, aside(across)])
    found = vias.through(("globe", "duck"), a, b, before, discs)
    assert all(via.keys == ("globe", "duck") for via in found)
    centre = (np.array(a) + b) / 2
    np.testing.assert_allclose([via.offset for via in found], wanted - centre, atol=1e-9)


@settings(max_examples=100)
@given(st.lists(st.floats(-0.8, 0.8), min_size=1, max_size=6), st.floats(-4, 4))
def test_the_side_of_a_pass_is_the_sum_of_its_turns(turns: list[float], first: float) -> None:
    angles = np.cumsum([first, *turns])
    total = float(angles[-1] - angles[0])
    assume(abs(abs(total) - 0.1) > 1e-6)
    points = [ViaPoint(("duck",), (9.0, 9.0)), *(ViaPoint(("globe",), at((0, 0), a, 0.5)) for a in angles)]
    assert vias.side_of_pass(points) == (0.0 if abs(total) <= 0.1 else math.copysign(1.0, total))


# Motions ---------------------------------------------------------------------------------------------------


@settings(max_examples=200)
@given(SEEDS, st.booleans())
def test_following_a_way_line_by_line(seed: int, brakes: bool) -> None:
    rng = np.random.default_rng(seed)
    pose = np.array([*rng.uniform(0, 3, 2), rng.uniform(-7, 7)])
    way = np.concatenate([pose[None, :2], pose[:2] + rng.normal(0, rng.choice([0.1, 1.0]), (3, 2)).cumsum(axis=0)])
    discs = np.column_stack([pose[:2] + rng.normal(0, 1, (3, 2)), rng.uniform(0.05, 0.4, 3)])
    speed, turning = float(rng.uniform(0, 0.7)), float(rng.choice([-1.0, 0.0, 1.0]))
    left = sum(math.dist(way[k], way[k + 1]) for k in range(3))
    assert length_of(way) == pytest.approx(left)
    ahead, k = 0.4, 0
    while k < 2 and ahead > math.dist(way[k], way[k + 1]):
        ahead -= math.dist(way[k], way[k + 1])
        k += 1
    share = min(ahead / math.dist(way[k], way[k + 1]), 1.0)
    carrot = way[k] + share * (way[k + 1] - way[k])
    assert along(way, 0.4) == pytest.approx(tuple(carrot))
    error = wrapped(math.atan2(carrot[1] - pose[1], carrot[0] - pose[0]) - pose[2])
    if abs(error) > math.pi - 1.0 and error * turning < 0:
        error -= math.copysign(2 * math.pi, error)
    wanted = max(min(0.7, max(0.0, (left - 0.65 * speed) / 0.5)), 0.07) if brakes else 0.7
    wanted *= math.exp(-3 * abs(error))
    free = [
        float(d - math.sqrt(r**2 - side**2))
        for x, y, r in discs
        for d, side in [(
            (x - pose[0]) * math.cos(pose[2]) + (y - pose[1]) * math.sin(pose[2]),
            (y - pose[1]) * math.cos(pose[2]) - (x - pose[0]) * math.sin(pose[2]),
        )]
        if abs(side) < r and d > 0
    ]  # fmt: skip
    assert free_ahead(pose, discs) == pytest.approx(max(0.0, min(free)) if free else math.inf)
    wanted = min(wanted, max(0.0, min(free)) / 0.95) if free else wanted
    found = follow(pose, way, brakes, FollowConfig(), discs, speed, turning)
    assert found == pytest.approx((wanted, max(-1.0, min(1.0, 1.8 * error))))


@given(st.floats(0, 0.7), st.floats(0, 0.7), st.floats(0.2, 1.0))
def test_how_fast_a_vehicle_is_can_be_told_from_how_far_it_came(begun: float, asked: float, lag: float) -> None:
    k = math.exp(-0.5 / lag)
    gone, speed = asked * 0.5 + (begun - asked) * lag * (1 - k), asked + (begun - asked) * k
    assert present_speed(gone, asked, lag) == pytest.approx(speed, abs=1e-9)
    assert speed_to_rest(asked * 0.5 + begun * lag, begun, lag) == pytest.approx(asked, abs=1e-9)


def test_how_fast_it_is_is_worked_out_with_the_lag_that_ways_are_followed_with() -> None:
    assert present_speed(0.3, 0.4) == present_speed(0.3, 0.4, 0.65)


@pytest.mark.parametrize(("error", "turned"), [(2.13, 2.13), (2.15, 2.15 - 2 * math.pi)])
def test_what_is_within_a_radian_of_right_behind_is_turned_to_either_way(error: float, turned: float) -> None:
    assert same_way_round(error, -0.1) == pytest.approx(turned)
    assert same_way_round(-error, 0.1) == pytest.approx(-turned)
    rates = [turn_rate(0.5), turn_rate(0.5, 1.0), turn_rate(-0.6), turn_rate(-0.4)]
    assert rates == pytest.approx([0.9, 0.5, -1.0, -0.72])


@settings(max_examples=100, derandomize=True)
@given(SEEDS)
def test_keeping_clear_is_the_cheapest_of_the_wish_and_136_motions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pose = np.array([*rng.uniform(1, 3, 2), rng.uniform(-4, 4)])
    discs = np.array([(*at(tuple(pose[:2]), rng.uniform(-4, 4), rng.uniform(0.1, 2.0)), 0.3) for _ in range(3)])
    speed, wish = float(rng.uniform(0, 0.7)), (float(rng.uniform(0, 0.7)), float(rng.uniform(-1, 1)))
    near = [disc for disc in discs.tolist() if math.dist(disc[:2], pose[:2]) < 1.6]
    motions = [wish, *((v, w) for v in np.linspace(0, 0.7, 8) for w in np.linspace(-1, 1, 17))]

    def price(motion: Point) -> float:
        v, (x, y, yaw), gap = speed, pose.tolist(), math.inf
        for _ in range(12):
            v = motion[0] + (v - motion[0]) * math.exp(-0.1 / 0.5)
            yaw += 0.1 * motion[1]
            x, y = x + 0.1 * v * math.cos(yaw), y + 0.1 * v * math.sin(yaw)
            for cx, cy, r in near:
                inside_now = min(0.0, math.dist((cx, cy), pose[:2]) - r)
                gap = min(gap, math.dist((cx, cy), (x, y)) - r - inside_now)
        change = ((motion[0] - wish[0]) / 0.7) ** 2 + 0.35 * (motion[1] - wish[1]) ** 2
        return change + 6 * max(0.0, 1 - gap / 0.05) ** 2 + 200 * max(0.0, -gap)

    found = keep_clear(pose, speed, wish, discs)
    if near:
        assert price(found) <= min(price(motion) for motion in motions) + 1e-9
        assert any(found == pytest.approx(motion) for motion in motions)
    else:
        assert found == wish


@settings(max_examples=300)
@given(SEEDS, st.booleans())
def test_when_a_point_counts_as_reached(seed: int, halt: bool) -> None:
    rng = np.random.default_rng(seed)
    pose = np.array([*rng.uniform(1, 3, 2), rng.uniform(-4, 4)])
    here = (float(pose[0]), float(pose[1]))
    gap, bearing = float(rng.choice([0.05, 0.15, 0.22, 0.3, 0.45])), float(rng.uniform(-4, 4))
    point = at(here, bearing, gap)
    behind = abs(wrapped(bearing - pose[2])) > math.pi / 2
    assert is_reached(pose, point, None, False, FlyerConfig()) == (gap < 0.2)
    assert is_reached(pose, point, None, True, FlyerConfig()) == (gap < 0.1 or (behind and gap < 0.25))
    onward = float(rng.uniform(-4, 4))
    back = abs(wrapped(onward - bearing)) > math.pi / 2  # what comes next lies back past the drone
    found = is_reached(pose, point, at(point, onward, 0.4), halt, FlyerConfig())
    assert found == (gap < 0.2 or (back and gap < 0.4))
