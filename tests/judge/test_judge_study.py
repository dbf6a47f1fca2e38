from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from random import Random, SystemRandom

import numpy as np
import pytest

from support.judge_data import shown, small_study
from wayword.episodes import Example
from wayword.errors import WaywordError
from wayword.evaluation.runner import fly_examples
from wayword.judge.flights import StudyFlight, flights_in_common, read_flights
from wayword.judge.pages import make_study
from wayword.judge.study import Study, design
from wayword.policy import Average
from wayword.recording.track import read_track
from wayword.sim.render.bank import MeshBank

EXAMPLES, SYSTEMS = [f"e{i}" for i in range(7)], ["a", "b", "c"]


def test_every_rater_sees_every_flight_once_in_an_order_of_their_own() -> None:
    study = design(EXAMPLES, SYSTEMS, raters=4, checks=3, draw=SystemRandom())
    flights = {name for name, item in study.items.items() if item.check is None}
    assert {(study.items[f].example, study.items[f].system) for f in flights} == {
        (e, s) for e in EXAMPLES for s in SYSTEMS
    }
    assert len(set(study.sheets.values())) == 4
    for sheet in study.sheets.values():
        assert len(sheet) == len(set(sheet)) == 7 * 3 + 3
        assert study.items[sheet[0]].check is None
        order = [study.items[name].example for name in sheet if study.items[name].check is None]
        for start in (0, 7, 14):  # an instruction comes again only after all others
            assert set(order[start : start + 7]) == set(EXAMPLES)
        assert all(one != other for one, other in pairwise(order))
    assert all(goal != path for goal, path in (item.check for item in study.items.values() if item.check))


@pytest.mark.parametrize("per_rater", [4, 7, 10])
def test_shares_are_even_whatever_their_size(per_rater: int) -> None:
    study = design(EXAMPLES, SYSTEMS, raters=6, checks=1, draw=Random(0), per_rater=per_rater)
    sheets = [[name for name in sheet if study.items[name].check is None] for sheet in study.sheets.values()]
    times = Counter(name for sheet in sheets for name in sheet)
    counts = [times[name] for name, item in study.items.items() if item.check is None]
    assert sum(counts) == 6 * per_rater
    assert max(counts) - min(counts) <= 1
    for sheet in sheets:
        systems = Counter(study.items[name].system for name in sheet)
        assert max(systems.values()) - min(systems[s] for s in SYSTEMS) <= 2


