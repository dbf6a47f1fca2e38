"""The design of a questionnaire: who sees which flight in which order, and the key that says whose flight it was.

A study is a folder. Only ``pages`` is for raters; nothing in it says which system flew, nor does any order or name:

    STUDY/pages/CODE.html     one page per rater, complete in itself
    STUDY/key.json            which flight is whose; for the report, never for raters
    STUDY/answers/            CODE.jsonl as the server writes them, and the .json files raters send back

Every rater sees an instruction again only after all others, flown by another system. Attention checks are flights
whose text says which scores to give.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any

from wayword.errors import DataError, WaywordError
from wayword.guarded import read_json
from wayword.io import write_json

FORMAT = 1
CODE = re.compile(r"[0-9a-f]{16}")
"""Names of raters, items and studies: random, and the same length for all."""
MOST_RATERS, MOST_CHECKS = 1_000, 20


@dataclass(frozen=True)
class StudyItem:
    """One flight to be judged."""

    id: str
    example: str
    system: str
    check: tuple[int, int] | None = None
    """The goal and the path score its text asks for, if it is an attention check."""


@dataclass(frozen=True)
class Study:
    """A questionnaire."""

    id: str
    items: Mapping[str, StudyItem]
    sheets: Mapping[str, tuple[str, ...]]
    """By rater: the items in the order in which they are shown."""

    @property
    def systems(self) -> list[str]:
        """By name."""
        return sorted({item.system for item in self.items.values()})

    def save(self, folder: Path) -> None:
        """Write the key."""
        items = [asdict(item) for item in self.items.values()]
        sheets = {code: list(sheet) for code, sheet in self.sheets.items()}
        write_json(folder / "key.json", {"format": FORMAT, "study": self.id, "items": items, "sheets": sheets})

    @classmethod
    def load(cls, folder: Path) -> Study:
        """Read the key of a study's folder."""
        path = folder / "key.json"
        saved = read_json(path, remedy="make a study with wayword judge make")
        try:
            return cls._of(saved)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            raise DataError(path, "is not the key of a study; make it anew with wayword judge make") from error

    @classmethod
    def _of(cls, saved: Any) -> Study:
        if saved["format"] != FORMAT:
            raise ValueError
        items = {}
        for entry in saved["items"]:
            check = None if entry["check"] is None else (int(entry["check"][0]), int(entry["check"][1]))
            items[entry["id"]] = StudyItem(_code(entry["id"]), str(entry["example"]), str(entry["system"]), check)
        sheets = {_code(code): tuple(items[name].id for name in sheet) for code, sheet in saved["sheets"].items()}
        return cls(_code(saved["study"]), items, sheets)


def design(
    examples: Sequence[str],
    systems: Sequence[str],
    raters: int,
    checks: int,
    draw: Random,
    per_rater: int | None = None,
) -> Study:
    """Shuffle ``systems`` x ``examples`` into one sheet per rater; ``per_rater`` flights each, or all of them.

    However many each rater gets, no flight is judged more than once more often than another, and each system's share
    of a sheet is as even as the numbers allow.
    """
    _check_design(len(examples), len(systems), raters, checks, per_rater)
    items = {(e, s): StudyItem(_new_code(draw), e, s) for e in examples for s in systems}
    everything = _in_rounds(examples, systems, draw)
    share = len(everything) if per_rater is None else min(per_rater, len(everything))
    probes = []
    for _ in range(checks):
        goal, path = draw.sample(range(1, 6), 2)  # two different scores: not to be met by ticking one column
        probes.append(StudyItem(_new_code(draw), draw.choice(examples), draw.choice(systems), (goal, path)))
    sheets = {}
    for rater in range(raters):
        mine = [everything[(rater * share + i) % len(everything)] for i in range(share)]
        order = [items[pair].id for pair in _apart(mine, draw)]
        sheets[_new_code(draw)] = tuple(_with_checks(order, [probe.id for probe in probes], draw))
    listed = [*items.values(), *probes]
    draw.shuffle(listed)
    return Study(_new_code(draw), {item.id: item for item in listed}, dict(sorted(sheets.items())))


def _in_rounds(examples: Sequence[str], systems: Sequence[str], draw: Random) -> list[tuple[str, str]]:
    """Every pair once, in rounds of all examples, in each of which every system flies equally many."""
    mixed, crew = list(examples), list(systems)
    draw.shuffle(mixed)
    draw.shuffle(crew)
    return [(e, crew[(i + k) % len(crew)]) for k in range(len(crew)) for i, e in enumerate(mixed)]


def _apart(pairs: Sequence[tuple[str, str]], draw: Random) -> list[tuple[str, str]]:
    """Shuffled so that the same example comes again only after all others."""
    waiting: dict[str, list[tuple[str, str]]] = {}
    for pair in draw.sample(pairs, len(pairs)):
        waiting.setdefault(pair[0], []).append(pair)
    order: list[tuple[str, str]] = []
    while waiting:
        round_ = [own.pop() for own in waiting.values()]
        draw.shuffle(round_)
        if order and len(round_) > 1 and round_[0][0] == order[-1][0]:
            round_[0], round_[-1] = round_[-1], round_[0]
        order += round_
        waiting = {example: own for example, own in waiting.items() if own}
    return order


def _with_checks(order: list[str], probes: list[str], draw: Random) -> list[str]:
    """One check somewhere in each of as many equal stretches; never the first of all."""
    result = list(order)
    draw.shuffle(probes)
    for number in reversed(range(len(probes))):
        first, last = (round(len(order) * (number + i) / len(probes)) for i in (0, 1))
        result.insert(draw.randint(min(max(first, 1), last), last), probes[number])
    return result


def _check_design(examples: int, systems: int, raters: int, checks: int, per_rater: int | None) -> None:
    if examples < 1 or systems < 1:
        raise WaywordError("there are no flights to judge; evaluate at least one")
    if not 1 <= raters <= MOST_RATERS:
        raise WaywordError(f"--raters {raters}: must be 1 to {MOST_RATERS}")
    if not 0 <= checks <= MOST_CHECKS:
        raise WaywordError(f"--checks {checks}: must be 0 to {MOST_CHECKS}")
    if per_rater is not None and per_rater < 1:
        raise WaywordError(f"--per-rater {per_rater}: at least one flight is needed")


def _new_code(draw: Random) -> str:
    return f"{draw.getrandbits(64):016x}"


def _code(text: Any) -> str:
    if not isinstance(text, str) or not CODE.fullmatch(text):
        raise ValueError
    return text
