"""Ways around things, and what to do when one does not get on, against the same rules said plainly."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from wayword.camera import Camera
from wayword.mapping.grid import CELL_M, PREDICTION_CELLS, UNOBSERVED, prediction_centres, to_frame, to_world
from wayword.policy.steps import look_again as looking
from wayword.policy.steps import progress as stuck
from wayword.policy.steps import search as looking_for
from wayword.policy.steps.follow import FollowConfig, follow, present_speed
from wayword.policy.steps.held_up import HeldUp, HeldUpConfig, believed_goal, out_of
from wayword.policy.steps.look_again import look_again
from wayword.policy.steps.planned import planned_distributions
from wayword.policy.steps.progress import Progress
from wayword.policy.steps.route import _cost, _search, _straight_cost, _straightened, clearance, is_way_free, route
from wayword.policy.steps.search import Search
from wayword.policy.steps.straight import is_there, to_edge_m
from wayword.policy.steps.surroundings import TrueLayout

SEEDS = st.integers(0, 10**9)
NOTHING = np.zeros((0, 3))


def wrapped(angle: float) -> float:
    return math.atan2(math.sin(angle), math.cos(angle))


def some_discs(rng: np.random.Generator, count: int, side: float = 4.7) -> np.ndarray:
    return np.column_stack([rng.uniform(0, side, (count, 2)), rng.uniform(0.1, 0.5, count)])


# Ways ------------------------------------------------------------------------------------------------------


def plain_cost(x: float, y: float, discs: np.ndarray, side: float) -> float:
    """Per metre: a hundred within 10 cm of the edge, 400 in a disc, from ten down to one within 32 cm of it."""
    if min(x, y, side - x, side - y) < 0.1:
        return 100.0
    room = min((math.dist((x, y), disc[:2]) - disc[2] for disc in discs.tolist()), default=math.inf)
    if room < 0:
        return 400.0
    return 1.0 + 9.0 * (1 - room / 0.32) ** 2 if room < 0.32 else 1.0


def plain_straight(p: np.ndarray, q: np.ndarray, discs: np.ndarray, side: float) -> float:
    length = math.dist(p, q)
    count = int(length / 0.025) + 1
    return sum(plain_cost(*(p + (k + 0.5) / count * (q - p)), discs, side) for k in range(count)) * length / count


@settings(max_examples=60, derandomize=True)
@given(SEEDS)
def test_what_a_straight_piece_costs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    discs = some_discs(rng, int(rng.integers(0, 4)))
    p, q = rng.uniform(0, 4.7, 2), rng.uniform(0, 4.7, 2)
    assert _cost(*p, discs, 4.7) == pytest.approx(plain_cost(*p, discs, 4.7))
    assert _straight_cost(*p, *q, discs, 4.7) == pytest.approx(plain_straight(p, q, discs, 4.7))


@settings(max_examples=12, derandomize=True)
@given(SEEDS)
def test_no_way_over_the_cells_is_cheaper(seed: int) -> None:
    rng = np.random.default_rng(seed)
    side, count = 1.5, 30
    discs, start, goal = some_discs(rng, 4, side) * (1, 1, 0.5), rng.uniform(0, side, 2), rng.uniform(0, side, 2)
    cost = np.array([[plain_cost((j + 0.5) / 20, (i + 0.5) / 20, discs, side) for j in range(count)]
                     for i in range(count)])  # fmt: skip
    ways: dict[tuple[int, int], float] = {}
    for i, j in np.ndindex(count, count):
        for u, v in ((i, j + 1), (i + 1, j - 1), (i + 1, j), (i + 1, j + 1)):
            if 0 <= u < count and 0 <= v < count:
                ways[i * count + j, u * count + v] = (cost[i, j] + cost[u, v]) / 2 * math.dist((i, j), (u, v))
    graph = csr_array((list(ways.values()), np.array(list(ways)).T), shape=(count**2, count**2))
    first, last = ((p / 0.05).astype(int) for p in (start, goal))
    wanted = dijkstra(graph, directed=False, indices=first[1] * count + first[0])[last[1] * count + last[0]]
    cells = _search(start, goal, discs, side, count).astype(int)
    assert cells[0].tolist() == first.tolist()
    assert cells[-1].tolist() == last.tolist()
    total = sum(
        (cost[a[1], a[0]] + cost[b[1], b[0]]) / 2 * math.dist(a, b) for a, b in pairwise(cells.tolist())
    )  # fmt: skip
    assert total == pytest.approx(wanted)
    # Outside of the grid it is its nearest cell that counts.
    beyond = _search(np.array([-0.3, side + 0.2]), np.array([side + 1, -1.0]), discs, side, count).astype(int)
    assert (beyond[0].tolist(), beyond[-1].tolist()) == ([0, count - 1], [count - 1, 0])


@settings(max_examples=25, derandomize=True)
@given(SEEDS)
def test_a_way_leaves_out_the_corners_that_save_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    discs = some_discs(rng, 6)
    a, b = rng.uniform(0.2, 4.5, (2, 2))
    way = route(a, b, discs)
    if plain_straight(a, b, discs, 4.7) <= 1.02 * math.dist(a, b):
        np.testing.assert_array_equal(way, [a, b])
        return
    points = np.concatenate([[a], (_search(a, b, discs, 4.7, 94) + 0.5) * 0.05, [b]])
    pieces = [plain_straight(p, q, discs, 4.7) for p, q in pairwise(points)]
    corners, at = [0], 0
    while at < len(points) - 1:
        ahead = len(points) - 1
        while ahead > at + 1 and plain_straight(points[at], points[ahead], discs, 4.7) > sum(pieces[at:ahead]) + 1e-6:
            ahead -= 1 if ahead - at < 8 else (ahead - at) // 4
        corners.append(ahead)
        at = ahead
    np.testing.assert_array_equal(way, points[corners])
    np.testing.assert_array_equal(_straightened(points, discs, 4.7), way)


@settings(max_examples=150, derandomize=True)
@given(SEEDS)
def test_a_way_is_free_if_none_of_its_points_is_in_a_disc(seed: int) -> None:
    rng = np.random.default_rng(seed)
    discs, a, b = some_discs(rng, 4), rng.uniform(0, 4.7, 2), rng.uniform(0, 4.7, 2)
    points = np.linspace(a, b, 3000)
    room = (np.hypot(*(points[:, None] - discs[:, :2]).transpose(2, 0, 1)) - discs[:, 2]).min(axis=1)
    assert clearance(a, discs) == pytest.approx(room[0])
    assume(abs(room.min()) > 1e-3)
    assert is_way_free(a, b, discs) == (room.min() > 0)
    assert is_way_free(a, a, discs) == (room[0] > 0)
    assert is_way_free(a, b, NOTHING)
    assert clearance(a, NOTHING) > 1e6


# Held up ---------------------------------------------------------------------------------------------------


@settings(max_examples=60, derandomize=True)
@given(SEEDS)
def test_the_goal_is_where_it_is_likeliest_and_out_of_what_stands_there(seed: int) -> None:
    rng = np.random.default_rng(seed)
    start = np.array([*rng.uniform(0, 4.7, 2), rng.uniform(-4, 4)])
    distribution = rng.random(UNOBSERVED + 1).astype(np.float32) * 1e-4
    row, column = rng.choice([0, 20, 31, 45, 63], 2)
    distribution[row * PREDICTION_CELLS + column] = 0.5
    total, place = 0.0, np.zeros(2)
    for i in range(max(row - 1, 0), min(row + 2, 64)):
        for j in range(max(column - 1, 0), min(column + 2, 64)):
            p = float(distribution[i * 64 + j])
            total, place = total + p, place + p * prediction_centres()[i, j]
    goal = believed_goal(distribution, start)
    assert goal == pytest.approx(tuple(np.clip(to_world(place / total, start), 0, 4.7)), abs=1e-6)
    discs = np.column_stack([np.array(goal) + rng.normal(0, 0.3, (3, 2)), rng.uniform(0.1, 0.5, 3)])
    depths = [r + 0.03 - math.dist(goal, (x, y)) for x, y, r in discs.tolist()]
    found = out_of(goal, discs, 0.03)
    if max(depths) <= 0:
        assert found == goal
    else:
        x, y, r = discs[int(np.argmax(depths))]
        angle = math.atan2(goal[1] - y, goal[0] - x)
        assert found == pytest.approx((x + (r + 0.03) * math.cos(angle), y + (r + 0.03) * math.sin(angle)))


@settings(max_examples=80, derandomize=True)
@given(SEEDS)
def test_a_leg_decision_by_decision(seed: int) -> None:
    rng = np.random.default_rng(seed)
    start, discs = np.array([1.0, 1.0, 0.3]), some_discs(rng, 2)
    distribution = np.zeros(UNOBSERVED + 1, np.float32)
    distribution[31 * 64 + 45], distribution[UNOBSERVED] = 0.6, rng.choice([0.0, 0.49, 0.51])
    goal = out_of(believed_goal(distribution, start), discs, 0.03)
    held_up, here = HeldUp(), np.array([2.0, 2.0, 0.0])
    if rng.random() < 0.3:
        here[:2] = goal[0] + rng.choice([0.11, 0.13]), goal[1]
    still, direct, asked, last = 0, False, 0.0, None
    for decision in range(45):
        if last is not None:
            still = 0 if math.dist(here[:2], last[:2]) > 0.03 or abs(wrapped(here[2] - last[2])) > 0.05 else still + 1
        motion = held_up.decide(here, distribution, start, discs)
        speed = 0.0 if last is None else present_speed(math.dist(here[:2], last[:2]), asked)
        if direct and still >= 8:
            assert motion == (0.0, 0.0, 1.0)
            return
        direct = direct or still >= 2 or decision >= 36
        assert held_up.direct == direct
        last = here.copy()
        if not direct or distribution[UNOBSERVED] > 0.5:
            assert motion is None
        elif math.dist(goal, here[:2]) < 0.12:
            assert motion == (0.0, 0.0, 1.0)
            return
        else:
            wanted = follow(here, route(here[:2], goal, discs), True, FollowConfig(), discs, speed)
            assert motion == pytest.approx((*wanted, 0.0))
            asked = wanted[0]
        here += rng.choice([[0.0, 0.0, 0.0], [0.02, 0.0, 0.04], [0.04, 0.0, 0.0], [0.0, 0.0, -0.06]])


def test_the_numbers_that_are_documented() -> None:
    assert HeldUpConfig() == HeldUpConfig(2, 0.03, 0.05, 36, 0.5, 0.12, 0.03, 8)
    assert (stuck.STILL, stuck.NO_NEARER, looking.LOOKS, looking.MOST) == (5, 12, 4, 2)


# Stuck -----------------------------------------------------------------------------------------------------


@settings(max_examples=200, derandomize=True)
@given(SEEDS)
def test_stuck_is_still_five_times_or_no_nearer_twelve_times(seed: int) -> None:
    """Moves on both sides of 0.02 m and rad, ways that are longer or shorter by a little or by another way round."""
    rng, progress = np.random.default_rng(seed), Progress()
    still, no_nearer, ways, shortest, last, way = 0, 0, 1, math.inf, math.inf, 3.0
    rate = rng.uniform(0.2, 0.8)
    for _ in range(60):
        turned, gone = rng.choice([0.0, 0.019, -0.021, 0.3]), rng.choice([0.0, 0.019, 0.021], p=[0.6, 0.3, 0.1])
        progress.moved(turned, gone)
        still = 0 if abs(turned) > 0.02 or gone > 0.02 else still + 1
        if rng.random() < 0.02:
            progress.begin()
            no_nearer, ways, shortest, last = 0, 1, math.inf, math.inf
        elif rng.random() < 0.02:
            progress.give_up()
            still, no_nearer, ways, shortest, last = 0, 0, 1, math.inf, math.inf
        if rng.random() < rate:
            way += rng.choice([-0.5, -0.06, -0.04, 0.0, 0.39, 0.41])
        progress.has_left(way)
        other = way > last + 0.4 and ways < 3
        if other or way < shortest - 0.05:
            shortest, no_nearer = way, 0
        else:
            no_nearer += 1
        ways, last = ways + other, way
        assert progress.stuck == (still >= 5 or no_nearer >= 12)


@settings(max_examples=150, derandomize=True)
@given(SEEDS)
def test_looking_again_takes_the_first_place_with_room(seed: int) -> None:
    rng = np.random.default_rng(seed)
    here, towards = np.array([*rng.uniform(0.4, 4.3, 2), 0.0]), rng.uniform(0, 4.7, 2)
    discs = np.column_stack([here[:2] + rng.normal(0, 1, (4, 2)), rng.uniform(0.1, 0.45, 4)])
    ahead = math.atan2(towards[1] - here[1], towards[0] - here[0])
    blocked = here[:2] + 0.35 * np.array([math.cos(ahead), math.sin(ahead)])
    apart = np.hypot(*(discs[:, :2] - here[:2]).T)
    wanted = None
    for aside in (0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -1.5):
        for metres in (1.3, 1.1):
            angle = ahead + math.pi + aside
            place = blocked + metres * np.array([math.cos(angle), math.sin(angle)])
            room = (np.hypot(*(discs[:, :2] - place).T) - discs[:, 2]).min()
            within = place.min() >= 0.2 and place.max() <= 4.5
            if wanted is None and within and room > 0.05 and is_way_free(here, place, discs[apart > discs[:, 2]]):
                wanted = (*place, angle + math.pi)
    found = look_again(here, towards, discs)
    assert (found is None) == (wanted is None)
    if found is not None and wanted is not None:
        assert found.place == pytest.approx(wanted[:2])
        assert wrapped(found.heading - wanted[2]) == pytest.approx(0.0, abs=1e-9)


# Looking for things ----------------------------------------------------------------------------------------


def test_a_search_from_begin_to_end() -> None:
    """A drone that does at once what it is told, from a corner: every place that it looks from, and why."""
    search, around = Search(("rocket",)), TrueLayout({})
    here, places, seen_from = np.array([0.9, 0.8, 3.0]), [], [np.zeros(2)]
    for _ in range(400):
        motion = search.decide(here, around, NOTHING)
        if motion is None:
            break
        if motion == (0.0, 0.0):
            places.append((round(float(here[0]), 1), round(float(here[1]), 1)))
            seen_from.append(here[:2].copy())
        here = here + np.array([motion[0] * math.cos(here[2]), motion[0] * math.sin(here[2]), motion[1]]) * 0.5
    places.append((round(float(here[0]), 1), round(float(here[1]), 1)))
    assert search.over
    # (1.27, 1.27) is 0.6 m away and shows nothing new; the middle is nearest, then the corners, the nearest first;
    # after four places it gives up.
    viewpoints = [(2.35, 2.35), (1.27, 3.43), (3.43, 1.27), (3.43, 3.43)]
    assert places[0] == (0.9, 0.8)
    assert len(places) == 4
    assert all(min(math.dist(place, v) for v in viewpoints) < 0.2 for place in places[1:])
    assert math.dist(places[1], (2.35, 2.35)) < 0.2
    np.testing.assert_allclose(search._used, [*seen_from[1:], here[:2]])
    assert (looking_for._SEEN_FROM_M, looking_for._MOST_VIEWPOINTS, looking_for._SLOWLY) == (1.1, 3, 0.6)


@pytest.mark.parametrize(("radius", "place"), [(0.85, (2.35, 2.35)), (0.95, (3.43, 1.27))])
def test_a_viewpoint_needs_a_tenth_of_a_metre_of_room(radius: float, place: tuple[float, float]) -> None:
    # Two places are left. The nearer one, the middle, is a metre from the middle of a thing.
    search = Search(("rocket",))
    search._used = [(1.27, 1.27), (3.43, 3.43), (1.27, 3.43)]
    assert search._next_viewpoint(np.array([2.4, 2.0, 0.0]), np.array([[2.35, 3.35, radius]]))
    assert search._towards == pytest.approx(place, abs=0.01)


def test_a_search_ends_where_all_is_known_by_then_and_turns_nearly_once_round() -> None:
    known = TrueLayout({"globe": (1.0, 1.0)})
    for turn in (0.5, -0.5, 0.05):
        search, yaw, turns = Search(("globe",)), 0.0, 0
        while search.decide(np.array([2.0, 2.0, yaw]), known, NOTHING) == (0.0, 1.0):
            yaw, turns = wrapped(yaw + turn), turns + 1
        assert search.over
        assert turns == math.ceil((2 * math.pi - 0.6) / abs(turn))


def test_on_the_way_to_another_place_it_knows_how_fast_it_is() -> None:
    search, around = Search(("rocket",)), TrueLayout({})
    search._towards = (3.0, 1.0)
    here, discs = np.array([2.5, 1.0, 0.0]), np.array([[2.8, 1.6, 0.3]])
    for speed in (0.0, 0.6):
        wanted = follow(here, route((2.5, 1.0), (3.0, 1.0), discs), True, FollowConfig(), discs, speed)
        assert search.decide(here, around, discs, speed) == pytest.approx(wanted)
    assert search.decide(np.array([2.84, 1.0, 0.0]), around, NOTHING) != (0.0, 1.0)
    assert search.decide(np.array([2.86, 1.0, 0.0]), around, NOTHING) == (0.0, 1.0)  # 15 cm are there


# Straight ahead --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("is_", "inside", "outside"),
    [
        ("left", [70.01, 129.99], [69.99, 130.01, -90.0]),
        ("right", [-70.01, -129.99], [-69.99, -130.01, 90.0]),
        ("ahead", [27.99, -27.99], [28.01, -28.01]),
        ("behind", [128.01, -128.01, 180.0], [127.99, -127.99]),
        ("seen", [36.2, -36.2], [36.4, -36.4]),  # 42 degrees less 0.1 rad
    ],
)
def test_where_a_thing_is_said_to_be(is_: str, inside: list[float], outside: list[float]) -> None:
    here = np.array([2.0, 1.3, 0.4])
    for degrees, so in [*((d, True) for d in inside), *((d, False) for d in outside)]:
        angle = 0.4 + math.radians(degrees)
        assert is_there(is_, here, (2 + math.cos(angle), 1.3 + math.sin(angle)), Camera()) is so
    assert is_there("close", here, (2.0, 2.099), Camera())
    assert not is_there("close", here, (2.0, 2.101), Camera())


@given(st.floats(0.2, 4.5), st.floats(0.2, 4.5), st.floats(-3.1, 3.1))
def test_straight_on_to_the_edge(x: float, y: float, angle: float) -> None:
    direction = np.array([math.cos(angle), math.sin(angle)])
    assume(min(abs(direction)) > 1e-3)
    metres = to_edge_m(np.array([x, y]), direction)
    end = np.array([x, y]) + metres * direction
    assert 0.15 - 1e-9 <= end.min() <= end.max() <= 4.55 + 1e-9
    assert min(abs(end - 0.15).min(), abs(end - 4.55).min()) == pytest.approx(0.0, abs=1e-9)


# Planned ways on the map -----------------------------------------------------------------------------------


def test_a_planned_way_is_a_point_per_cell_and_its_end_the_goal() -> None:
    start = np.array([1.0, 2.0, math.pi / 2])
    way = np.array([[1.0, 2.0], [1.0, 3.0], [1.6, 3.0]])
    found = planned_distributions(way, start)
    points, arc = [], 0.0
    while arc < 1.6:
        points.append((1.0, 2.0 + arc) if arc < 1.0 else (arc, 3.0))
        arc += CELL_M
    points.append((1.6, 3.0))
    for row, some in enumerate((points, points[-1:])):
        total = np.zeros((64, 64))
        for u, v in to_frame(np.array(some), start):
            away = prediction_centres() - (u, v)
            total += np.exp(-(away**2).sum(axis=2) / (2 * CELL_M**2))
        np.testing.assert_allclose(found[row, :UNOBSERVED], (total / total.sum()).ravel(), atol=1e-6)
        assert found[row, UNOBSERVED] == 0
    for nowhere in (None, way[:1], way + 90.0):
        unknown = planned_distributions(nowhere, start)
        assert unknown[:, UNOBSERVED].tolist() == [1.0, 1.0]
        assert not unknown[:, :UNOBSERVED].any()
