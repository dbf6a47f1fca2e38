from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wayword.episodes import Episode, EpisodeRules, load_episodes, load_natural, write_episodes
from wayword.errors import DataError, WaywordError

NAMES = ("barrel", "traffic cone")
GOOD: dict[str, Any] = {
    "id": "one",
    "split": "train",
    "arena_m": 4.7,
    "objects": [
        {"name": "barrel", "x": 2.0, "y": 2.5, "yaw": 0.0},
        {"name": "traffic cone", "x": 3.0, "y": 3.0, "yaw": 1.0},
    ],
    "start": {"x": 1.0, "y": 2.0, "yaw": 0.0},
    "path": [[1.0, 2.0], [1.5, 2.0], [2.0, 2.0], [2.5, 2.0]],
    "annotator": "me",
    "segments": [{"end": 1, "instruction": "Go."}, {"end": 3, "instruction": "Pass the barrel."}],
}

Change = Callable[[dict[str, Any]], object]

DEFECTS: list[tuple[str, Change, str]] = [
    ("missing field", lambda e: e.pop("start"), "field 'start' is missing"),
    ("missing inner", lambda e: e["objects"][1].pop("yaw"), r"objects\[1\]: field 'yaw' is missing"),
    ("id is a number", lambda e: e.update(id=7), "id must be text, found 7"),
    ("objects is a map", lambda e: e.update(objects={}), "objects must be a list, found {}"),
    ("no objects", lambda e: e.update(objects=[]), "objects is empty"),
    ("start is a list", lambda e: e.update(start=[1, 2, 0]), "start must be a JSON object"),
    ("text as number", lambda e: e["start"].update(x="1"), "start: x must be a number, found '1'"),
    ("truth as number", lambda e: e["start"].update(x=True), "start: x must be a number, found True"),
    (
        "end is a fraction",
        lambda e: e["segments"][0].update(end=1.5),
        "end must be a whole number, found 1.5",
    ),
    ("point of three", lambda e: e["path"].insert(1, [1, 2, 3]), r"path\[1\] must be \[x, y\]"),
    ("one point", lambda e: e.update(path=[[1.0, 2.0]]), "at least two"),
    ("NaN", lambda e: e["path"][1].__setitem__(0, math.nan), "NaN found where a finite number"),
    ("infinity", lambda e: e["start"].update(yaw=-math.inf), "-Infinity found where a finite number"),
    ("huge integer", lambda e: e["start"].update(x=10**400), "a number of 401 digits"),
    ("no arena", lambda e: e.update(arena_m=0), "arena_m must be positive"),
    ("unknown object", lambda e: e["objects"][0].update(name="barell"), "'barell'; did you mean 'barrel'"),
    ("object twice", lambda e: e["objects"][1].update(name="barrel"), r"objects\[1\]: a second 'barrel'"),
    ("object outside", lambda e: e["objects"][1].update(x=5.0), "stands outside the 4.7 m arena"),
    ("object above", lambda e: e["objects"][1].update(y=-0.1), "stands outside the 4.7 m arena"),
    ("path outside", lambda e: e["path"][3].__setitem__(0, 4.8), r"path\[3\] at \(4.8, 2\) leaves"),
    ("too close", lambda e: e["objects"][0].update(y=2.28), "within 0.280 m of the 'barrel'"),
    # Both neighbours are 0.32 m away; the line between them is not.
    ("close between", lambda e: e["objects"][0].update(x=1.75, y=2.2), "within 0.200 m of the 'barrel'"),
    ("start elsewhere", lambda e: e["start"].update(y=2.2), r"start is 0.20 m away from path\[0\]"),
    ("not increasing", lambda e: e["segments"].insert(1, {"end": 1, "instruction": "x"}), "greater than 1"),
    ("first end is 0", lambda e: e["segments"][0].update(end=0), "must be greater than 0"),
    ("out of range", lambda e: e["segments"][1].update(end=4), "out of range; the path has points 0 to 3"),
    ("negative end", lambda e: e["segments"][0].update(end=-1), "out of range"),
    # There and back 1.5 m, 201 times: 301.5 m in short steps.
    (
        "too long",
        lambda e: e.update(
            path=[[1.0 + 1.5 * (i % 2), 2.0] for i in range(202)], segments=[{"end": 201, "instruction": "x"}]
        ),
        "path is 302 m long; at most 300 m",
    ),
    ("stops early", lambda e: e["segments"][1].update(end=2), "ends at 2, but the path ends at 3"),
    ("no instruction", lambda e: e["segments"][1].update(instruction=" \t"), "instruction is empty"),
    ("half a character", lambda e: e.update(annotator="\ud800"), "broken character escape"),
    ("hovering", lambda e: e["path"].__setitem__(1, [1.0, 2.0]), "stands still"),
    ("same id", lambda e: e.update(id="zero"), "id 'zero' was already used on line 1"),
]


