"""What the flyer of steps believes to stand around it, and how it looks for what it does not know."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wayword.camera import Camera
from wayword.episodes.commands import Select
from wayword.episodes.format import Pose2
from wayword.language.reader import Thing
from wayword.mapping.landmarks import Landmark, Landmarks
from wayword.policy.steps.search import Search
from wayword.policy.steps.surroundings import DRONE_M, LARGEST_M, BelievedLayout, TrueLayout, in_view, solid_discs
from wayword.task import MAX_YAW_RATE_RAD_S

NAMES = ("globe", "duck", "cone")
NOTHING = np.zeros((0, 3))


def landmarks(*places: tuple[float, float, str]) -> Landmarks:
    """Things that were seen often, each surely what it is called."""
    marks = Landmarks(NAMES, Camera())
    for number, (x, y, name) in enumerate(places):
        evidence = np.full(len(NAMES) + 1, -20.0)
        evidence[NAMES.index(name)] = 0.0
        marks._all.append(Landmark(number, x, y, 0.1, evidence, 100.0, weight=9.0))
    return marks


def test_in_view_is_the_camera_less_a_margin() -> None:
    pose, camera = np.array([1.0, 1.0, math.pi / 2]), Camera(hfov_deg=80.0)
    half = math.radians(40) - 0.1
    for off, expected in ((0.0, True), (half - 0.01, True), (half + 0.01, False), (-half + 0.01, True), (3.0, False)):
        place = (1.0 + math.cos(math.pi / 2 + off), 1.0 + math.sin(math.pi / 2 + off))
        assert in_view(place, pose, camera) is expected


def test_a_true_layout_knows_everything_at_once() -> None:
    layout = TrueLayout({"globe": (1.0, 2.0), "duck": (3.0, 3.0)}, {"duck": 0.05})
    assert layout.where("globe") == (1.0, 2.0)
    assert layout.where("rocket") is None
    assert layout.sure("globe")
    assert not layout.sure("rocket")
    # The drone's radius is added to everything; where no radius is said, the largest there is.
    np.testing.assert_allclose(layout.discs(), [[1, 2, LARGEST_M + DRONE_M], [3, 3, 0.05 + DRONE_M]])
    assert TrueLayout({}).discs().shape == (0, 3)


def test_landmarks_are_as_large_as_things_can_be() -> None:
    discs = solid_discs(landmarks((1.0, 2.0, "globe")).confirmed)
    np.testing.assert_allclose(discs, [[1.0, 2.0, LARGEST_M + DRONE_M]])
    assert solid_discs([]).shape == (0, 3)


def test_a_name_is_looked_up_among_the_landmarks() -> None:
    marks = landmarks((1.0, 2.0, "globe"), (3.0, 3.0, "duck"))
    layout = BelievedLayout(marks, {"0": Thing("the ball", {"globe": 0.9}), "1": Thing("the cone", {"cone": 1.0})})
    assert layout.where("0") == (1.0, 2.0)
    assert layout.sure("0")
    assert layout.where("1") is None
    assert not layout.sure("1")
    assert len(layout.discs()) == 2


def test_a_doubtful_reading_is_believed_only_if_it_is_sure_enough() -> None:
    marks = landmarks((1.0, 2.0, "globe"))
    layout = BelievedLayout(marks, {"0": Thing("the thing", {"globe": 0.4, "duck": 0.3})})
    assert layout.where("0") == (1.0, 2.0)
    assert not layout.sure("0")  # 0.4 is enough to fly there, not to end a search
    layout.least = 0.45
    assert layout.where("0") is None


def test_what_is_meant_by_where_it_stands_is_chosen_once() -> None:
    marks = landmarks((1.0, 3.0, "globe"), (3.0, 3.0, "duck"), (2.0, 4.0, "cone"))
    things = {"0": Thing("the leftmost", select=Select("leftmost", None, 1))}
    layout = BelievedLayout(marks, things)
    assert layout.where("0") is None  # nothing is chosen before the drone has looked
    layout.begin_select(Pose2(2.0, 1.0, math.pi / 2))
    assert layout.where("0") == (1.0, 3.0)
    assert layout.sure("0")
    layout.begin_select(Pose2(2.0, 1.0, -math.pi / 2))  # looking the other way does not change its mind
    assert layout.where("0") == (1.0, 3.0)


def test_the_second_from_a_rule_and_one_beside_another() -> None:
    marks = landmarks((2.0, 1.5, "globe"), (2.0, 2.5, "duck"), (2.6, 2.5, "cone"))
    things = {
        "0": Thing("the second nearest", select=Select("nearest", None, 2)),
        "1": Thing("the duck", {"duck": 1.0}),
        "2": Thing("the one beside the duck", select=Select("beside", "1", 1)),
        "3": Thing("the one beside the rocket", select=Select("beside", "4", 1)),
        "4": Thing("the rocket", {}),
    }
    layout = BelievedLayout(marks, things)
    layout.begin_select(Pose2(2.0, 0.5, math.pi / 2))
    assert layout.where("0") == (2.0, 2.5)
    assert layout.where("2") == (2.6, 2.5)
    assert layout.where("3") is None


def test_fewer_things_than_the_rule_asks_for_are_none() -> None:
    layout = BelievedLayout(
        landmarks((1.0, 1.0, "globe")), {"0": Thing("the second", select=Select("nearest", None, 2))}
    )
    layout.begin_select(Pose2(2.0, 2.0, 0.0))
    assert layout.where("0") is None


# Searching -----------------------------------------------------------------------------------------------


def sweep(search: Search, around: TrueLayout, place: tuple[float, float], step: float = 0.5) -> list[object]:
    """Let a drone turn as it is told until it is told something else."""
    yaw, answers = 0.0, []
    for _ in range(60):
        answer = search.decide(np.array([*place, yaw]), around, NOTHING)
        answers.append(answer)
        if answer is None or answer[1] == 0.0 or answer[0] > 0:
            break
        yaw += step * answer[1]
    return answers


def test_it_turns_nearly_once_round_and_is_over_when_all_is_known() -> None:
    search = Search(("globe",))
    answers = sweep(search, TrueLayout({"globe": (1.0, 1.0)}), (2.0, 2.0))
    assert answers[-1] is None
    assert search.over
    assert all(answer == (0.0, MAX_YAW_RATE_RAD_S) for answer in answers[:-1])
    # 2 pi less 0.6 at half a turn rate per decision.
    assert len(answers) - 1 == math.ceil((2 * math.pi - 0.6) / (0.5 * MAX_YAW_RATE_RAD_S))


def test_what_is_not_found_is_looked_for_elsewhere() -> None:
    search = Search(("rocket",))
    around = TrueLayout({"globe": (1.0, 1.0)})
    assert sweep(search, around, (0.6, 0.6))[-1] == (0.0, 0.0)
    assert not search.over
    forward, _ = search.decide(np.array([0.6, 0.6, math.pi / 4]), around, NOTHING)  # type: ignore[misc]
    assert forward > 0  # off to another place of the arena


def test_at_another_place_it_looks_all_round_again() -> None:
    search, around = Search(("rocket",)), TrueLayout({})
    here = len(sweep(search, around, (0.6, 0.6)))
    # The nearest place from which new things are seen is the middle of the arena, 2.47 m away.
    there = sweep(search, around, (2.35, 2.35))
    assert there[0] == (0.0, MAX_YAW_RATE_RAD_S)
    assert len(there) == here


def test_after_some_places_it_gives_up() -> None:
    search, around = Search(("rocket",)), TrueLayout({})
    for place in ((0.6, 0.6), (2.35, 2.35), (3.4, 3.4), (1.3, 3.4), (3.4, 1.3)):
        search._towards = None
        search._swept, search._yaw = 0.0, None
        sweep(search, around, place)
        if search.over:
            break
    assert search.over
    assert len(search._used) == 4


def test_looking_at_everything_is_slow_and_from_one_place() -> None:
    search = Search((), whole=True)
    answers = sweep(search, TrueLayout({}), (2.0, 2.0))
    assert answers[0] == (0.0, pytest.approx(0.6 * MAX_YAW_RATE_RAD_S))
    assert answers[-1] is None
