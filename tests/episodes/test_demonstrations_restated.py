"""Geometry of paths, legs and manoeuvres said again: by walking, with complex numbers, at both sides of bounds."""

from __future__ import annotations

import cmath
import itertools
import math
import re
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

from wayword.episodes import (
    Episode,
    EpisodeRules,
    LayoutConfig,
    PathConfig,
    PlacedObject,
    Pose2,
    Segment,
    generate_episodes,
    measure_manoeuvre,
    plain_instruction,
    random_layout,
)
from wayword.episodes.corpus import SPLITS, held_out_seen, load_natural
from wayword.episodes.geometry import arc_length, chord_heading, distances_to_path, edge_distance, point_at, wrap
from wayword.episodes.leg_pieces import SKETCH_STEP_M, Arc, Line, ahead, heading_to, rounded, sampled, tangent
from wayword.episodes.legs import Leg, LegConfig, approach, past, past_and_on, propose_leg
from wayword.episodes.loader import check_episode
from wayword.episodes.manoeuvres import Manoeuvre, arrival_heading, departure_heading
from wayword.episodes.paths import FlownLeg, acceptable, finish_episode
from wayword.errors import WaywordError

# Geometry -------------------------------------------------------------------------------------------------


def bent(seed: int, count: int = 8) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.normal(0, 0.4, (count, 2)), axis=0) + 2


@pytest.mark.parametrize("seed", range(5))
def test_places_and_distances_along_a_path_by_walking_it(seed: int) -> None:
    path = bent(seed)
    arc, rng = arc_length(path), np.random.default_rng(seed)
    corners = [complex(*point) for point in path]
    legs = list(itertools.pairwise(corners))
    assert arc.tolist() == pytest.approx([0.0, *itertools.accumulate(abs(b - a) for a, b in legs)])

    def walked(metres: float) -> complex:
        for a, b in legs:
            if metres <= abs(b - a):
                return a + (b - a) / abs(b - a) * max(metres, 0.0)
            metres -= abs(b - a)
        return corners[-1]

    for start, end in rng.uniform(-0.3, arc[-1] + 0.3, (20, 2)).tolist():
        one, two = walked(start), walked(end)
        assert complex(*point_at(path, arc, start)) == pytest.approx(one)
        if abs(two - one) > 1e-6:
            assert chord_heading(path, arc, start, end) == pytest.approx(cmath.phase(two - one))
    points = rng.uniform(-1, 5, (30, 2))
    dense = np.array([[walked(s).real, walked(s).imag] for s in np.arange(0, arc[-1], 0.002)])
    wanted = np.hypot(*(points[:, None] - dense[None]).transpose(2, 0, 1)).min(axis=1)
    np.testing.assert_allclose(distances_to_path(points, path), wanted, atol=0.002)
    low, high = path.min(axis=0), path.max(axis=0)
    assert edge_distance(path, 4.7) == pytest.approx(min(*low, 4.7 - high[0], 4.7 - high[1]))


def test_distances_to_a_path_that_stands_still() -> None:
    np.testing.assert_allclose(distances_to_path(np.array([[4.0, 5.0]]), np.array([[1.0, 1.0], [1.0, 1.0]])), [5.0])


def test_angles_are_wrapped_into_half_a_turn_to_either_side() -> None:
    for angle, wanted in (
        (math.pi, -math.pi),
        (-math.pi, -math.pi),
        (4.0, 4.0 - 2 * math.pi),
        (7.0, 7.0 - 2 * math.pi),
    ):
        assert wrap(angle) == pytest.approx(wanted)
    assert wrap(-4.0) == pytest.approx(2 * math.pi - 4.0)


# Files ------------------------------------------------------------------------------------------------------


def episode(**changes: Any) -> Episode:
    whole: dict[str, Any] = {
        "id": "one", "split": "train", "arena_m": 4.7, "objects": (PlacedObject("cone", 1.5, 2.5, 0.0),),
        "start": Pose2(1.0, 2.0, 0.0), "path": np.array([[1.0, 2.0], [2.0, 2.0]]), "segments": (Segment(1, "Go."),),
        "annotator": "me",
    }  # fmt: skip
    return Episode(**{**whole, **changes})


def fault(rules: EpisodeRules | None = None, **changes: Any) -> str:
    try:
        check_episode(episode(**changes), None, rules or EpisodeRules())
    except WaywordError as error:
        return str(error)
    return ""


def test_rules_are_those_of_the_page() -> None:
    assert asdict(EpisodeRules()) == {
        "min_clearance_m": 0.29, "max_arena_m": 50.0, "max_length_m": 300.0, "max_points": 5000,
        "start_tolerance_m": 0.10,
    }  # fmt: skip


def cone(x: float, y: float) -> dict[str, Any]:
    return {"objects": (PlacedObject("c", x, y, 9.0),)}


def way(*points: tuple[float, float]) -> dict[str, Any]:
    path = np.array(points)
    return {"path": path, "segments": (Segment(len(path) - 1, "Go."),), "start": Pose2(*points[0], 0.0)}