def write(path: Path, *episodes: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(e) + "\n" for e in episodes), encoding="utf-8")
    return path


@pytest.mark.parametrize(("change", "message"), [d[1:] for d in DEFECTS], ids=[d[0] for d in DEFECTS])
def test_every_defect_is_named_with_file_and_line(tmp_path: Path, change: Change, message: str) -> None:
    bad = copy.deepcopy(GOOD)
    change(bad)
    file = write(tmp_path / "episodes.jsonl", {**GOOD, "id": "zero"}, bad)
    with pytest.raises(DataError, match=message) as caught:
        load_episodes(file, NAMES)
    assert str(caught.value).startswith(f"{file}:2: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"id": ', "not valid JSON"),
        (b"[1, 2]", "must be a JSON object in braces"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[" * 100_000, "not valid JSON"),
        (b"9" * 5000, "not valid JSON"),
        (json.dumps(GOOD).replace("4.7", "1e999").encode(), "arena_m must be a finite number"),
    ],
)
def test_lines_that_are_no_episode(tmp_path: Path, line: bytes, message: str) -> None:
    file = tmp_path / "episodes.jsonl"
    file.write_bytes(json.dumps({**GOOD, "id": "zero"}).encode() + b"\n\n" + line + b"\n")
    with pytest.raises(DataError, match=message) as caught:
        load_episodes(file)
    assert caught.value.line == 3


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.jsonl: cannot be read"):
        load_episodes(tmp_path / "none.jsonl")
    with pytest.raises(DataError, match="is a folder"):
        load_episodes(tmp_path)
    (tmp_path / "blank.jsonl").write_bytes(b"\xef\xbb\xbf\r\n \r\n")
    with pytest.raises(DataError, match="holds no episodes"):
        load_episodes(tmp_path / "blank.jsonl")


def test_marks_line_ends_and_blank_lines_of_other_systems(tmp_path: Path) -> None:
    file = tmp_path / "windows.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + json.dumps(GOOD).encode() + b"\r\n\r\n")
    assert load_episodes(file, NAMES) == [Episode.from_json(GOOD)]


def test_rules_are_configuration(tmp_path: Path) -> None:
    file = write(tmp_path / "episodes.jsonl", GOOD)
    assert len(load_episodes(file)) == 1  # the barrel is 0.5 m from the path
    with pytest.raises(DataError, match=r"within 0\.500 m .* at least 0\.6 m"):
        load_episodes(file, rules=EpisodeRules(min_clearance_m=0.6))


def test_written_episodes_read_back_equal(tmp_path: Path) -> None:
    episodes = [Episode.from_json({**GOOD, "id": f"é{i}", "annotator": "naïve\u2028"}) for i in range(3)]
    write_episodes(tmp_path / "new" / "out.jsonl", iter(episodes))
    assert load_episodes(tmp_path / "new" / "out.jsonl", NAMES) == episodes


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    one = Episode.from_json(GOOD)
    write_episodes(file, [one])
    with pytest.raises(WaywordError, match="two episodes have the id 'one'"):
        write_episodes(file, [one, one])
    broken = copy.copy(one)
    object.__setattr__(broken, "arena_m", math.nan)
    with pytest.raises(WaywordError, match="NaN or infinity"):
        write_episodes(file, [broken])
    assert load_episodes(file) == [one]
    assert [p.name for p in tmp_path.iterdir()] == ["out.jsonl"]


def test_the_shipped_corpus_is_read_once() -> None:
    assert load_natural("dev") is load_natural("dev")
    with pytest.raises(WaywordError, match="no split 'valid'; choose one of train, dev, test"):
        load_natural("valid")
