"""Which velocities are safe, said again by angles and distances, and a search for one that is nearer to the wish."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wayword.flight.clearance import CREEP_M_S, MIDDLE_M, STILL_M_S, Around, cleared, joined_discs, squeezed_discs

Disc = tuple[float, float, float]
KEEP, AHEAD = 0.18, 0.9
FAN = np.array(
    [(share * math.cos(angle), share * math.sin(angle))
     for share in np.linspace(0, 1, 15) for angle in np.linspace(-math.pi, math.pi, 73)]
)  # fmt: skip


def allowed(
    u: np.ndarray,
    place: np.ndarray,
    rest: np.ndarray,
    wish: np.ndarray,
    things: list[Disc],
    slack: float,
    patient: bool,
) -> np.ndarray:
    """(N,) velocities that keep clear of all things: of where it comes to rest, and of the way there."""
    ok, soon = np.ones(len(u), bool), AHEAD * math.hypot(*wish)
    size = np.hypot(*u.T)
    for x, y, radius in things:
        wide, to = radius + KEEP, np.array([x, y]) - rest
        away = math.hypot(*to)
        way = rest - place
        if math.hypot(*way) > 1e-4:
            part = float(np.dot((x, y) - place, way) / np.dot(way, way))
            across = np.array([x, y]) - (place + part * way)
            gap = math.hypot(*across) - wide
            if 0.05 < part < 1 and gap < soon:
                nearer = u @ (across / math.hypot(*across)) * part * AHEAD
                ok &= nearer <= max(gap, 0.0) + slack
        if away - wide >= soon:
            continue
        closing = u @ (to / away)
        if away <= wide:
            most = max((away - wide) / AHEAD, -CREEP_M_S / 2)
            ok &= closing <= (max(most, 0.0) if patient else most) + slack
            continue
        beside = np.arccos(np.clip(closing / np.maximum(size, 1e-12), -1, 1))
        past = beside >= math.asin(wide / away) - slack * 10
        ok &= (closing * AHEAD <= away - wide + slack) | past | (size < 1e-9)
    return ok


@pytest.mark.parametrize("seed", range(12))
def test_what_is_flown_is_safe_and_nothing_safe_is_nearer_to_the_wish(seed: int) -> None:
    """With a way to rest, and with groups: first both are kept, else the things, else it creeps nearer to none."""
    rng = np.random.default_rng(seed)
    seen = set()
    for _ in range(20):
        place = rng.uniform(1, 3, 2)
        heading = rng.uniform(-math.pi, math.pi)
        ahead = np.array([math.cos(heading), math.sin(heading)])
        rest = place + rng.choice([0.0, 0.3, 0.8]) * ahead + rng.normal(0, 0.05, 2) * rng.integers(2)
        speed = float(rng.choice([0.05, 0.3, 0.7]))
        wish = speed * ahead
        things = [
            (float(x), float(y), float(r))
            for x, y, r in np.column_stack([place + rng.normal(0, 0.8, (6, 2)), rng.uniform(0.05, 0.3, 6)])
        ]
        groups = [disc for disc in joined_discs(things, KEEP) if disc not in things] if seed % 2 else []
        around = Around(KEEP, AHEAD, math.pi)
        found = np.array(cleared(tuple(place), tuple(rest), heading, tuple(wish), things, around, groups))

        def safe(u: np.ndarray, discs: list[Disc], slack: float, patient: bool = False) -> np.ndarray:
            back = u @ ahead >= -CREEP_M_S - slack  # noqa: B023
            return back & allowed(u, place, rest, wish, discs, slack, patient)  # noqa: B023

        if safe(wish[None], [*things, *groups], -1e-9).all():
            assert found == pytest.approx(wish)
            seen.add("as wished")
            continue
        fan = max(speed, CREEP_M_S) * FAN
        for discs, patient, asked, name in (
            ([*things, *groups], False, wish, "clear of all"),
            (things, False, wish, "clear of things"),
            (things, True, wish * min(CREEP_M_S / speed, 1.0), "no nearer"),
        ):
            if patient and not groups:
                continue
            among = fan[safe(fan, discs, -1e-5, patient)]
            if len(among):
                assert safe(found[None], discs, 1e-6, patient).all()
                assert math.dist(found, asked) <= np.hypot(*(among - asked).T).min() + 1e-6
                seen.add(name)
                break
        else:
            seen.add("nothing")
    assert {"as wished", "clear of all"} <= seen


def test_the_camera_looks_ahead_and_elsewhere_it_creeps() -> None:
    """What leads more than 0.7 rad beside the heading is flown in the same direction, at 0.2 m/s at most."""
    rng = np.random.default_rng(3)
    crept = 0
    for _ in range(60):
        heading = rng.uniform(-math.pi, math.pi)
        wish = (0.6 * math.cos(heading), 0.6 * math.sin(heading))
        things = [(*rng.normal(0, 0.6, 2).tolist(), 0.15) for _ in range(4)]
        anywhere = cleared((0.0, 0.0), (0.0, 0.0), heading, wish, things, Around(KEEP, AHEAD, math.pi))
        ahead = cleared((0.0, 0.0), (0.0, 0.0), heading, wish, things, Around(KEEP, AHEAD))
        size, beside = math.hypot(*anywhere), math.remainder(math.atan2(*anywhere[::-1]) - heading, 2 * math.pi)
        share = CREEP_M_S / size if abs(beside) > 0.7 and size > CREEP_M_S else 1.0
        assert ahead == pytest.approx((share * anywhere[0], share * anywhere[1]), abs=1e-12)
        crept += share < 1
    assert crept > 5


def test_numbers_of_the_page() -> None:
    assert (CREEP_M_S, STILL_M_S, MIDDLE_M) == (0.2, 0.1, 0.01)
    assert Around(0.1, 0.5).side_rad == 0.7


@pytest.mark.parametrize(("others", "steers"), [(24, True), (25, False)])
def test_for_more_than_two_dozen_demands_it_only_slows_down(others: int, steers: bool) -> None:
    # Half a metre ahead something to go past; nearer than that, behind the drone, so many that ask for nothing.
    behind = [(-0.35 - 0.0001 * k, 0.0, 0.05) for k in range(others)]
    around = Around(0.13, 1.25, math.pi)
    ux, uy = cleared((0.0, 0.0), (0.0, 0.0), 0.0, (0.7, 0.0), [*behind, (0.5, 0.01, 0.1)], around)
    assert (abs(uy) > 0.2) == steers
    assert steers or ux == pytest.approx((math.hypot(0.5, 0.01) - 0.23) / 1.25, abs=1e-3)


@pytest.mark.parametrize(("radius", "steers"), [(0.3, True), (0.1, False)])
def test_the_nearest_are_those_whose_surface_is_nearest(radius: float, steers: bool) -> None:
    # A large thing whose middle is 0.6 m away and more things of 2 cm behind, 0.5 m away, than are looked past.
    behind = [(-0.5 - 0.0001 * k, 0.0, 0.02) for k in range(25)]
    around = Around(0.1, 1.25, math.pi)
    _, uy = cleared((0.0, 0.0), (0.0, 0.0), 0.0, (0.6, 0.0), [*behind, (0.6, 0.01, radius)], around)
    assert (abs(uy) > 0.2) == steers


def test_things_far_off_ask_for_nothing_and_near_ones_do() -> None:
    # 0.5 m/s for 1 s reach 0.5 m: at 0.2 + 0.5 m it would just be touched.
    around = Around(0.1, 1.0, math.pi)
    for away, clear in ((0.701, True), (0.699, False)):
        found = cleared((0.0, 0.0), (0.0, 0.0), 0.0, (0.5, 0.0), [(away, 0.0, 0.1)], around)
        assert (found == (0.5, 0.0)) == clear


@pytest.mark.parametrize(("part", "kept"), [(0.04, False), (0.06, True), (0.99, True), (1.01, False)])
def test_the_way_to_rest_counts_between_its_ends(part: float, kept: bool) -> None:
    # It comes to rest a metre on; a thing beside that way, touching it. Sideways the way would move into it.
    thing = (part, 0.3, 0.2)
    around = Around(0.1, 1.0, math.pi)
    found = cleared((0.0, 0.0), (1.0, 0.0), math.pi / 2, (0.0, 0.3), [thing], around)
    alone = cleared((1.0, 0.0), (1.0, 0.0), math.pi / 2, (0.0, 0.3), [thing], around)
    assert (found == alone) == (not kept)


def test_a_way_that_is_already_too_near_comes_no_nearer() -> None:
    thing, around = (0.5, 0.25, 0.2), Around(0.1, 1.0, math.pi)
    assert cleared((0.0, 0.0), (1.0, 0.0), math.pi / 2, (0.0, 0.3), [thing], around) == pytest.approx((0.0, 0.0))


@pytest.mark.parametrize("seed", range(6))
def test_groups_are_those_that_hang_together(seed: int) -> None:
    """By hand: whoever can be reached from thing to thing across gaps that are too narrow is of one group."""
    rng = np.random.default_rng(seed)
    for _ in range(30):
        discs = [(float(x), float(y), float(r)) for x, y, r in rng.uniform((0, 0, 0.05), (3, 3, 0.25), (7, 3))]
        mark = list(range(len(discs)))
        for _ in discs:
            for i, (x, y, r) in enumerate(discs):
                for j, (a, b, s) in enumerate(discs):
                    if math.dist((x, y), (a, b)) - r - s < 2 * 0.15:
                        mark[i] = mark[j] = min(mark[i], mark[j])
        wanted = []
        for label in set(mark):
            own = [disc for disc, its in zip(discs, mark, strict=True) if its == label]
            low, high = np.min(own, axis=0), np.max(own, axis=0)
            middle = ((low[0] + high[0]) / 2, (low[1] + high[1]) / 2)
            wide = max(math.dist(middle, (x, y)) + r for x, y, r in own)
            wanted += [(*middle, wide)] if wide <= 0.8 else own
        found = joined_discs(discs, 0.15)
        assert sorted(found) == [pytest.approx(disc) for disc in sorted(wanted)]


@pytest.mark.parametrize(("apart", "count"), [(0.599, 1), (0.601, 2)])
def test_a_group_is_no_wider_than_80_centimetres(apart: float, count: int) -> None:
    # Two of 0.5 m: as one disc, half of their distance and 0.5 m.
    assert len(joined_discs([(0.0, 0.0, 0.5), (apart, 0.0, 0.5)], 0.1)) == count


def test_who_stands_before_a_gap_keeps_less_there_and_only_there() -> None:
    """0.08 m of hull and a hundredth of a metre beside the middle; what is left is between 0.04 and 0.10 m."""
    for gap, kept in ((0.25, 0.10), (0.262, 0.041), (0.30, 0.06), (0.37, 0.095), (0.381, 0.10), (0.6, 0.10)):
        left, right = (0.0, 0.0, 0.2), (0.4 + gap, 0.0, 0.2)
        for disc, whole in zip(squeezed_discs([left, right], 0.08, 0.10, 0.04), (left, right), strict=True):
            assert disc == pytest.approx((*whole[:2], 0.2 - (0.10 - kept)))
    # Of several gaps beside one thing the narrowest that is one counts.
    three = [(0.0, 0.0, 0.2), (0.7, 0.0, 0.2), (0.0, 0.74, 0.2)]
    assert squeezed_discs(three, 0.08, 0.10, 0.04)[0][2] == pytest.approx(0.16)


@pytest.mark.parametrize(("count", "narrower"), [(50, True), (51, False)])
def test_among_more_than_fifty_things_nothing_is_squeezed(count: int, narrower: bool) -> None:
    things = [(0.7 * k, 0.0, 0.2) for k in range(count)]
    assert (squeezed_discs(things, 0.08, 0.10, 0.04)[0][2] < 0.2) == narrower