@pytest.mark.parametrize(
    ("good", "bad", "message"),
    [
        ({"arena_m": 50.0}, {"arena_m": 50.001}, "arena_m must be positive and at most 50"),
        ({"arena_m": 4.7}, {"arena_m": 0.0}, "arena_m must be positive"),
        ({"id": "an id"}, {"id": "an\tid"}, "id 'an.tid' holds line breaks"),
        ({"split": "x"}, {"split": "x\n"}, "split 'x.n' holds line breaks"),
        (cone(4.7, 0.0), cone(4.701, 0.0), "outside"),
        (cone(0.0, 4.7), cone(0.0, 4.701), "outside"),
        (cone(0.0, 0.0), cone(-0.001, 0.0), "outside"),
        ({}, {"objects": (PlacedObject("c\n", 1.0, 1.0, 0.0),)}, "the name 'c.n' holds line breaks"),
        ({"start": Pose2(1.0, 2.0999, 0.0)}, {"start": Pose2(1.0, 2.1001, 0.0)}, "start is 0.10 m away"),
        ({"start": Pose2(0.93, 1.93, 0.0)}, {"start": Pose2(0.92, 1.92, 0.0)}, "start is 0.11 m away"),
        (cone(1.5, 2.2901), cone(1.5, 2.2899), "0.290 m"),
        (cone(0.7, 2.0), cone(2.28, 2.0), "0.280 m"),
        (way((0.0, 4.7), (4.7, 4.7)), way((0.0, 4.7), (4.701, 4.7)), r"path.1. at .* leaves the 4.7 m arena"),
        (way((0.0, 0.0), (4.7, 0.0)), way((0.0, 0.0), (4.7, -0.001)), r"path.1. at .* leaves"),
        (way((0.0, 0.0), (4.7, 0.0)), way((-0.001, 0.0), (4.7, 0.0)), r"path.0. at .* leaves"),
    ],
)  # fmt: skip
def test_rules_at_both_sides_of_their_bounds(good: dict[str, Any], bad: dict[str, Any], message: str) -> None:

    assert fault(**good) == ""
    assert re.search(message, fault(**bad))


def test_the_longest_path_and_the_most_points() -> None:
    def there_and_back(times: int, metres: float) -> dict[str, Any]:
        return way(*((1.0 + metres * (i % 2), 1.0) for i in range(times + 1)))

    assert fault(**there_and_back(200, 1.5)) == ""  # 300 m
    assert "path is 301 m long" in fault(**there_and_back(200, 1.503))
    assert fault(**there_and_back(4999, 0.05)) == ""  # 5,000 points
    assert "path has 5,001 points; at most 5,000" in fault(**there_and_back(5000, 0.05))


def test_segments_end_where_the_next_begin() -> None:
    points = [(1.0 + 0.1 * i, 1.0) for i in range(7)]
    good = way(*points)

    def said(*ends: int, **changes: Any) -> str:
        return fault(**{**good, **changes, "segments": tuple(Segment(end, "Go.") for end in ends)})

    assert said(1, 2, 6) == said(6) == ""
    assert "segments[1]: end 2 must be greater than 2" in said(2, 2, 6)
    assert "segments[0]: end 0 must be greater than 0" in said(0, 6)
    assert "segments[0]: end 7 is out of range; the path has points 0 to 6" in said(7)
    assert "the last segment ends at 5, but the path ends at 6" in said(2, 5)
    still = np.array([*points[:3], points[2], points[2], *points[5:]])
    assert "segments[1]: end 4: the path stands still" in said(2, 4, 6, path=still)
    assert said(1, 4, 6, path=still) == ""


def test_which_split_has_which_objects_and_who_is_held_out() -> None:
    assert dict(SPLITS) == {"train": "seen", "dev": "dev", "test": "test"}
    ids = [one.id for one in load_natural("train")]
    held = [one for one in ids if held_out_seen(one)]
    assert 0.06 < len(held) / len(ids) < 0.14
    # crc32("123456789") is the check value 0xCBF43926 = 3421780262: its last digit is 2.
    assert not held_out_seen("123456789")
    assert held_out_seen("")  # crc32 of nothing is 0


# Layouts ----------------------------------------------------------------------------------------------------


def test_layouts_use_all_there_is_between_their_bounds() -> None:
    names = [f"thing {i}" for i in range(20)]
    assert asdict(LayoutConfig()) == {
        "arena_m": 4.7, "min_objects": 6, "max_objects": 12, "min_spacing_m": 0.95, "edge_clearance_m": 0.6,
    }  # fmt: skip
    layouts = [random_layout(names, np.random.default_rng(seed)) for seed in range(250)]
    assert {len(layout) for layout in layouts} == set(range(6, 13))
    placed = [item for layout in layouts for item in layout]
    assert {item.name for item in placed} == set(names)
    for values, low, high in (
        ([o.x for o in placed], 0.6, 4.1),
        ([o.y for o in placed], 0.6, 4.1),
        ([o.yaw for o in placed], -math.pi, math.pi),
    ):  # fmt: skip
        assert low - 1e-3 <= min(values) < low + 0.05 * (high - low)
        assert high + 1e-3 >= max(values) > high - 0.05 * (high - low)
        assert all(round(value, 3) == value for value in values)
    apart = [math.dist((a.x, a.y), (b.x, b.y)) for one in layouts for a, b in itertools.combinations(one, 2)]
    assert 0.95 < min(apart) < 0.96
    assert len(random_layout(names[:6], np.random.default_rng(0))) == 6


# Legs -------------------------------------------------------------------------------------------------------

CONFIG = LegConfig()


