from __future__ import annotations

import json
import math

import numpy as np
import pytest

from wayword.episodes import Episode, PlacedObject, Pose2, Segment, examples
from wayword.errors import WaywordError


def corner() -> Episode:
    """East for 0.6 m, then north for 0.6 m, in steps of 6 cm; the corner is point 10."""
    east = [[1.0 + 0.06 * i, 1.0] for i in range(11)]
    north = [[1.6, 1.0 + 0.06 * i] for i in range(1, 11)]
    return Episode(
        id="demo",
        split="train",
        arena_m=4.7,
        objects=(PlacedObject("barrel", 2.5, 1.0, 0.1),),
        start=Pose2(1.0, 1.0, 0.3),
        path=np.array(east + north),
        segments=(Segment(5, "Go."), Segment(11, "On."), Segment(20, "Turn left.")),
        annotator="me",
    )


def test_single_examples_share_their_end_points() -> None:
    first, second, third = examples(corner(), 1)
    assert [e.id for e in (first, second, third)] == ["demo/1", "demo/2", "demo/3"]
    assert [len(e.path) for e in (first, second, third)] == [6, 7, 10]
    assert first.path[-1] == pytest.approx(second.path[0])
    assert first.objects == corner().objects


def test_pairs_overlap_and_join_instructions_with_a_space() -> None:
    pairs = examples(corner(), 2)
    assert [(e.id, e.first, e.count) for e in pairs] == [("demo/1-2", 0, 2), ("demo/2-3", 1, 2)]
    assert pairs[1].instruction == "On. Turn left."
    assert pairs[1].path[[0, -1]] == pytest.approx(np.array([[1.3, 1.0], [1.6, 1.6]]))


def test_start_yaw_is_the_chord_8_cm_before_to_8_cm_after() -> None:
    # First segment: as given. Second: on the straight line, due east. Third: it starts at (1.6, 1.06), 6 cm
    # after the corner, so 8 cm back along the path is (1.58, 1) and 8 cm on is (1.6, 1.14).
    yaws = [e.start.yaw for e in examples(corner(), 1)]
    assert yaws == pytest.approx([0.3, 0.0, math.atan2(0.14, 0.02)])


def test_three_segment_examples_do_not_exist() -> None:
    with pytest.raises(WaywordError, match="1 or 2 segments, not 3"):
        examples(corner(), 3)


def test_json_round_trip_is_exact() -> None:
    episode = corner()
    again = Episode.from_json(json.loads(json.dumps(episode.to_json())))
    assert again == episode
    assert hash(again) == hash(episode)
    assert again != Episode.from_json({**episode.to_json(), "annotator": "you"})


def test_paths_cannot_be_changed() -> None:
    given = np.array([[1.0, 1.0], [1.1, 1.0]])
    episode = Episode("a", "s", 4.7, (), Pose2(1, 1, 0), given, (Segment(1, "Go."),), "me")
    given[0] = 9.0  # the episode keeps its own copy
    assert episode.path[0].tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="read-only"):
        episode.path[0, 0] = 2.0
    with pytest.raises(ValueError, match="read-only"):
        examples(episode)[0].path[0, 0] = 2.0


@pytest.mark.parametrize("path", [[[1.0, 1.0]], [1.0, 2.0], [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]])
def test_a_path_is_at_least_two_points_in_the_plane(path: list[object]) -> None:
    with pytest.raises(WaywordError, match="at least two"):
        Episode("a", "s", 4.7, (), Pose2(1, 1, 0), np.array(path), (Segment(1, "Go."),), "me")


def test_examples_are_equal_if_they_cut_the_same() -> None:
    assert examples(corner()) == examples(corner())
    assert len({*examples(corner()), *examples(corner())}) == 3
