"""Atomic writes: what is there is whole, and what cannot be written says so before hours of work."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from wayword.errors import WaywordError
from wayword.io import atomic_path, check_target, write_json, write_text


def others(folder: Path, *names: str) -> set[str]:
    return {path.name for path in folder.iterdir()} - set(names)


def test_text_and_json_are_written_as_utf8(tmp_path: Path) -> None:
    write_text(tmp_path / "a.txt", "d^p \N{GREEK SMALL LETTER PSI}\n")
    assert (tmp_path / "a.txt").read_bytes() == b"d^p \xcf\x88\n"
    write_json(tmp_path / "a.json", {"b": [1, 2.5], "a": "\N{GREEK SMALL LETTER PSI}"})
    text = (tmp_path / "a.json").read_text(encoding="utf-8")
    assert text.endswith("}\n")
    assert "\N{GREEK SMALL LETTER PSI}" in text
    assert list(json.loads(text)) == ["b", "a"]  # in the order given


def test_folders_are_made(tmp_path: Path) -> None:
    write_text(tmp_path / "one" / "two" / "file.txt", "x")
    assert (tmp_path / "one" / "two" / "file.txt").read_text() == "x"


def test_a_block_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text("old")

    def interrupted() -> None:
        with atomic_path(path) as temporary:
            temporary.write_text("half of the new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "old"
    assert not others(tmp_path, "file.txt")


def test_nobody_sees_half_a_file(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text("old")
    with atomic_path(path) as temporary:
        temporary.write_text("new")
        assert temporary.parent == tmp_path  # on the same disk, so that it can replace the other at once
        assert temporary.suffix == ".txt"
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert not others(tmp_path, "file.txt")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {"a": [float("-inf")]}])
def test_numbers_that_json_does_not_know_are_not_written(value: object, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_json(path, {"whole": 1})
    with pytest.raises(ValueError, match="Out of range float values"):
        write_json(path, value)
    assert json.loads(path.read_text()) == {"whole": 1}


def test_outputs_are_ordinary_files(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "a.txt", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o640


def test_a_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to(tmp_path / "real.txt")
    write_text(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_names_as_long_as_a_disk_allows(tmp_path: Path) -> None:
    name = "x" * 240 + ".json"
    write_json(tmp_path / name, 1)
    assert (tmp_path / name).read_text() == "1\n"


def test_what_can_never_be_written_is_said_beforehand(tmp_path: Path) -> None:
    with pytest.raises(WaywordError, match="is not an ordinary file"):
        check_target(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(WaywordError, match="is no writable folder"):
        check_target(tmp_path / "file" / "below.txt")
    assert (
        check_target(tmp_path / "not" / "there" / "yet.txt") == Path(os.path.realpath(tmp_path)) / "not/there/yet.txt"
    )
    assert not others(tmp_path, "file")  # asking makes nothing


def test_a_device_is_no_place_for_results() -> None:
    with pytest.raises(WaywordError, match="is not an ordinary file"):
        check_target("/dev/null")