def test_numbers_of_legs_and_paths() -> None:
    assert asdict(CONFIG) == {
        "stop_m": (0.44, 0.66), "abeam_m": (0.34, 0.56), "round_m": (0.38, 0.56), "beyond_m": (0.22, 0.5),
        "round_rad": (0.9, 2.9), "gate_m": (0.95, 1.9), "reach_m": 3.0, "onward": 0.35, "bow": 0.012,
    }  # fmt: skip
    config = asdict(PathConfig())
    assert config.pop("layout") == asdict(LayoutConfig())
    assert config.pop("legs") == asdict(CONFIG)
    assert config == {
        "min_segments": 4, "max_segments": 5, "min_segment_m": 0.6, "max_segment_m": 2.7, "step_m": 0.06,
        "object_clearance_m": 0.30, "edge_clearance_m": 0.43, "start_clearance_m": 0.55, "smoothing_m": 0.12,
        "max_curvature": 2.8, "max_corner_rad": 2.7, "max_retrace_m": 0.3, "start_yaw_rad": 0.49,
        "typical_segment_m": 1.4, "weights": (0.2, 0.32, 0.25, 0.17, 0.06),
    }  # fmt: skip
    assert SKETCH_STEP_M == 0.02


@pytest.mark.parametrize("seed", range(10))
def test_pieces_with_complex_numbers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    at, centre = (complex(*rng.uniform(0, 3, 2)) for _ in range(2))
    radius, sign = float(rng.uniform(0.2, 0.6)), int(rng.choice([1, -1]))
    touch = tangent((at.real, at.imag), (centre.real, centre.imag), radius, sign)
    if abs(at - centre) < radius + 0.02:
        assert touch is None
    else:
        assert touch is not None
        spoke = at + cmath.rect(touch[1], touch[0]) - centre
        assert abs(spoke) == pytest.approx(radius)
        # It touches: the spoke is square to the way, and on its right where the thing is on the left.
        assert (spoke * cmath.rect(1, -touch[0])) == pytest.approx(-1j * sign * radius, abs=1e-9)
    heading, angle = rng.uniform(-3, 3), float(rng.uniform(0.2, 3))
    arc = Arc((centre.real, centre.imag), radius, heading, sign, angle)
    points = sampled(arc, 0.5)
    assert len(points) == math.ceil(radius * angle / 0.02) + 1
    for k, point in enumerate(points):
        turned = heading + sign * angle * k / (len(points) - 1)
        assert complex(*point) == pytest.approx(centre - 1j * sign * cmath.rect(radius, turned))
    assert complex(*arc.end) == pytest.approx(complex(*points[-1]))
    line = Line((at.real, at.imag), (centre.real, centre.imag))
    bowed = sampled(line, 0.1)
    for k, point in enumerate(bowed):
        share = k / (len(bowed) - 1)
        across = 1j * (centre - at) * 0.1 * math.sin(math.pi * share)
        assert complex(*point) == pytest.approx(at + share * (centre - at) + across)
    assert complex(*ahead(line.start, heading, 2.0)) == pytest.approx(at + cmath.rect(2.0, heading))
    assert heading_to(line.start, line.end) == pytest.approx(cmath.phase(centre - at))


@pytest.mark.parametrize("turn", [0.3, 1.0, -0.5, -2.0])
def test_a_rounded_corner_leaves_the_lines_at_tangents_as_wide_as_fits(turn: float) -> None:
    corner = (1.0, 0.0)
    end = ahead(corner, turn, 0.7)
    pieces = rounded((0.0, 0.0), corner, end, 0.1)
    assert pieces is not None
    first, arc, last = pieces
    assert isinstance(arc, Arc)
    # What is cut off on either side is as long as the shorter line, or the radius 2 m.
    wide = min(0.7 / math.tan(abs(turn) / 2), 2.0)
    assert arc.radius == pytest.approx(wide)
    assert (arc.sign, arc.angle) == (1 if turn > 0 else -1, pytest.approx(abs(turn)))
    trim = wide * math.tan(abs(turn) / 2)
    assert first.end == pytest.approx((1.0 - trim, 0.0))
    assert arc.end == pytest.approx(ahead(corner, turn, trim))
    assert last.end == pytest.approx(end)
    assert rounded((0.0, 0.0), corner, end, wide + 0.001) is None
    assert rounded((0.0, 0.0), corner, end, wide - 0.001) is not None


def test_bounds_of_single_legs() -> None:
    for away, flies in ((CONFIG.stop_m[0] + 0.499, False), (CONFIG.stop_m[0] + 0.501, True)):
        near = replace(CONFIG, stop_m=(0.44, 0.44))
        leg = approach(0, (0.0, 0.0), [(away, 0.0)], np.random.default_rng(0), near)
        assert (leg is not None) == flies
    for away, flies in (
        (0.519, False),
        (0.521, False),
        (math.hypot(0.5, 0.249), False),
        (math.hypot(0.5, 0.251), True),
    ):
        abeam = replace(CONFIG, abeam_m=(0.5, 0.5))
        assert (
            past("pass", 0, 1, (0.0, 0.0), [(away, 0.0)], 0.1, np.random.default_rng(0), abeam) is not None
        ) == flies
    assert tangent((0.0, 0.0), (0.5199, 0.0), 0.5, 1) is None
    assert tangent((0.0, 0.0), (0.5201, 0.0), 0.5, 1) is not None
    for reach, flies in ((2.99, True), (3.01, False)):
        assert (
            propose_leg("approach", (0.0, 0.0), [(reach, 0.0)], np.random.default_rng(0), CONFIG) is not None
        ) == flies


