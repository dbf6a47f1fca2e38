"""Vectors on the disk: known ones are not made again, and nothing that could be wrong is believed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from wayword.vector_cache import FOLDER, MOST_FILES, Vectors, cached_vectors, key_of


class Maker:
    """Makes (n, 2n) of number n and remembers what it was asked for."""

    def __init__(self) -> None:
        self.asked_for: list[int] = []

    def __call__(self, rows: Sequence[int]) -> Vectors:
        self.asked_for += rows
        return np.array([[row, 2 * row] for row in rows], np.float32).reshape(-1, 2)


def keys(count: int) -> list[bytes | None]:
    return [key_of(str(number).encode()) for number in range(count)]


def vectors(root: Path | None, count: int, maker: str | None = "net 1") -> tuple[Vectors, list[int]]:
    make = Maker()
    return cached_vectors(root, "photos", maker, keys(count), make, 2), make.asked_for


EXPECTED = np.array([[0, 0], [1, 2], [2, 4]], np.float32)


def file_of(root: Path) -> Path:
    (path,) = (root / FOLDER).glob("photos-*.safetensors")
    return path


def test_what_is_known_is_not_made_again(tmp_path: Path) -> None:
    first, made_first = vectors(tmp_path, 2)
    grown, made_then = vectors(tmp_path, 3)
    again, made_last = vectors(tmp_path, 3)
    assert made_first == [0, 1]
    assert made_then == [2]
    assert made_last == []
    assert np.array_equal(first, EXPECTED[:2])
    assert np.array_equal(grown, EXPECTED)
    assert np.array_equal(again, EXPECTED)


def test_without_a_folder_a_maker_or_a_key_all_are_made(tmp_path: Path) -> None:
    for root, maker in ((None, "net 1"), (tmp_path, None)):
        assert vectors(root, 2, maker)[1] == [0, 1]
        assert vectors(root, 2, maker)[1] == [0, 1]
    assert not (tmp_path / FOLDER).exists()
    for _ in range(2):
        make = Maker()
        cached_vectors(tmp_path, "photos", "net 1", [keys(1)[0], None], make, 2)
        assert 1 in make.asked_for


def test_other_weights_have_vectors_of_their_own(tmp_path: Path) -> None:
    vectors(tmp_path, 2)
    assert vectors(tmp_path, 2, "net 2")[1] == [0, 1]
    assert vectors(tmp_path, 2)[1] == []
    for number in range(3, 3 + MOST_FILES):
        vectors(tmp_path, 2, f"net {number}")
    assert len(list((tmp_path / FOLDER).iterdir())) == MOST_FILES


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def other_maker(path: Path) -> None:
    """The file of other weights under this name: its check is about another maker."""
    root = path.parent.parent / "elsewhere"
    root.mkdir()
    vectors(root, 3, "net 2")
    os.replace(file_of(root), path)


HARM: dict[str, Callable[[Path], None]] = {
    "a bit of a vector": lambda path: flip(path, -1),
    "a bit in the middle": lambda path: flip(path, path.stat().st_size // 2),
    "a bit of the header": lambda path: flip(path, 3),
    "cut off": lambda path: os.truncate(path, path.stat().st_size - 5),
    "empty": lambda path: os.truncate(path, 0),
    "text": lambda path: path.write_text("no vectors at all"),
    "of other weights": other_maker,
    "a link": lambda path: (path.rename(path.with_name("x")), path.symlink_to(path.with_name("x")))[1],
}


@pytest.mark.parametrize("harm", HARM)
def test_a_damaged_file_is_not_believed_and_is_replaced(tmp_path: Path, harm: str) -> None:
    vectors(tmp_path, 3)
    HARM[harm](file_of(tmp_path))
    again, made = vectors(tmp_path, 3)
    assert made == [0, 1, 2]
    assert np.array_equal(again, EXPECTED)
    if harm != "a link":  # a link is left alone: it may lead out of the database
        assert vectors(tmp_path, 3)[1] == []


def test_a_place_that_cannot_be_written_does_without(tmp_path: Path) -> None:
    (tmp_path / FOLDER).write_text("a file is in the way")
    for _ in range(2):
        values, made = vectors(tmp_path, 3)
        assert made == [0, 1, 2]
        assert np.array_equal(values, EXPECTED)
    assert (tmp_path / FOLDER).read_text() == "a file is in the way"


def test_a_read_only_folder_is_read(tmp_path: Path) -> None:
    vectors(tmp_path, 2)
    before = file_of(tmp_path).read_bytes()
    (tmp_path / FOLDER).chmod(0o555)
    try:
        assert vectors(tmp_path, 2)[1] == []
        grown, made = vectors(tmp_path, 3)
    finally:
        (tmp_path / FOLDER).chmod(0o755)
    assert made == [2]
    assert np.array_equal(grown, EXPECTED)
    if os.geteuid():  # root may write anywhere
        assert file_of(tmp_path).read_bytes() == before


def test_killed_while_writing_the_file_is_the_old_or_the_new_one(tmp_path: Path) -> None:
    """A process writes larger and larger files and is killed; what it leaves is a whole file, or none is believed."""
    code = f"""
        import numpy as np
        from pathlib import Path
        from wayword.vector_cache import cached_vectors, key_of
        count = 2000
        while True:
            keys = [key_of(str(number).encode()) for number in range(count)]
            make = lambda rows: np.array([[row, 2 * row] for row in rows], np.float32)
            cached_vectors(Path({str(tmp_path)!r}), "photos", "net 1", keys, make, 2)
            count += 1
    """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)]) as process:
        until = time.monotonic() + 60
        while not list(tmp_path.glob(f"{FOLDER}/photos-*")) and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.2)
        process.send_signal(signal.SIGKILL)
    values, made = vectors(tmp_path, 2500)
    assert len(made) <= 500  # the 2,000 of the first file are there
    assert np.array_equal(values, np.array([[n, 2 * n] for n in range(2500)], np.float32))