def test_checks_are_spread_over_the_sheet() -> None:
    for seed in range(20):
        study = design(EXAMPLES, SYSTEMS, raters=1, checks=3, draw=Random(seed))
        (sheet,) = study.sheets.values()
        places = [i for i, name in enumerate(sheet) if study.items[name].check]
        assert [place * 3 // len(sheet) for place in places] == pytest.approx([0, 1, 2], abs=1)
    one = design(["e"], ["a"], raters=1, checks=2, draw=Random(0))  # more checks than flights
    assert len(next(iter(one.sheets.values()))) == 3


def test_the_key_comes_back_as_it_was_saved(tmp_path: Path) -> None:
    study = design(EXAMPLES, SYSTEMS, 2, 2, Random(3))
    study.save(tmp_path)
    assert Study.load(tmp_path) == study
    for text in ("[]", '{"format": 9}', '{"format": 1, "study": "../x", "items": [], "sheets": {}}', "[" * 100_000):
        (tmp_path / "key.json").write_text(text)
        with pytest.raises(WaywordError, match=r"not the key of a study|not valid JSON"):
            Study.load(tmp_path)


def test_pages_say_nothing_about_who_flew(tmp_path: Path, dev_pairs: list[Example], bank: MeshBank) -> None:
    systems = ("Zebra-System", "Quagga-System")
    study = small_study(tmp_path / "study", dev_pairs[:3], bank, systems)
    pages = sorted((tmp_path / "study" / "pages").iterdir())
    assert [page.stem for page in pages] == sorted(study.sheets)
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert not any(word in text for word in (*systems, *(cut.id for cut in dev_pairs[:3]), "key.json"))
        assert "http://" not in text.replace("http://www.w3.org", "")  # nothing is fetched from anywhere
        assert "https://" not in text
        content = json.loads(text.split('id="study">')[1].split("</script>")[0])
        assert [item["id"] for item in content["items"]] == list(study.sheets[page.stem])
        assert all(other not in text for other in study.sheets if other != page.stem)
        assert content["items"][0]["picture"] == 0  # numbered as they appear, not as they were read
        asked = [item["text"] for item in content["items"] if study.items[item["id"]].check]
        goal, path = next(item.check for item in study.items.values() if item.check)
        assert len(asked) == 1
        assert f"goal score {goal} and path score {path}" in asked[0]


def test_the_page_shows_where_the_drone_was(tmp_path: Path, dev_pairs: list[Example], bank: MeshBank) -> None:
    inside, cut = shown(dev_pairs[0], "in"), dev_pairs[0]
    outside = StudyFlight("out", cut, np.array([[2.35, 2.35, 0.0], [-1.0, 5.7, 90.0]]))  # as far as the net lets it
    study = design([cut.id], ["in", "out"], 1, 0, Random(0))
    (page,) = make_study(tmp_path / "s", study, {cut.id: {"in": inside, "out": outside}}, bank)
    content = json.loads(page.read_text(encoding="utf-8").split('id="study">')[1].split("</script>")[0])
    tracks = {study.items[item["id"]].system: np.array(item["track"]) for item in content["items"]}
    assert tracks["out"][0, :2] == pytest.approx([280, 280], abs=0.1)  # the middle of the arena
    assert ((tracks["out"][:, :2] > 8) & (tracks["out"][:, :2] < 552)).all()
    assert tracks["out"][1, 0] < 280  # -x is left, +y is up
    assert tracks["out"][1, 1] < 280
    with pytest.raises(WaywordError, match="not an empty folder"):
        make_study(tmp_path / "s", study, {cut.id: {"in": inside, "out": outside}}, bank)
    assert [path.name for path in tmp_path.iterdir()] == ["s"]  # nothing temporary is left


def test_instructions_cannot_break_out_of_the_page(tmp_path: Path, dev_pairs: list[Example], bank: MeshBank) -> None:
    from dataclasses import replace

    nasty = replace(dev_pairs[0], instruction="</script><script>alert(1)</script><!-- @SCRIPT@ @STUDY@")
    study = design([nasty.id], ["a"], 1, 0, Random(0))
    (page,) = make_study(tmp_path / "s", study, {nasty.id: {"a": shown(nasty, "a")}}, bank)
    text = page.read_text(encoding="utf-8")
    assert text.count("<script") == 2
    assert json.loads(text.split('id="study">')[1].split("</script>")[0])["items"][0]["text"] == nasty.instruction


def test_tracks_are_the_flown_positions(dev_pairs: list[Example], bank: MeshBank) -> None:
    for flight in fly_examples(Average(), dev_pairs[:2], bank):
        track = read_track(flight.track)
        assert track[0, :2] == pytest.approx(flight.path[0], abs=0.006)
        assert track[-1, :2] == pytest.approx(flight.path[-1], abs=0.006)
        assert len(track) == flight.metrics.steps  # its last decision is to stop, which takes no time
        assert track[:, :2] == pytest.approx(flight.poses[:, :2], abs=0.15)  # reported poses are a little off
    for bad in (None, "", "1,2", "1,2,x", "nan,0,0", "1,2,3 4,5", "1e9,0,0", "1,2,3 " * 20_000):
        with pytest.raises(WaywordError, match="evaluate again"):
            read_track(bad)


def test_results_are_read_or_refused_in_one_line(tmp_path: Path, dev_pairs: list[Example]) -> None:
    cuts, file = dev_pairs[:2], tmp_path / "r.json"
    row = {"example": cuts[0].id, "track": "1,2,3 2,2,3"}

    def read(value: object) -> list[StudyFlight]:
        file.write_text(value if isinstance(value, str) else json.dumps(value))
        return read_flights([file], lambda report: cuts)

    (flight,) = read({"policy": "oracle", "flights": [row]})
    assert (flight.system, flight.example.id, flight.track.shape) == ("oracle", cuts[0].id, (2, 3))
    both = {f"{s}.dev.natural": {"system": s, "flights": [row]} for s in ("a", "b")}
    assert [flight.system for flight in read({"split": "dev", "cells": both})] == ["a", "b"]
    for value, why in [
        ("{", "not valid JSON"),
        ([], "is not what"),
        ({"policy": "x"}, "is not what"),
        ({"policy": "x", "flights": [{"example": cuts[0].id}]}, "no tracks"),
        ({"policy": "x", "flights": [{**row, "example": "dev-999/1-2"}]}, "not among the episodes"),
        ({"policy": "x", "flights": [row, row]}, "twice"),
        ({"split": "test", "cells": both}, "no column"),
    ]:
        with pytest.raises(WaywordError, match=why):
            read(value)
    with pytest.raises(WaywordError, match="cannot be read"):
        read_flights([tmp_path / "missing.json"], lambda report: cuts)


def test_only_what_everybody_flew_is_judged(dev_pairs: list[Example]) -> None:
    one, two, three = dev_pairs[:3]
    common = flights_in_common([shown(one, "a"), shown(two, "a"), shown(two, "b"), shown(three, "b")])
    assert {example: set(row) for example, row in common.items()} == {two.id: {"a", "b"}}
    with pytest.raises(WaywordError, match="same episodes"):
        flights_in_common([shown(one, "a"), shown(two, "b")])