@pytest.mark.parametrize("sign", [1, -1])
def test_around_and_on_to_a_goal_turns_no_further_than_it_may(sign: int) -> None:
    """The goal straight behind the thing as seen from the drone, further and further round."""
    fixed = replace(CONFIG, stop_m=(0.5, 0.5))
    flown = {}
    for degrees in range(0, 360, 10):
        goal = cmath.rect(1.5, sign * math.radians(degrees))
        centres = [(1.5, 0.0), (1.5 + goal.real, goal.imag)]
        rng = np.random.default_rng(0)
        leg = past_and_on("around", 0, 1, sign, 0.4, (0.0, 0.0), centres, rng, fixed)
        # Into the tangent at -asin(0.4 / 1.5), out of it at +asin(0.4 / 1.5) beyond the line to the goal.
        turned = (math.radians(degrees) + 2 * math.asin(0.4 / 1.5)) % (2 * math.pi)
        assert (leg is not None) == (turned <= 2.9)
        if leg is not None:
            first, arc, last = leg.pieces
            assert isinstance(arc, Arc)
            assert arc.angle == pytest.approx(turned)
            assert first.length == pytest.approx(math.sqrt(1.5**2 - 0.4**2))
            assert last.length == pytest.approx(math.sqrt(1.5**2 - 0.4**2) - 0.5)
            assert math.dist(leg.end, centres[1]) == pytest.approx(math.hypot(0.5, 0.0))
            flown[degrees] = leg
    assert {0, 90, 130} <= set(flown)


def test_drawn_legs_spread_over_their_ranges() -> None:
    """Straight past, round and between, drawn often: how near, how far beyond, to which side, onwards or not."""
    centres = [(2.0, 0.0), (2.0, 1.3), (4.5, 0.2)]
    rng = np.random.default_rng(1)
    passes, rounds, gates = [], [], []
    for _ in range(1500):
        leg = propose_leg("pass", (0.0, 0.0), centres[:1], rng, CONFIG)
        passes += [leg] if leg is not None else []
        leg = propose_leg("around", (0.0, 0.0), centres[:1], rng, CONFIG)
        rounds += [leg] if leg is not None else []
        leg = propose_leg("between", (0.6, 0.5), centres, rng, CONFIG)
        gates += [leg] if leg is not None else []
    # Where there is no second thing to go on to, a third of the draws come to nothing.
    assert len(passes) / 1500 == pytest.approx(0.65, abs=0.04)
    assert len(rounds) / 1500 == pytest.approx(0.65, abs=0.04)
    aside, beyond = [], []
    for leg in passes:
        (line,) = leg.pieces
        way, to = complex(*line.end), complex(2.0, 0.0)
        aside.append((to / way * abs(way)).imag)
        beyond.append(abs(way) - (to / way * abs(way)).real)
    assert np.mean(np.array(aside) > 0) == pytest.approx(0.5, abs=0.05)
    for values, (low, high) in ((np.abs(aside), CONFIG.abeam_m), (beyond, CONFIG.beyond_m)):
        assert low - 1e-9 <= min(values) < low + 0.02
        assert high + 1e-9 >= max(values) > high - 0.02
    arcs = [leg.pieces[1] for leg in rounds]
    assert np.mean([arc.sign > 0 for arc in arcs if isinstance(arc, Arc)]) == pytest.approx(0.5, abs=0.05)
    for name, (low, high) in (("radius", CONFIG.round_m), ("angle", CONFIG.round_rad)):
        values = [getattr(arc, name) for arc in arcs]
        assert low <= min(values) < low + 0.1 * (high - low)
        assert high >= max(values) > high - 0.1 * (high - low)
    tails = [leg.pieces[2] for leg in rounds if len(leg.pieces) == 3]
    assert len(tails) / len(rounds) == pytest.approx(0.5, abs=0.05)
    for leg, tail in zip([leg for leg in rounds if len(leg.pieces) == 3], tails, strict=True):
        arc = leg.pieces[1]
        assert isinstance(arc, Arc)
        assert 0.1 <= tail.length <= 0.4
        assert wrap(heading_to(arc.end, tail.end) - arc.heading - arc.sign * arc.angle) == pytest.approx(0.0, abs=1e-9)
    assert {frozenset(leg.objects) for leg in gates} == {frozenset({0, 1})}  # the third is too far from both
    for leg in gates:
        a, b = (complex(*centres[i]) for i in leg.objects)
        points = np.array([complex(*point) for point in leg.points(rng, 0.0)])
        along = ((points - a) / (b - a)).real
        across = ((points - a) / (b - a)).imag
        turned = np.flatnonzero(across[1:] * across[:-1] < 0)
        assert len(turned) == 1
        assert 0.35 <= along[turned[0]] <= 0.65
        assert 0.04 <= abs(across[-1]) * 1.3 <= 0.61  # so far beyond


