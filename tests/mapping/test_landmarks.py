"""Landmarks: looks at one place are one thing, evidence adds up, one wrong look does not flip a name."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayword.camera import Camera
from wayword.errors import WaywordError
from wayword.mapping.landmarks import LandmarkConfig, Landmarks

GLOBE, PLANTER, NONE = (0.9, 0.05, 0.05), (0.05, 0.9, 0.05), (0.05, 0.05, 0.9)


def made(config: LandmarkConfig | None = None) -> Landmarks:
    return Landmarks(("globe", "planter"), Camera().at_model_size(), config or LandmarkConfig())


def look(marks: Landmarks, *things: tuple[float, float, tuple[float, float, float]], pose=(1.0, 1.0, 0.0)) -> None:
    """One frame with things at x, y that look like this, each certainly a box and of full quality."""
    places = np.array([(x, y, 0.15, 1.0) for x, y, _ in things], np.float32).reshape(-1, 4)
    of_box = np.array([row for *_, row in things]).reshape(-1, 3)
    x, y, yaw = pose
    marks.update(places, np.ones(len(things)), of_box, (x, y, 0.7, 0.0, 0.0, yaw))


def test_two_looks_at_one_place_are_one_thing_and_the_nearer_look_counts_more() -> None:
    marks = made()
    look(marks, (3.0, 1.0, GLOBE))  # from 2 m: standard deviation 0.05 + 0.07 * 2 = 0.19 m
    look(marks, (3.2, 1.0, GLOBE), pose=(2.2, 1.0, 0.0))  # from 1 m: 0.12 m
    (mark,) = marks.confirmed
    share = (1 / 0.12**2) / (1 / 0.12**2 + 1 / 0.19**2)
    assert mark.x == pytest.approx(3.0 + 0.2 * share, abs=1e-6)


def test_places_farther_apart_than_a_thing_is_wide_are_two_things() -> None:
    marks = made()
    look(marks, (2.0, 1.0, GLOBE), (3.0, 1.0, PLANTER))
    assert len(marks.confirmed) == 2
    assert marks.find(marks.one_hot("globe"))[0].place == pytest.approx((2.0, 1.0))
    assert marks.find(marks.one_hot("planter"))[0].place == pytest.approx((3.0, 1.0))


def test_two_boxes_around_one_thing_are_one_landmark_with_what_both_say() -> None:
    once, both = made(), made()
    look(once, (2.0, 1.0, GLOBE))
    look(both, (2.0, 1.0, GLOBE), (2.05, 1.0, GLOBE))
    (one,), (mark,) = once.confirmed, both.confirmed
    assert (one.weight, mark.weight) == pytest.approx((1.0, 2.0))
    assert mark.evidence == pytest.approx(2 * one.evidence)


def test_evidence_adds_up_by_hand() -> None:
    marks = made()
    for _ in range(2):
        look(marks, (2.0, 1.0, GLOBE))
    # 0.5 * 2 looks * log p: the product of the looks' square roots, twice: P is 0.9 / (0.9 + 0.05 + 0.05) again
    assert marks.confirmed[0].probabilities == pytest.approx([0.9, 0.05, 0.05])
    look(marks, (2.0, 1.0, GLOBE))
    third = np.array(GLOBE) ** 1.5
    assert marks.confirmed[0].probabilities == pytest.approx(third / third.sum())


def test_one_wrong_look_does_not_flip_a_name() -> None:
    marks = made()
    for _ in range(3):
        look(marks, (2.0, 1.0, GLOBE))
    look(marks, (2.0, 1.0, PLANTER))
    mark, surely = marks.find(marks.one_hot("globe"))
    assert mark is not None
    assert surely > 0.9


def test_what_should_be_in_view_and_is_not_is_forgotten() -> None:
    marks = made()
    look(marks, (2.5, 1.0, GLOBE))
    for _ in range(LandmarkConfig().forget):
        look(marks)
    assert marks.confirmed == []


def test_what_is_out_of_view_or_hidden_is_not_forgotten() -> None:
    behind, hidden = made(), made()
    look(behind, (2.5, 1.0, GLOBE))
    look(hidden, (2.0, 1.0, GLOBE), (3.0, 1.0, PLANTER))
    for _ in range(10):
        look(behind, pose=(1.0, 1.0, math.pi))
        look(hidden, (2.0, 1.0, GLOBE))
    assert len(behind.confirmed) == 1
    assert len(hidden.confirmed) == 2


def test_things_that_were_not_taught_are_things_once_they_were_seen_often() -> None:
    marks = made()
    look(marks, (2.0, 1.0, NONE))
    assert marks.recognised == []
    for _ in range(4):
        look(marks, (2.0, 1.0, NONE))
    assert len(marks.recognised) == 1


def test_boxes_off_the_map_of_poor_quality_or_hardly_boxes_are_left_out() -> None:
    marks = made()
    places = np.array([(-2.0, 1.0, 0.1, 1.0), (2.0, 1.0, 0.1, 0.01), (3.0, 1.0, 0.1, 1.0)], np.float32)
    marks.update(places, [1.0, 1.0, 0.1], [GLOBE] * 3, (1.0, 1.0, 0.7, 0.0, 0.0, 0.0))
    assert marks.confirmed == []


def test_the_edge_of_the_arena_is_no_thing_from_nearby() -> None:
    marks = made()
    look(marks, (1.5, 0.2, (0.9, 0.05, 0.05)), (1.5, 4.5, (0.05, 0.9, 0.05)), pose=(1.0, 0.8, 0.0))
    assert [round(mark.y, 1) for mark in marks.confirmed] == [4.5]  # 3.7 m away: a look from there errs by that much
    look(marks, (1.5, 0.35, (0.9, 0.05, 0.05)), pose=(1.0, 0.8, 0.0))
    assert sorted(round(mark.y, 2) for mark in marks.confirmed) == [0.35, 4.5]


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(WaywordError, match=r"need footprints \(2, 4\)"):
        made().update(np.zeros((1, 4), np.float32), [1.0, 1.0], [GLOBE] * 2, np.zeros(6))


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0, 4.7), st.floats(0, 4.7)), min_size=1, max_size=12))
def test_probabilities_are_probabilities_and_no_two_landmarks_share_a_place(places: list[tuple[float, float]]) -> None:
    marks = made()
    for x, y in places:
        look(marks, (x, y, GLOBE), pose=(2.3, 2.3, 0.0))
    for mark in marks.confirmed:
        assert mark.probabilities.sum() == pytest.approx(1.0)
    points = [mark.place for mark in marks.confirmed]
    assert all(math.dist(p, q) >= 0.6 * 0.42 - 1e-9 for i, p in enumerate(points) for q in points[:i])
