"""Layouts, generated demonstrations and the facts measured on them."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayword.episodes import (
    Episode,
    LayoutConfig,
    Manoeuvre,
    PathConfig,
    PlacedObject,
    Pose2,
    Segment,
    generate_episode,
    generate_episodes,
    measure_manoeuvre,
    plain_instruction,
    random_layout,
)
from wayword.episodes.geometry import wrap
from wayword.episodes.leg_pieces import Line
from wayword.episodes.legs import Leg
from wayword.episodes.paths import FlownLeg, finish_episode
from wayword.errors import WaywordError

NAMES = [f"thing {i}" for i in range(20)]
Made = tuple[Episode, tuple[Manoeuvre, ...]]


@pytest.fixture(scope="module")
def made() -> list[Made]:
    return list(generate_episodes("train", 120, 3, NAMES))


# Layouts ------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), count=st.integers(6, 12))
def test_layouts_keep_their_distances(seed: int, count: int) -> None:
    config = LayoutConfig(min_objects=count, max_objects=count)
    layout = random_layout(NAMES, np.random.default_rng(seed), config)
    assert len({o.name for o in layout}) == count
    assert all(0.6 <= c <= 4.1 for o in layout for c in (o.x, o.y))
    assert all(math.dist((a.x, a.y), (b.x, b.y)) >= 0.95 for a, b in itertools.combinations(layout, 2))


def test_layouts_do_not_depend_on_the_order_of_names() -> None:
    one, other = (random_layout(n, np.random.default_rng(5)) for n in (NAMES, set(reversed(NAMES))))
    assert one == other


def test_few_names_cap_the_number_of_objects() -> None:
    rng = np.random.default_rng(0)
    assert {len(random_layout(NAMES[:8], rng)) for _ in range(60)} == {6, 7, 8}
    with pytest.raises(WaywordError, match="at least 6 different objects, found 5"):
        random_layout(NAMES[:5] * 2, rng)


def test_impossible_layouts_say_so() -> None:
    crowded = LayoutConfig(min_objects=20, max_objects=20)
    with pytest.raises(WaywordError, match=r"cannot place 20 objects 0\.95 m apart"):
        random_layout(NAMES, np.random.default_rng(0), crowded)
    with pytest.raises(WaywordError, match="cannot place"):
        random_layout(NAMES, np.random.default_rng(0), LayoutConfig(edge_clearance_m=2.5))


# Facts, worked by hand ----------------------------------------------------------------------------------


def flight(points: list[tuple[float, float]], yaw: float, **centres: tuple[float, float]) -> Episode:
    placed = tuple(PlacedObject(name, x, y, 0.0) for name, (x, y) in centres.items())
    segments = (Segment(len(points) - 1, "Go."),)
    return Episode("e", "train", 4.7, placed, Pose2(*points[0], yaw), np.array(points), segments, "me")


def line(x0: float, x1: float) -> list[tuple[float, float]]:
    """Along y = 2."""
    return [(x, 2.0) for x in np.linspace(x0, x1, 30).tolist()]


def test_pass_on_a_straight_line() -> None:
    # From (1, 2) to (2.3, 2), the cone at (2, 2.4): to the left, 0.4 m at closest. At the end it is 0.3 m
    # behind and 0.4 m to the left: distance 0.5, bearing pi - atan(4 / 3). Seen from the cone the drone
    # starts 1 m back and ends 0.3 m on, so it turns by atan(1 / 0.4) + atan(0.3 / 0.4), counter-clockwise.
    facts = measure_manoeuvre(flight(line(1, 2.3), 0.2, cone=(2, 2.4)), 0, "pass", ["cone"])
    assert facts is not None
    assert (facts.side, facts.end_relation, facts.end_side) == ("left", "just past", "left")
    assert facts.closest[0] == pytest.approx(0.4, abs=0.002)
    assert (facts.end_distance, facts.length) == pytest.approx((0.5, 1.3))
    assert facts.around == pytest.approx(math.atan(2.5) + math.atan(0.75))
    assert facts.end_bearing == facts.bearing == pytest.approx(math.pi - math.atan(4 / 3))
    assert (facts.bend, facts.turn, facts.corner) == pytest.approx((0.0, -0.2, -0.2))
    assert plain_instruction(facts) == "Fly past the cone, keeping it on your left, and stop just past it."


def test_half_way_around() -> None:
    # A half circle of 0.5 m about the cone, counter-clockwise from due south to due north of it. Chords of a
    # circle turn as evenly as the circle does, so the headings at both ends come out: east, then west.
    angles = np.linspace(-math.pi / 2, math.pi / 2, 28)
    points = [(2 + 0.5 * math.cos(a), 2 + 0.5 * math.sin(a)) for a in angles]
    facts = measure_manoeuvre(flight(points, 0.0, cone=(2, 2)), 0, "around", ["cone"])
    assert facts is not None
    assert (facts.side, facts.end_relation, facts.end_side) == ("left", "beside", "left")
    assert (facts.around, facts.bend) == pytest.approx((math.pi, math.pi), abs=0.02)
    assert facts.turn == pytest.approx(0.0, abs=0.02)
    assert plain_instruction(facts).startswith("Go half around the cone counter-clockwise, keeping it on your left")
    back = measure_manoeuvre(flight(points[::-1], 0.0, cone=(2, 2)), 0, "around", ["cone"])
    assert back is not None
    assert back.side == "right"
    assert back.bend == pytest.approx(-math.pi, abs=0.02)


@pytest.mark.parametrize("sign", [1, -1])
def test_three_quarters_around_are_no_quarter_the_other_way(sign: int) -> None:
    # From north-west of the cone over south to north-east of it: the heading at the end is the one at the beginning
    # and a quarter turn to the other side, but what was flown are three quarters.
    angles = np.radians(np.linspace(135, 405, 42))
    points = [(2 + sign * 0.5 * math.cos(a), 2 + 0.5 * math.sin(a)) for a in angles]
    facts = measure_manoeuvre(flight(points, 0.0, cone=(2, 2)), 0, "around", ["cone"])
    assert facts is not None
    assert facts.side == ("left" if sign > 0 else "right")
    assert (facts.around, facts.bend) == pytest.approx((sign * 1.5 * math.pi, sign * 1.5 * math.pi), abs=0.03)
    assert "most of the way around the cone" in plain_instruction(facts)


def test_between_names_the_left_one_first() -> None:
    episode = flight(line(1, 2.3), 0.0, south=(2, 1.4), north=(2, 2.55))
    facts = measure_manoeuvre(episode, 0, "between", ["south", "north"])
    assert facts is not None
    assert facts.objects == ("north", "south")
    assert facts == measure_manoeuvre(episode, 0, "between", ["north", "south"])
    assert facts.end_object == "north"  # 0.3 on and 0.55 aside against 0.3 and 0.6
    assert plain_instruction(facts) == (
        "Fly between the north on your left and the south on your right and stop just past the north."
    )


def test_approach_and_what_is_passed_on_the_way() -> None:
    # The drone faces north and flies east: a right turn of a quarter. The mug is 0.5 m to the right half-way.
    episode = flight(line(1, 2.5), math.pi / 2, cone=(3.1, 2), mug=(1.8, 1.5), far=(1.8, 3.0))
    facts = measure_manoeuvre(episode, 0, "approach", ["cone"])
    assert facts is not None
    assert (facts.side, facts.end_relation) == (None, "in front of")
    assert facts.end_distance == pytest.approx(0.6)
    assert facts.turn == pytest.approx(-math.pi / 2)
    assert [(p.name, p.side) for p in facts.passed] == [("mug", "right")]
    assert plain_instruction(facts) == "Turn right and fly to the cone and stop in front of it."


def test_beside() -> None:
    facts = measure_manoeuvre(flight(line(1, 2), 0.0, cone=(2, 1.5)), 0, "beside", ["cone"])
    assert facts is not None
    assert facts.end_bearing == pytest.approx(-math.pi / 2)
    assert plain_instruction(facts) == "Fly to the cone and stop beside it with it on your right."


def test_a_manoeuvre_that_was_not_flown_has_no_facts() -> None:
    episode = flight(line(1, 2.3), 0.0, cone=(2, 2.4), tree=(3.5, 2), rock=(3.5, 4))
    assert measure_manoeuvre(episode, 0, "around", ["cone"]) is None  # a straight line
    assert measure_manoeuvre(episode, 0, "beside", ["cone"]) is None  # goes on past it
    assert measure_manoeuvre(episode, 0, "pass", ["tree"]) is None  # not reached
    assert measure_manoeuvre(episode, 0, "approach", ["tree"]) is None  # the cone is nearer
    assert measure_manoeuvre(episode, 0, "between", ["tree", "rock"]) is None  # further on


# Generated demonstrations -------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), few=st.booleans())
def test_paths_are_clear_in_bounds_and_flyable(seed: int, few: bool) -> None:
    episode, facts = generate_episode("e", "dev", NAMES[:8] if few else NAMES, np.random.default_rng(seed))
    path = episode.path
    assert len(facts) == len(episode.segments) in (4, 5)
    for placed in episode.objects:
        assert np.hypot(path[:, 0] - placed.x, path[:, 1] - placed.y).min() >= 0.30
    assert path.min() >= 0.43
    assert path.max() <= 4.7 - 0.43
    steps = np.hypot(*np.diff(path, axis=0).T)
    assert steps[:-1] == pytest.approx(0.06, abs=0.03)  # chords of sharp corners are shorter
    assert 0.028 < steps[-1] < 0.062
    assert episode.segments[-1].end == len(path) - 1
    for i in range(len(episode.segments)):
        first, last = episode.bounds(i)
        assert 0.6 <= steps[first:last].sum() <= 2.7 + 1e-9
        # Away from the corners nothing bends by more than 2.8 rad per metre, over any 24 cm.
        inner = np.unwrap(np.arctan2(*np.diff(path[first + 5 : last - 4], axis=0).T[::-1]))
        if len(inner) > 4:
            assert np.abs(inner[4:] - inner[:-4]).max() <= 2.8 * 0.24 + 0.06  # and the millimetre grid


@pytest.mark.parametrize(("metres", "last"), [(1.055, 1.02), (1.075, 1.06), (1.09, 1.08)])
def test_a_path_ends_where_its_last_leg_does(metres: float, last: float) -> None:
    # The sketch has steps of 2 cm, to 1.04, 1.06 and 1.08 m; those of 6 cm lead to 1.02 m. What is left of it is a step
    # of its own if it is more than half of one: 4 and 6 cm are, 2 cm are not.
    end, cone, config = (1 + metres, 2.0), PlacedObject("cone", 2.7, 2.0, 0.0), PathConfig()
    leg = Leg("approach", (0,), (Line((1.0, 2.0), end),))
    flown = FlownLeg(leg, leg.points(np.random.default_rng(0), 0.0), np.zeros((0, 3)))
    made = finish_episode("e", "train", (cone,), [flown], np.random.default_rng(0), config, yaw=0.0)
    assert made is not None
    assert made[0].path[0] == pytest.approx((1.0, 2.0))
    assert made[0].path[-1] == pytest.approx((1 + last, 2.0))


def test_paths_do_not_fly_back_along_themselves(made: list[Made]) -> None:
    for episode, _ in made:
        path = episode.path
        heading = np.arctan2(*np.diff(path, axis=0).T[::-1])
        apart = np.hypot(*(path[:-1, None] - path[None, :-1]).transpose(2, 0, 1))
        parallel = np.abs(np.cos(heading[:, None] - heading[None])) > 0.94
        earlier = np.tri(len(heading), k=-8, dtype=bool)
        retraced = (earlier & parallel & (apart < 0.10)).any(axis=1)
        for i in range(len(episode.segments)):
            first, last = episode.bounds(i)
            assert retraced[first:last].sum() * 0.06 <= 0.6  # 0.3 m was allowed; shallow crossings add some


def fitted_heading(path: np.ndarray, index: int, forward: int) -> float:
    """Direction of travel at a boundary, by a parabola through the points 18 to 54 cm beyond it."""
    beyond = path[index::forward][:12]
    arc = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(beyond, axis=0).T))])
    use = (arc > 0.17) & (arc < 0.55)
    dx, dy = (np.polyfit(arc[use], beyond[use, axis], 2)[1] * forward for axis in (0, 1))
    return math.atan2(dy, dx)


def test_facts_follow_from_the_stored_path(made: list[Made]) -> None:
    """Re-derive every fact from the JSON of the episode, by other means than ``measure_manoeuvre``."""
    for episode, manoeuvres in made:
        again = Episode.from_json(json.loads(json.dumps(episode.to_json())))
        where = {o.name: complex(o.x, o.y) for o in again.objects}
        track = again.path[:, 0] + 1j * again.path[:, 1]
        for i, m in enumerate(manoeuvres):
            assert measure_manoeuvre(again, i, m.kind, m.objects) == m
            first, last = again.bounds(i)
            flown = track[first : last + 1]
            assert m.length == pytest.approx(np.abs(np.diff(flown)).sum())
            assert m.closest == pytest.approx([np.abs(flown - where[n]).min() for n in m.objects])
            polar = np.unwrap(np.angle(flown - where[m.objects[0]]))
            assert m.around == pytest.approx(polar[-1] - polar[0])
            assert m.end_object == min(where, key=lambda n: abs(where[n] - flown[-1]))
            assert m.end_distance == pytest.approx(abs(where[m.end_object] - flown[-1]))

            depart = fitted_heading(again.path, first, 1)
            arrive = fitted_heading(again.path, last, -1)
            assert abs(wrap(m.turn - (depart - again.pose(i).yaw))) < 0.25
            if i:
                assert abs(wrap(m.corner - (depart - fitted_heading(again.path, first, -1)))) < 0.4
            assert abs(wrap(m.bend - (arrive - depart))) < 0.4
            seen = np.angle((where[m.end_object] - flown[-1]) * np.exp(-1j * arrive))
            assert abs(wrap(m.end_bearing - seen)) < 0.25
            expected = np.searchsorted([50, 109], math.degrees(abs(m.end_bearing)))
            assert m.end_relation == ("in front of", "beside", "just past")[expected]
            assert m.end_side == (None if expected == 0 else "left" if m.end_bearing > 0 else "right")
            check_kind(m, flown, where)


def check_kind(m: Manoeuvre, flown: np.ndarray, where: dict[str, complex]) -> None:
    if m.kind == "approach":
        assert (m.side, m.end_object, m.end_relation) == (None, m.objects[0], "in front of")
        return
    if m.kind != "between":  # the cross product where it comes closest, but clear of the rounded corners
        k = min(max(int(np.abs(flown - where[m.objects[0]]).argmin()), 4), len(flown) - 5)
        aside = (where[m.objects[0]] - flown[k]) / (flown[k + 1] - flown[k - 1])
        assert m.side == ("left" if aside.imag > 0 else "right")
    sign = 1 if m.side == "left" else -1
    if m.kind == "between":
        # With the left object at 0 and the right one at 1, the path crosses upwards between them, once.
        left, right = (where[n] for n in m.objects)
        frame = (flown - left) / (right - left)
        crossing = np.flatnonzero(np.diff(np.sign(frame.imag)))
        inside = [k for k in crossing if 0 < frame[k].real < 1]
        assert len(inside) == 1
        assert frame[inside[0] + 1].imag > frame[inside[0]].imag
    elif m.kind == "around":
        assert sign * m.bend >= 0.9
        assert sign * m.around >= 0.9
    elif m.kind == "beside":
        assert (m.end_object, m.end_relation, m.end_side) == (m.objects[0], "beside", m.side)
    else:
        assert sign * m.bearing > math.radians(109)  # it is behind at the end


def test_instructions_tell_the_facts(made: list[Made]) -> None:
    for episode, manoeuvres in made:
        for segment, m in zip(episode.segments, manoeuvres, strict=True):
            text = segment.instruction
            assert text == plain_instruction(m)
            assert all(name in text for name in (*m.objects, m.end_object))
            if m.kind in ("pass", "around", "beside"):
                assert f"it on your {m.side}" in text
            if text.startswith("Turn"):
                assert ("left" if m.corner > 0 else "right") in text.split(" and ")[0]


def test_every_kind_occurs_and_sizes_are_natural(made: list[Made]) -> None:
    facts = [m for _, manoeuvres in made for m in manoeuvres]
    shares = {kind: n / len(facts) for kind, n in Counter(m.kind for m in facts).items()}
    assert set(shares) == {"approach", "pass", "around", "between", "beside"}
    assert min(shares.values()) > 0.05
    # Natural corpus, 5 / 50 / 95 %: lengths 0.72 / 1.56 / 2.51 m, closest 0.32 / 0.43 / 0.57 m.
    assert np.percentile([m.length for m in facts], [5, 50, 95]) == pytest.approx([0.75, 1.56, 2.5], abs=0.15)
    off = [abs(manoeuvres[0].turn) for _, manoeuvres in made]
    assert np.median(off) == pytest.approx(0.33, abs=0.12)


def test_episodes_depend_on_seed_and_index_only(made: list[Made]) -> None:
    again = list(generate_episodes("train", 4, 3, set(NAMES), first=50))
    assert again == made[50:54]
    assert [e.id for e, _ in again[:2]] == ["train-g3-000050", "train-g3-000051"]
    (other,) = generate_episodes("train", 1, 4, NAMES, first=50)
    assert other[0].objects != again[0][0].objects


def test_settings_that_leave_no_path() -> None:
    with pytest.raises(WaywordError, match="seed must not be negative"):
        next(generate_episodes("train", 1, -1, NAMES))
    config = PathConfig(object_clearance_m=0.9, layout=replace(LayoutConfig(), min_objects=12))
    with pytest.raises(WaywordError, match="no path fits these settings"):
        generate_episode("e", "train", NAMES, np.random.default_rng(0), config)