@pytest.mark.parametrize(
    ("slant", "pieces"), [(0.0, 1), (0.39, 1), (0.41, 3), (0.8, 3), (0.99, 3), (1.01, 0), (1.3, 0)]
)
@pytest.mark.parametrize("side", [1, -1])
def test_a_gap_is_crossed_straight_or_more_squarely_or_not_at_all(slant: float, pieces: int, side: int) -> None:
    """Of a gap of a millimetre at (3, 2), square to x, as seen from 2 m away: 0.7 of the slant is flown off."""
    posts, at = [(3.0, 1.9995), (3.0, 2.0005)], ahead((3.0, 2.0), math.pi + side * slant, 2.0)
    config = replace(CONFIG, gate_m=(0.0001, 0.01))
    for seed in range(6):
        leg = propose_leg("between", at, posts, np.random.default_rng(seed), config)
        assert (0 if leg is None else len(leg.pieces)) == pieces
        if leg is None:
            continue
        assert set(leg.objects) == {0, 1}
        bent = leg.pieces[1] if pieces == 3 else None
        through = heading_to(at, leg.end) if bent is None else bent.heading + bent.sign * bent.angle  # type: ignore[union-attr]
        assert through == pytest.approx(side * slant * (1.0 if pieces == 1 else 0.3), abs=0.01)
        beyond = (leg.end[0] - 3.0) / math.cos(through)
        assert 0.04 < beyond < 0.61
        assert leg.end[1] == pytest.approx(2.0 + beyond * math.sin(through), abs=0.01)
    assert propose_leg("between", (2.56, 2.0), posts, np.random.default_rng(0), config) is None  # nearer than 45 cm
    assert propose_leg("between", (2.54, 2.0), posts, np.random.default_rng(0), config) is not None


@pytest.mark.parametrize("kind", ["approach", "beside"])
def test_who_stops_at_a_thing_stops_at_no_other(kind: str) -> None:
    """Two things 40 cm apart: ends at which the other one is nearer are not proposed, ends at the thing itself are."""
    centres, legs = [(2.0, 0.0), (2.0, 0.4)], []
    for seed in range(60):
        leg = propose_leg(kind, (0.0, 0.1), centres, np.random.default_rng(seed), CONFIG)  # type: ignore[arg-type]
        legs += [leg] if leg is not None else []
    for leg in legs:
        target = leg.objects[0]
        assert math.dist(leg.end, centres[target]) <= math.dist(leg.end, centres[1 - target])
    assert {leg.objects for leg in legs} == {(0,), (1,)}
    assert len(legs) < 60


# Paths ------------------------------------------------------------------------------------------------------


def straight(x0: float, x1: float, y: float = 2.0) -> np.ndarray:
    return sampled(Line((x0, y), (x1, y)), 0.0)


def test_legs_that_are_taken_and_refused_at_both_sides_of_every_bound() -> None:
    config, far = PathConfig(), np.array([[4.6, 4.6]])

    def taken(points: np.ndarray, centres: np.ndarray = far, before: np.ndarray | None = None) -> bool:
        flown = []
        if before is not None:
            states = acceptable(before, far, [], config)
            assert states is not None
            flown = [FlownLeg(Leg("approach", (0,), ()), before, states)]
        return acceptable(points, centres, flown, config) is not None

    assert taken(straight(0.431, 2.0))
    assert not taken(straight(0.429, 2.0))
    assert taken(straight(1.0, 4.269))
    assert not taken(straight(1.0, 4.271))
    for aside, good in ((0.312, True), (0.308, False)):
        assert taken(straight(1.0, 2.2), np.array([[1.6, 2.0 + aside]])) == good
    # Corners: back along the same line is refused, a sharp turn aside is not.
    first = straight(1.0, 2.2)
    for degrees, good in ((150, True), (158, False), (-150, True), (-158, False)):
        on = sampled(Line((2.2, 2.0), ahead((2.2, 2.0), math.radians(degrees), 1.2)), 0.0)
        assert taken(on, before=first) == good
    # Along the earlier path, 10 cm beside it: 0.3 m of it are allowed.
    for metres, good in ((0.28, True), (0.42, False)):
        turns = ((2.2, 2.0), (2.2, 2.1), (2.2 - metres, 2.1), (2.2 - metres, 3.0))
        beside = np.concatenate([sampled(Line(one, two), 0.0) for one, two in itertools.pairwise(turns)])
        assert taken(beside, before=first) == good
    aside = np.concatenate([sampled(Line((2.2, 2.0), (2.2, 2.18)), 0.0), straight(2.2, 1.0, 2.18)])
    assert taken(aside, before=first)  # 18 cm beside it is another way
    states = acceptable(first, far, [], config)
    assert states is not None
    np.testing.assert_allclose(states[:3], [[1.06, 2.0, 0.0], [1.12, 2.0, 0.0], [1.18, 2.0, 0.0]], atol=0.004)


def finished(*legs: np.ndarray, cone: tuple[float, float] = (2.9, 2.0), **changes: Any) -> Episode | None:
    config = replace(PathConfig(), **changes)
    flown = [FlownLeg(Leg("approach", (0,), ()), points, np.zeros((0, 3))) for points in legs]
    made = finish_episode("e", "dev", (PlacedObject("cone", *cone, 0.0),), flown, np.random.default_rng(0), config, 0.1)
    return None if made is None else made[0]


def test_finished_paths_are_flyable() -> None:
    good = finished(straight(1.0, 2.3))
    assert good is not None
    assert (good.start.yaw, good.annotator, good.split, good.arena_m) == (0.1, "plain", "dev", 4.7)
    np.testing.assert_allclose(np.diff(good.path[:-1, 0]), 0.06, atol=1e-9)
    assert good.path[:, 1].tolist() == [2.0] * len(good.path)
    for bad in (
        finished(straight(1.0, 1.59), cone=(2.2, 2.0)),  # too short
        finished(straight(0.45, 3.2), cone=(3.8, 2.0)),  # too long
        finished(straight(1.0, 2.3, 0.42), cone=(2.9, 0.42)),  # beside the edge
        finished(straight(1.0, 2.3), cone=(1.7, 2.29)),  # too near
    ):
        assert bad is None
    assert finished(straight(1.0, 1.63), cone=(2.2, 2.0)) is not None
    assert finished(straight(0.45, 3.13), cone=(3.7, 2.0)) is not None
    assert finished(straight(1.0, 2.3, 0.44), cone=(2.9, 0.44)) is not None


