"""Instructions of one's own: layouts that hold what is mentioned, layouts from files, and what is said at the end."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wayword.episodes import Example, PlacedObject, Pose2, examples, load_natural
from wayword.errors import WaywordError
from wayword.pilot.free_flight import (
    _strain,
    describe_end,
    draw_scene,
    free_example,
    is_free,
    read_layout,
    title_of,
)
from wayword.pilot.verdict import FlightEnd
from wayword.sim.arena import Ending

KNOWN = ("barrel", "bench", "crate", "globe", "hydrant", "kiosk", "planter", "robot")
OTHERS = ("anvil", "drum", "easel", "flute", "gong", "harp")


@pytest.mark.parametrize("seed", range(12))
def test_a_drawn_scene_holds_what_is_mentioned_and_can_be_flown(seed: int) -> None:
    objects, start = draw_scene(["planter", "globe"], KNOWN, OTHERS, np.random.default_rng(seed))
    placed = {item.name: (item.x, item.y) for item in objects}
    assert {"planter", "globe"} <= set(placed) <= set(KNOWN)
    assert 6 <= len(objects) <= len(KNOWN)
    assert min(math.dist((start.x, start.y), place) for place in placed.values()) >= 0.55
    assert _strain(start, [placed["planter"], placed["globe"]], list(placed.values())) < 0.3
    bearing = math.atan2(placed["planter"][1] - start.y, placed["planter"][0] - start.x) - start.yaw
    assert math.cos(bearing) > 0.2  # ahead, or nearly so


def test_a_scene_depends_on_its_seed_alone() -> None:
    one, two, other = (draw_scene(["globe"], KNOWN, (), np.random.default_rng(seed)) for seed in (4, 4, 5))
    assert one == two
    assert one != other


def test_few_known_objects_are_joined_by_others_and_many_mentioned_ones_are_cut() -> None:
    objects, _ = draw_scene(["globe"], ["globe", "crate"], OTHERS, np.random.default_rng(0))
    assert {"globe", "crate"} < {item.name for item in objects}
    assert len(objects) == 6
    crowd = [f"thing {k}" for k in range(40)]
    assert {item.name for item in draw_scene(crowd, crowd, (), np.random.default_rng(0))[0]} == set(crowd[:12])
    assert len(draw_scene([], KNOWN, (), np.random.default_rng(1))[0]) >= 6


def test_strain_by_hand() -> None:
    start = Pose2(0.5, 2.0, 0.0)
    assert _strain(start, [], []) == 0
    assert _strain(start, [(2.0, 2.0), (3.5, 2.0)], [(2.0, 2.0), (3.5, 2.0), (2.5, 3.0)]) == 0
    # Legs 0.4 m too short and 0.1 m too long that meet at a right angle, pi / 2 - 1.4 too sharp.
    assert _strain(start, [(1.1, 2.0), (1.1, 4.4)], []) == pytest.approx(0.4 + 0.1 + math.pi / 2 - 1.4)
    # What is to be passed stands 0.3 m too near to the edge; what is to be reached may.
    assert _strain(Pose2(0.5, 0.8, 0.0), [(2.0, 0.8), (3.5, 0.8)], []) == pytest.approx(0.3)
    # Something else stands 0.2 m beside the way, 0.4 m too near.
    assert _strain(start, [(2.0, 2.0), (3.5, 2.0)], [(2.0, 2.0), (3.5, 2.0), (2.7, 2.2)]) == pytest.approx(0.4)


def test_a_free_example_starts_and_goes_nowhere() -> None:
    example = free_example("seed 3", "stop by the globe", [PlacedObject("globe", 2.0, 2.0, 0.0)], Pose2(1.0, 1.0, 0.3))
    assert is_free(example)
    assert (example.instruction, example.start) == ("stop by the globe", Pose2(1.0, 1.0, 0.3))
    assert title_of(example) == "layout of seed 3"
    shown = examples(load_natural("dev")[0], 1)[0]
    assert not is_free(shown)
    assert title_of(shown) == shown.id


def test_layouts_of_the_corpus() -> None:
    episode = next(episode for episode in load_natural("dev") if episode.id == "dev-003")
    whole, cut = (read_layout(name, "stop", ()) for name in ("dev-003", "dev-003/2"))
    assert whole.objects == cut.objects == episode.objects
    assert whole.start == episode.start
    assert cut.start == examples(episode, 1)[1].start
    with pytest.raises(WaywordError, match="no layout 'dev-999'; the first is 'dev-000'"):
        read_layout("dev-999", "stop", ())
    with pytest.raises(WaywordError, match=r"no example 'dev-003/9'; there are dev-003/1, dev-003/2"):
        read_layout("dev-003/9", "stop", ())


def layout(**changes: Any) -> dict[str, Any]:
    objects = [{"name": "globe", "x": 1.0, "y": 3.0, "yaw": 0.0}, {"name": "crate", "x": 3.0, "y": 1.0, "yaw": 1.0}]
    return {"objects": objects, "start": {"x": 2.0, "y": 2.0, "yaw": 0.5}, **changes}


def test_layouts_from_files(tmp_path: Path) -> None:
    file = tmp_path / "room.json"
    # A start on the very edge is a start; what else stands in the file (here as in a trace) does not matter.
    for start in ({"x": 2.0, "y": 2.0, "yaw": 0.5}, {"x": 4.7, "y": 0.0, "yaw": -1.0}):
        file.write_text(json.dumps(layout(start=start, instruction="other words", flown=[[1, 2]])))
        example = read_layout(str(file), "stop", {"globe", "crate"})
        assert [item.name for item in example.objects] == ["globe", "crate"]
        assert (example.id, example.instruction, example.start) == ("room", "stop", Pose2(**start))
    file.write_text(json.dumps(load_natural("dev")[0].to_json()))
    assert len(read_layout(str(file), "stop", {item.name for item in load_natural("dev")[0].objects}).objects) >= 6


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not valid JSON"),
        ("[1, 2]", "not one JSON object"),
        ("[" * 100_000, "more than 64 brackets"),
        (layout(objects=[]), "objects is empty"),
        ({"objects": []}, "field 'start' is missing"),
        ({"start": {}}, "field 'objects' is missing"),
        (layout(start={"x": 2.0, "y": "far", "yaw": 0.0}), "start: y must be a number"),
        (layout(start={"x": 9.0, "y": 2.0, "yaw": 0.0}), r"the start \(9, 2\) lies outside the 4.7 m arena"),
        (layout(start={"x": 1.0, "y": 2.8, "yaw": 0.0}), "the start is 0.20 m from the 'globe'; at least 0.29 m"),
        (layout(arena_m=-3), "arena"),
        (layout(objects=[{"name": "glob", "x": 1, "y": 1, "yaw": 0}]), "unknown object 'glob'; did you mean 'globe'"),
    ],
)
def test_bad_layouts_are_one_clear_line(tmp_path: Path, content: Any, message: str) -> None:
    file = tmp_path / "room.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(WaywordError, match=rf"room\.json.*{message}"):
        read_layout(str(file), "stop", {"globe", "crate"})


def test_a_layout_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(WaywordError, match=r"none\.json.*No such file.*dev-003"):
        read_layout(str(tmp_path / "none.json"), "stop", ())


def ended(example: Example, ending: Ending, seconds: float, contacts: int, yaw: float = 0.0) -> FlightEnd:
    """A flight that is over at (1.2, 1.0)."""
    pose = np.array([1.2, 1.0, 0.7, 0.0, 0.0, yaw])
    return FlightEnd(example, pose[None, :2], pose, ending, 13, contacts, seconds)


@pytest.mark.parametrize(
    ("yaw", "where"),
    [
        (0.0, "which is ahead"),
        (0.7, "which is ahead on its right"),
        (-math.pi / 2, "which is on its left"),
        (2.3, "which is behind on its right"),
        (math.pi, "which is behind it"),
    ],
)
def test_the_end_of_a_flight_in_words(yaw: float, where: str) -> None:
    objects = [PlacedObject("globe", 2.0, 1.0, 0.0), PlacedObject("crate", 1.0, 4.0, 0.0)]
    example = free_example("x", "stop by the globe", objects, Pose2(0.4, 1.0, 0.0))
    said = describe_end(ended(example, "policy", 6.5, 0, yaw), ["globe"])
    assert said == f"stopped after 6.5 s, 0.80 m from the globe, {where}; no contacts"


def test_the_end_is_told_from_the_last_goal_even_if_another_thing_is_nearer() -> None:
    """The crate is sqrt(0.2^2 + 3^2) = 3.01 m away, the globe 0.80 m."""
    objects = [PlacedObject("globe", 2.0, 1.0, 0.0), PlacedObject("crate", 1.0, 4.0, 0.0)]
    example = free_example("x", "pass the globe, stop by the crate", objects, Pose2(0.4, 1.0, 0.0))
    end = ended(example, "policy", 6.5, 0, math.pi / 2)
    assert describe_end(end, ["globe", "crate"]) == (
        "stopped after 6.5 s, 3.01 m from the crate, which is ahead; came within 0.80 m of the globe; no contacts"
    )
    assert "0.80 m from the globe, which is on its right; came within 3.01 m" in describe_end(
        end, ["globe", "crate", "globe"]
    )


def test_the_end_of_a_flight_about_nothing() -> None:
    example = free_example("x", "go", [PlacedObject("globe", 2.0, 1.0, 0.0)], Pose2(0.5, 1.0, 0.0))
    said = describe_end(ended(example, "horizon", 25.0, 2), [])
    assert said == "ran out of time after 25.0 s, 0.70 m from where it started; 2 contacts"
    assert describe_end(ended(example, "contact", 1.0, 1), ["unicorn"]).endswith("; 1 contact")
