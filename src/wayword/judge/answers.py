"""Answers: what one looks like, keeping them as they come, reading them back.

A line of ``STUDY/answers/CODE.jsonl`` is one answer; a rater may change an answer, and the latest counts. Lines are
appended in one write and flushed to the disk before the rater is told "saved"; a line that was cut short by a crash
is left out when read, and never spoils the next.
"""

from __future__ import annotations

import json
import math
import os
import re
import threading
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args

from wayword.errors import DataError, WaywordError
from wayword.guarded import listing, parse_json, read_bytes, read_json
from wayword.judge.study import FORMAT, Study

Problem = Literal["none", "ambiguous", "impossible", "confusing"]
PROBLEMS: tuple[Problem, ...] = get_args(Problem)
SCORES = range(1, 6)
MOST_BYTES = 2_000
"""Of one answer; real ones have some 250."""
MOST_FILE_BYTES = 20_000_000
"""Of all answers of a rater, changes of mind included."""
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z", re.ASCII)
_SLOWEST_S = 10_000_000
_LEAVE = "leave it out"


@dataclass(frozen=True)
class Answer:
    """One judgement of one flight by one rater."""

    study: str
    rater: str
    item: str
    goal: int
    path: int
    problem: Problem
    seconds: float
    """Between the flight's appearance and the answer."""
    at: str
    """When it was given, UTC, as browsers write it."""
    consent: bool

    @classmethod
    def of(cls, value: object, study: Study) -> Answer:
        """Check an answer against the study; whatever is wrong with it is said in one line."""
        names = [entry.name for entry in fields(cls)]
        if not isinstance(value, dict) or sorted(map(str, value)) != sorted(names):
            raise WaywordError(f"an answer has exactly the fields {', '.join(names)}")
        if value["study"] != study.id:
            raise WaywordError("the answer belongs to another study")
        rater, item, seconds = value["rater"], value["item"], value["seconds"]
        if not isinstance(rater, str) or rater not in study.sheets:
            raise WaywordError("the study has no such rater")
        if not isinstance(item, str) or item not in study.sheets[rater]:
            raise WaywordError("the rater was not asked about this flight")
        for name in ("goal", "path"):
            if type(value[name]) is not int or value[name] not in SCORES:
                raise WaywordError(f"{name} must be a whole number from 1 to 5")
        if value["problem"] not in PROBLEMS:
            raise WaywordError(f"problem must be one of {', '.join(PROBLEMS)}")
        if type(seconds) not in (int, float) or not (0 <= seconds <= _SLOWEST_S and math.isfinite(seconds)):
            raise WaywordError("seconds must be a number from 0 up")
        if not isinstance(value["at"], str) or not _TIME.fullmatch(value["at"]):
            raise WaywordError("at must be a time such as 2026-01-31T12:00:00.000Z")
        if value["consent"] is not True:
            raise WaywordError("there is no consent")
        return cls(**value)


class AnswerBook:
    """The answers of a study's folder; several threads may write."""

    def __init__(self, folder: Path, study: Study) -> None:
        self.study, self._folder, self._lock = study, folder / "answers", threading.Lock()
        self._folder.mkdir(parents=True, exist_ok=True)

    def append(self, answer: Answer) -> None:
        """Keep an answer; when this returns it is on the disk."""
        path = self._folder / f"{answer.rater}.jsonl"
        line = json.dumps(asdict(answer), allow_nan=False).encode() + b"\n"
        with self._lock:
            new = not path.exists()
            handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                size = os.fstat(handle).st_size
                if size + len(line) > MOST_FILE_BYTES:
                    raise WaywordError("this rater has sent too much; nothing more is taken")
                if size and os.pread(handle, 1, size - 1) != b"\n":  # what a crash cut short stays a line of its own
                    line = b"\n" + line
                if os.write(handle, line) != len(line):
                    raise OSError(28, "the disk is full")
                os.fsync(handle)
            finally:
                os.close(handle)
            if new:
                self._sync_folder()

    def of_rater(self, rater: str) -> list[Answer]:
        """The latest answers of a rater."""
        with self._lock:
            answers, _ = _lines(self._folder / f"{rater}.jsonl", self.study)
        return list(latest_answers(answers).values())

    def _sync_folder(self) -> None:
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def latest_answers(answers: Iterable[Answer]) -> dict[tuple[str, str], Answer]:
    """The last answer of each rater about each item; of two given at the same time, the later read."""
    result: dict[tuple[str, str], Answer] = {}
    for answer in sorted(answers, key=lambda answer: answer.at):
        result[answer.rater, answer.item] = answer
    return result


def read_answers(folder: Path, study: Study, more: Iterable[Path] = ()) -> tuple[dict[tuple[str, str], Answer], int]:
    """The latest answers kept in a study's folder and in downloaded files; and how many lines were unreadable."""
    answers: list[Answer] = []
    torn = 0
    answers_folder = folder / "answers"
    files = [answers_folder / name for name in listing(answers_folder)] if answers_folder.is_dir() else []
    for path in (file for file in files if file.suffix == ".jsonl"):
        lines, lost = _lines(path, study)
        answers += lines
        torn += lost
    for path in [*(file for file in files if file.suffix == ".json"), *more]:
        answers += _download(path, study)
    return latest_answers(answers), torn


def _lines(path: Path, study: Study) -> tuple[list[Answer], int]:
    if not path.exists() or not path.stat().st_size:  # a full disk may have left an empty one
        return [], 0
    answers, torn = [], 0
    for line in read_bytes(path, 2 * MOST_FILE_BYTES, remedy=_LEAVE).split(b"\n"):
        if not line.strip():
            continue
        try:
            answers.append(Answer.of(parse_json(line), study))
        except (
            ValueError,
            TypeError,
            RecursionError,
            WaywordError,
        ):  # only what passed this same check was ever written
            torn += 1
    return answers, torn


def _download(path: Path, study: Study) -> list[Answer]:
    """A file that a rater downloaded from a page and sent back."""
    saved: Mapping[str, Any] = read_json(path, 2 * MOST_FILE_BYTES, _LEAVE)
    try:
        if saved["format"] != FORMAT or not isinstance(saved["answers"], list):
            raise ValueError
        return [Answer.of(value, study) for value in saved["answers"]]
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(path, "is not a file of answers; ask the rater to download it again") from error
    except WaywordError as error:
        raise DataError(path, f"{error}; leave this file out") from error