@pytest.mark.parametrize(("metres", "end"), [(0.68, 11), (0.70, 12), (0.715, 12), (0.74, 12), (0.76, 13)])
def test_a_segment_ends_at_the_point_that_is_nearest_to_the_end_of_its_leg(metres: float, end: int) -> None:
    """Points are 6 cm apart: 0.70 m are 11.7 of them."""
    middle = 1.0 + metres
    placed = (PlacedObject("mug", middle + 0.45, 2.35, 0.0), PlacedObject("cone", 3.0, 2.0, 0.0))
    flown = [
        FlownLeg(Leg("approach", (number,), ()), points, np.zeros((0, 3)))
        for number, points in enumerate((straight(1.0, middle), straight(middle, 2.6)))
    ]
    made = finish_episode("e", "dev", placed, flown, np.random.default_rng(0), PathConfig(), 0.1)
    assert made is not None
    episode, manoeuvres = made
    assert [segment.end for segment in episode.segments] == [end, len(episode.path) - 1]
    assert [one.objects for one in manoeuvres] == [("mug",), ("cone",)]


def test_a_corner_is_rounded_as_much_as_smoothing_does_it() -> None:
    """Of a right angle a Gaussian of 12 cm leaves 12 / sqrt(2 pi) cm on either side: 6.8 cm across."""
    placed = (PlacedObject("mug", 2.55, 2.0, 0.0), PlacedObject("cone", 2.0, 3.55, 0.0))
    legs = (straight(1.0, 2.0), sampled(Line((2.0, 2.0), (2.0, 3.0)), 0.0))
    flown = [FlownLeg(Leg("approach", (k,), ()), points, np.zeros((0, 3))) for k, points in enumerate(legs)]
    made = finish_episode("e", "dev", placed, flown, np.random.default_rng(0), PathConfig(), 0.1)
    assert made is not None
    cut = distances_to_path(np.array([[2.0, 2.0], [1.0, 2.0], [2.0, 2.9], [1.5, 2.0]]), made[0].path)
    assert cut == pytest.approx([0.12 / math.sqrt(math.pi), 0.0, 0.0, 0.0], abs=0.005)


def test_a_way_to_the_west_bends_no_more_than_any_other() -> None:
    for bow in (0.02, -0.02):
        assert finished(sampled(Line((3.0, 2.0), (1.7, 2.0)), bow), cone=(1.1, 2.0)) is not None


def test_corners_are_measured_from_where_the_leg_before_ended() -> None:
    """A quarter circle to the left ends northwards; from there 165 degrees are too sharp, however it began."""
    config, far = replace(PathConfig(), max_retrace_m=9.0), np.array([[4.6, 4.6]])
    before = sampled(Arc((2.0, 2.5), 0.5, 0.0, 1, math.pi / 2), 0.0)
    states = acceptable(before, far, [], config)
    assert states is not None
    flown = [FlownLeg(Leg("approach", (0,), ()), before, states)]
    for degrees, good in ((140, True), (160, False), (-150, True), (-170, False)):
        on = sampled(Line((2.5, 2.5), ahead((2.5, 2.5), math.radians(90 + degrees), 0.8)), 0.0)
        assert (acceptable(on, far, flown, config) is not None) == good


def test_bends_inside_a_leg_are_no_tighter_than_a_drone_flies_them() -> None:
    """Round a quarter circle, on to the cone: of 0.5 m (2 per metre) it is flown, of 0.25 m (4 per metre) not."""

    def bend(radius: float) -> np.ndarray:
        arc = Arc((2.0, 1.5 + radius), radius, 0.0, 1, math.pi / 2)
        top = arc.end
        return np.concatenate(
            [straight(1.2, 2.0, 1.5), sampled(arc, 0.0), sampled(Line(top, (top[0], top[1] + 0.6)), 0.0)]
        )

    assert finished(bend(0.5), cone=(2.5, 3.1)) is not None
    assert finished(bend(0.25), cone=(2.25, 2.85)) is None
    assert finished(bend(0.25), cone=(2.25, 2.85), max_curvature=9.0) is not None


def test_the_start_looks_about_where_the_path_goes() -> None:
    rng, config = np.random.default_rng(5), PathConfig()
    points = sampled(Line((1.0, 1.0), (1.0, 2.3)), 0.0)
    flown = [FlownLeg(Leg("approach", (0,), ()), points, np.zeros((0, 3)))]
    yaws = []
    for _ in range(300):
        made = finish_episode("e", "dev", (PlacedObject("cone", 1.0, 2.9, 0.0),), flown, rng, config)
        assert made is not None
        yaws.append(made[0].start.yaw)
    assert np.mean(yaws) == pytest.approx(math.pi / 2, abs=0.09)
    assert np.std(yaws) == pytest.approx(0.49, abs=0.07)


def test_every_episode_starts_clear_of_things_and_each_has_a_name_of_its_own() -> None:
    made = list(generate_episodes("dev", 12, 4, [f"t{i}" for i in range(9)], first=7))
    assert [one.id for one, _ in made] == [f"dev-g4-{index:06d}" for index in range(7, 19)]
    for one, facts in made:
        assert min(math.dist((one.start.x, one.start.y), (o.x, o.y)) for o in one.objects) >= 0.549
        assert (one.start.x, one.start.y) == tuple(one.path[0])
        assert {len(one.segments), len(facts)} <= {4, 5}
        assert fault_of(one) == ""
    # The split is part of the seed.
    ((other, _),) = generate_episodes("train", 1, 4, [f"t{i}" for i in range(9)], first=7)
    assert other.objects != made[0][0].objects


