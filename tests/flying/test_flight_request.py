"""What a request for a flight may say, which example it means, and which database knows its objects."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from support.pack_files import pack_folder
from wayword.camera import Camera
from wayword.episodes import Episode, Example, PlacedObject, Pose2, Segment, examples, write_episodes
from wayword.errors import WaywordError
from wayword.flying import flight_request
from wayword.flying.episode_source import MOST_REMARKS, EpisodeSource, check_seed, load_bank, one_line, thin_out
from wayword.flying.flight_request import FlightRequest, brief, mentioned_objects, prepare_flight
from wayword.sim.models.catalogue import names

OWN = FlightRequest(instruction="stop at the globe")


def episode(id_: str = "mine", objects: tuple[str, ...] = ("globe", "rocket"), segments: int = 1) -> Episode:
    placed = tuple(PlacedObject(name, 1.0 + k, 3.0, 0.0) for k, name in enumerate(objects))
    path = np.column_stack([np.linspace(1, 3, 40), np.full(40, 1.0)])
    ends = [round(39 * (k + 1) / segments) for k in range(segments)]
    cuts = tuple(Segment(end, f"Fly on {k}.") for k, end in enumerate(ends))
    return Episode(id_, "dev", 4.7, placed, Pose2(1.0, 1.0, 0.0), path, cuts, "me")


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (replace(OWN, seed=-1), "--seed -1: must be 0 or more"),
        (replace(OWN, grounder="nowhere"), "nowhere"),
        (replace(OWN, policy="nobody"), "unknown policy 'nobody'"),
        (replace(OWN, random_look=True, world="lab"), "--random-look and --world lab: choose one of the two"),
        (FlightRequest(layout=Path("layout.json")), "--layout is for an instruction of your own"),
        (replace(OWN, example="x"), "goes with --layout, not with --example or --episodes"),
        (replace(OWN, episodes=Path("x.jsonl")), "goes with --layout, not with --example or --episodes"),
        (replace(OWN, policy="oracle"), "the oracle follows demonstrations"),
        (replace(OWN, policy="oracle_steps"), "is told what is meant"),
        (replace(OWN, instruction="  "), "instruction"),
    ],
)
def test_what_cannot_be_flown_is_refused_before_anything_is_loaded(request_: FlightRequest, message: str) -> None:
    with pytest.raises(WaywordError, match=message) as error:
        request_.check()
    assert "\n" not in str(error.value)


def test_a_camera_of_other_proportions_is_refused(tmp_path: Path) -> None:
    Camera(width=640, height=480).to_file(tmp_path / "camera.json")
    with pytest.raises(WaywordError, match="crop its pictures to 640 x 360"):
        replace(OWN, camera=tmp_path / "camera.json").check()


def test_a_plain_request_is_fine() -> None:
    OWN.check()
    FlightRequest().check()


def test_examples_are_thinned_evenly() -> None:
    cuts = [replace_id(f"e{k}") for k in range(10)]
    assert [cut.episode.id for cut in thin_out(cuts, 4)] == ["e0", "e2", "e5", "e7"]
    assert thin_out(cuts, None) is cuts
    assert thin_out(cuts, 10) is cuts
    assert thin_out(cuts, 99) is cuts
    with pytest.raises(WaywordError, match="--limit 0: at least one episode is needed"):
        thin_out(cuts, 0)


def replace_id(id_: str) -> Example:
    return examples(episode(id_), 1)[0]


def test_seeds_are_not_negative() -> None:
    check_seed(0)
    with pytest.raises(WaywordError, match="--seed -3"):
        check_seed(-3)


def test_lines_from_files_are_one_line() -> None:
    assert one_line("a\nb\tc\x1b[31m") == "a b c [31m"
    assert brief("stop at the globe", 100) == "stop at the globe"
    assert brief("stop at the globe", 10) == "stop at..."
    assert len(brief("x" * 500, 40)) == 40


def test_own_episodes_are_cut_and_the_short_ones_are_said(tmp_path: Path) -> None:
    write_episodes(tmp_path / "own.jsonl", [episode("one"), episode("two", segments=2)])
    remarks: list[str] = []
    _, cuts = EpisodeSource(episodes=tmp_path / "own.jsonl", segments=2).load(remarks.append)
    assert [cut.episode.id for cut in cuts] == ["two"]
    assert remarks == ["left out: 1 episodes with fewer than 2 segments"]
    write_episodes(tmp_path / "short.jsonl", [episode("one")])
    with pytest.raises(WaywordError, match="no episode has 2 segments; try --segments 1"):
        EpisodeSource(episodes=tmp_path / "short.jsonl").load()


def test_episodes_about_unknown_objects_need_their_meshes(tmp_path: Path) -> None:
    write_episodes(tmp_path / "own.jsonl", [episode("one", ("globe", "gizmo"))])
    with pytest.raises(WaywordError, match="gizmo"):
        EpisodeSource(episodes=tmp_path / "own.jsonl", segments=1).load()


def test_the_example_is_the_named_one_or_drawn_by_the_seed() -> None:
    cuts = [replace_id(f"e{k}") for k in range(30)]
    named = flight_request._choose(FlightRequest(example=cuts[7].id), cuts)
    assert named is cuts[7]
    drawn = {flight_request._choose(FlightRequest(seed=seed), cuts).id for seed in range(20)}
    assert len(drawn) > 5
    assert flight_request._choose(FlightRequest(seed=3), cuts) is flight_request._choose(FlightRequest(seed=3), cuts)
    with pytest.raises(WaywordError, match="no example 'nowhere' here; the first is 'e0"):
        flight_request._choose(FlightRequest(example="nowhere"), cuts)


@pytest.mark.parametrize("split", ["test", "dev"])
def test_the_shipped_database_that_knows_the_layout_is_taken(split: str) -> None:
    example = examples(episode("e", tuple(names(split)[:4])), 1)[0]
    database = flight_request._database(FlightRequest(), example)
    assert set(names(split)[:4]) <= set(database.names)


def test_objects_that_no_shipped_database_knows() -> None:
    example = examples(episode("e", (names("test")[0], names("dev")[0])), 1)[0]
    with pytest.raises(WaywordError, match="no shipped database knows the objects of e"):
        flight_request._database(FlightRequest(), example)


def test_policies_that_look_at_nothing_are_taught_nothing() -> None:
    flight = prepare_flight(FlightRequest(policy="stop", split="dev"))
    assert flight.database is None
    assert flight.parsed is None
    assert flight.mentioned == []
    assert mentioned_objects(None) == []
    assert flight.camera == Camera()


def test_anyway_is_for_policies_that_may_refuse() -> None:
    with pytest.raises(WaywordError, match="--anyway is for policies that may refuse, and stop flies anything"):
        prepare_flight(FlightRequest(policy="stop", split="dev", anyway=True))


def test_lists_of_names_are_cut() -> None:
    assert flight_request._listed(["a"]) == "a"
    assert flight_request._listed(["a", "b", "c"]) == "a, b and c"
    many = flight_request._listed([f"n{k}" for k in range(100)])
    assert many.endswith("more")
    assert len(many) < 300


def test_a_pack_with_many_unusable_files_is_not_a_page_of_lines(tmp_path: Path) -> None:
    folder, lines = pack_folder(tmp_path), list[str]()
    for number in range(MOST_REMARKS + 3):
        (folder / f"broken {number:02}.obj").write_text("hello", encoding="utf-8")
    load_bank(folder, lines.append)
    assert len(lines) == MOST_REMARKS + 1
    assert lines[0].startswith("skipped broken 00.obj: ")
    assert lines[-1] == f"and 3 more such lines about objects of {folder}"