def fault_of(one: Episode) -> str:
    try:
        check_episode(one, None, EpisodeRules())
    except WaywordError as error:
        return str(error)
    return ""


# Manoeuvres -------------------------------------------------------------------------------------------------


def flight(points: np.ndarray, yaw: float = 0.0, **centres: tuple[float, float]) -> Episode:
    placed = tuple(PlacedObject(name, x, y, 0.0) for name, (x, y) in centres.items())
    start = Pose2(float(points[0, 0]), float(points[0, 1]), yaw)
    return Episode("e", "train", 9.0, placed, start, points, (Segment(len(points) - 1, "Go."),), "me")


def facts(
    kind: str, name: str, points: np.ndarray, yaw: float = 0.0, **centres: tuple[float, float]
) -> Manoeuvre | None:
    return measure_manoeuvre(flight(points, yaw, **centres), 0, kind, [name])  # type: ignore[arg-type]


EAST = np.column_stack([np.linspace(1.0, 2.2, 21), np.full(21, 2.0)])
"""From (1, 2) to (2.2, 2), 6 cm a step."""


@pytest.mark.parametrize("side", [1, -1])
def test_passes_at_both_sides_of_their_bounds(side: int) -> None:
    # Within 75 cm of the way; behind it by 109 degrees at the end; the end within 95 cm of something.
    for aside, good in ((0.749, True), (0.751, False)):
        made = facts("pass", "cone", EAST, cone=(1.5, 2 + side * aside), mug=(2.7, 2.0))
        assert (made is not None) == good
        assert made is None or made.side == ("left" if side > 0 else "right")
    for degrees, good in ((110, True), (108, False)):
        at = cmath.rect(0.5, side * math.radians(degrees))
        assert (facts("pass", "cone", EAST, cone=(2.2 + at.real, 2 + at.imag)) is not None) == good
    for away, good in ((0.949, True), (0.951, False)):
        x = 2.2 - math.sqrt(away**2 - 0.4**2)
        assert (facts("pass", "cone", EAST, cone=(x, 2 + side * 0.4)) is not None) == good
    # Beside: within 50 to 109 degrees, and the nearest thing there.
    for degrees, good in ((49, False), (51, True), (108, True), (110, False)):
        at = cmath.rect(0.5, side * math.radians(degrees))
        made = facts("beside", "cone", EAST, cone=(2.2 + at.real, 2 + at.imag))
        assert (made is not None) == good
        assert made is None or made.end_side == ("left" if side > 0 else "right")
    at = cmath.rect(0.5, side * math.radians(80))
    other = cmath.rect(0.49, -side * math.radians(80))
    crowd = {"cone": (2.2 + at.real, 2 + at.imag), "mug": (2.2 + other.real, 2 + other.imag)}
    assert facts("beside", "cone", EAST, **crowd) is None
    assert facts("beside", "mug", EAST, **crowd) is not None
    # In front: within 50 degrees, and it did not come nearer on the way than at the end.
    for degrees, good in ((49, True), (51, False)):
        at = cmath.rect(0.5, side * math.radians(degrees))
        assert (facts("approach", "cone", EAST, cone=(2.2 + at.real, 2 + at.imag)) is not None) == good


def test_who_came_nearer_on_the_way_did_not_come_up_to_it() -> None:
    """Past the cone, round to the left and back towards it: it ends before it, 0.55 m away, and was nearer before."""
    turn = sampled(Arc((1.9, 2.3), 0.3, 0.0, 1, math.pi), 0.0)
    way = np.concatenate([straight(1.0, 1.9), turn[1:], sampled(Line((1.9, 2.6), (1.7, 2.6)), 0.0)[1:]])[::3]
    assert way[-1] == pytest.approx((1.7, 2.6), abs=0.05)
    for y, good in ((2.3, False), (2.55, True)):  # 0.3 m from the way out, and 0.55 m
        assert (facts("approach", "cone", way, cone=(1.25, y)) is not None) == good


def test_a_pass_winds_by_nine_tenths_of_a_radian_and_bends_by_less() -> None:
    def arc(bend: float) -> np.ndarray:
        """Round a cone at (2, 2), from below it, half a metre away, bending by so much."""
        turned = np.linspace(-bend / 2, bend / 2, max(3, round(0.5 * bend / 0.03)))
        return np.array([(2 + 0.5 * math.sin(a), 2 - 0.5 * math.cos(a)) for a in turned])

    for bend, good in ((1.1, True), (0.8, False)):
        made = facts("around", "cone", arc(bend), cone=(2.0, 2.0))
        assert (made is not None) == good
        assert made is None or (made.side, made.bend) == ("left", pytest.approx(bend, abs=0.05))


@pytest.mark.parametrize(
    ("bend", "words"),
    [(1.3, "a quarter"), (2.2, "a quarter"), (2.5, "half"), (3.8, "half"), (4.1, "most of the way")],
)
def test_how_far_round_is_said_in_quarters(bend: float, words: str) -> None:
    turned = np.linspace(-bend / 2, bend / 2, round(0.5 * bend / 0.03))
    points = np.array([(2 + 0.5 * math.sin(a), 2 - 0.5 * math.cos(a)) for a in turned])
    for sign, way in ((1, "counter-clockwise"), (-1, "clockwise")):
        made = facts("around", "cone", points * (sign, 1), cone=(2.0 * sign, 2.0))
        assert made is not None
        assert (
            f"{words} around the cone {way}, keeping it on your {'left' if sign > 0 else 'right'},"
            in plain_instruction(made).replace("Go ", "")
        )


@pytest.mark.parametrize(
    ("yaw", "words"),
    [(0.0, "Fly"), (-0.59, "Fly"), (-0.62, "Turn left and fly"), (0.62, "Turn right and fly"), (-2.39, "Turn left and"),
     (-2.42, "Turn around to the left and"), (2.42, "Turn around to the right and"), (2.39, "Turn right and")],
)  # fmt: skip
def test_turns_that_are_worth_a_word(yaw: float, words: str) -> None:
    made = facts("approach", "cone", EAST, yaw, cone=(2.7, 2.0))
    assert made is not None
    assert plain_instruction(made).startswith(words)
    assert made.turn == made.corner == pytest.approx(wrap(-yaw))
    # It is told only if it is one both from the pose at the start and from where the drone came.
    for turn, corner, told in ((0.31, 0.7, True), (0.29, 0.7, False), (-0.5, 0.7, False), (0.7, 0.59, False)):
        said = plain_instruction(replace(made, turn=turn, corner=corner))
        assert said.startswith("Turn left") == told


def test_a_corner_is_turned_from_the_way_before_and_a_turn_from_where_it_looks() -> None:
    """East, then north: the drone that is given the second segment alone looks north-east, along 8 cm either way."""
    points = np.array([*((1.0 + 0.06 * i, 1.0) for i in range(15)), *((1.84, 1.0 + 0.06 * i) for i in range(1, 16))])
    placed = (PlacedObject("cone", 1.84, 2.4, 0.0),)
    both = (Segment(14, "Go."), Segment(29, "On."))
    episode = Episode("e", "d", 4.7, placed, Pose2(1.0, 1.0, 0.0), points, both, "me")
    made = measure_manoeuvre(episode, 1, "approach", ["cone"])
    assert made is not None
    assert (made.turn, made.corner) == pytest.approx((math.pi / 4, math.pi / 2), abs=0.01)
    assert plain_instruction(made).startswith("Turn left and fly to the cone")


def test_what_is_passed_on_the_way_is_named_in_order_with_its_side() -> None:
    long = straight(1.0, 3.4)[::3]
    made = facts(
        "approach", "cone", long, cone=(3.9, 2.0), late=(2.8, 1.26), early=(1.6, 2.74), far=(2.2, 2.76),
        first=(1.1, 1.5), last=(3.3, 2.6),
    )  # fmt: skip
    assert made is not None
    assert [(item.name, item.side) for item in made.passed] == [("early", "left"), ("late", "right")]
    assert [item.distance for item in made.passed] == pytest.approx([0.74, 0.74], abs=0.002)
    # Closest at the fourth point from an end it was not passed, at the fifth it was.
    for k, counted in ((3, False), (4, True)):
        for x in (long[k, 0], long[-1 - k, 0]):
            made = facts("approach", "cone", long, cone=(3.9, 2.0), mug=(float(x), 2.6))
            assert made is not None
            assert bool(made.passed) == counted


@pytest.mark.parametrize("flip", [1, -1])
def test_a_gate_is_crossed_once_and_the_left_post_is_named_first(flip: int) -> None:
    posts = {"a": (1.6, 2.5), "b": (1.6, 1.4)}
    way = EAST if flip > 0 else EAST[::-1]
    for names in (["a", "b"], ["b", "a"]):
        made = measure_manoeuvre(flight(way, 0.0, **posts), 0, "between", names)
        assert made is not None
        assert made.objects == (("a", "b") if flip > 0 else ("b", "a"))
        assert made.side == "left"
        assert made.closest == pytest.approx((0.5, 0.6) if flip > 0 else (0.6, 0.5), abs=0.01)
    there = np.concatenate([EAST, EAST[::-1] + np.array([0.0, 0.05])])
    assert measure_manoeuvre(flight(there, 0.0, **posts), 0, "between", ["a", "b"]) is None
    beside = {"a": (1.6, 2.5), "b": (1.6, 2.1)}
    assert measure_manoeuvre(flight(way, 0.0, **beside), 0, "between", ["a", "b"]) is None


def test_headings_at_corners_are_those_beyond_their_rounding() -> None:
    """Arcs into and out of a corner: what is 18 cm away is drawn on along its curvature, of 2.5 per metre at most."""
    for curvature in (-1.5, 0.0, 1.0, 2.4, 4.0):

        def along(s: np.ndarray, curvature: float = curvature) -> np.ndarray:
            turned = np.cumsum(np.full(len(s), curvature * 0.01))
            return np.cumsum(np.column_stack([np.cos(turned), np.sin(turned)]) * 0.01, axis=0)

        path = along(np.arange(0, 1.6, 0.01))
        arc = arc_length(path)
        # At 0.8 m the path points to 0.8 times its curvature (tighter ones are held to 2.5 on the last 27 cm).
        missed = (abs(curvature) - 2.5) * 0.27 * np.sign(curvature) if abs(curvature) > 2.5 else 0.0
        wanted = 0.81 * curvature
        assert wrap(departure_heading(path, arc, 0.8) - wanted - missed) == pytest.approx(0.0, abs=0.04)
        assert wrap(arrival_heading(path, arc, 0.8) - wanted + missed) == pytest.approx(0.0, abs=0.04)
