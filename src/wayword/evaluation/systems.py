"""The rows of the table: who flies, with which weights, taught which database.

A ``System`` is a name; everything it depends on is in its ``fingerprint``, so that a cell flown with other weights or
another database is never taken for this one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import wayword.language
from wayword.errors import WaywordError
from wayword.evaluation.columns import (
    Case,
    Column,
    database_digest,
    large_database,
    own_database,
    seen_database,
    shipped_database,
)
from wayword.evaluation.reading import Reader
from wayword.grounding import Grounder
from wayword.grounding.weights import find_weights
from wayword.objects import ObjectDatabase
from wayword.policy import Policy, make_policy
from wayword.policy.control import Control
from wayword.policy.stage1 import Stage1Runtime
from wayword.policy.taught import Taught
from wayword.policy.variants import VARIANTS, load_variant, note_of, weights_of

SystemName = Literal["average", "fspvn", "oracle", "fspvn_bc", "fspvn_bigo", "fspvn_nou", "fspvn_noi", "fspvn_perfect"]


@dataclass(frozen=True)
class System:
    """One row."""

    title: str
    policy: str
    """As ``make_policy`` knows it."""
    database: Literal["none", "own", "large"] = "own"

    @property
    def learned(self) -> bool:
        """Whether it has weights, and thoughts that can be asked for."""
        return self.policy in VARIANTS


SYSTEMS: Mapping[SystemName, System] = MappingProxyType(
    {
        "average": System("Average", "average", "none"),
        "fspvn": System("FsPVN", "fspvn"),
        "oracle": System("Oracle", "oracle", "none"),
        "fspvn_bc": System("FsPVN-BC", "fspvn_bc"),
        "fspvn_bigo": System("FsPVN-BigO", "fspvn", "large"),
        "fspvn_nou": System("FsPVN-NoU", "fspvn_nou"),
        "fspvn_noi": System("FsPVN-NoI", "fspvn_noi"),
        "fspvn_perfect": System("perfect segmentation", "fspvn_perfect"),
    }
)


def missing(name: SystemName, main: Path | None = None) -> str:
    """Why a system cannot fly; "" if it can."""
    try:
        if SYSTEMS[name].learned:
            folder = weights_of(SYSTEMS[name].policy, main)
            Stage1Runtime(folder)
            Control.load(folder)
    except WaywordError as error:
        return str(error)
    return ""


def note(name: SystemName, main: Path | None = None) -> str:
    """What the table must say about a row; "" if nothing."""
    return note_of(SYSTEMS[name].policy, main) if SYSTEMS[name].learned else ""


def load(name: SystemName, main: Path | None = None, grounder: str = "sim") -> Policy:
    """The policy of a row; language and segmentation are loaded once for all rows."""
    system = SYSTEMS[name]
    if not system.learned:
        return make_policy(system.policy)
    return load_variant(system.policy, main, _reader(), _grounder(grounder))


def databases(name: SystemName, column: Column, cases: Sequence[Case], folder: Path) -> list[ObjectDatabase | None]:
    """What the policy is taught for each case; None if nothing."""
    which = SYSTEMS[name].database
    if which == "none":
        return [None] * len(cases)
    if which == "large":
        return [large_database(column, folder)] * len(cases)
    return [own_database(column, case.example, folder) for case in cases]


def teach(
    name: SystemName, column: Column, cases: Sequence[Case], folder: Path, grounder: str = "sim"
) -> list[Taught | None]:
    """The same with photos embedded: once in a process, whoever is taught them."""
    return [None if base is None else _embedded(base, grounder) for base in databases(name, column, cases, folder)]


@cache
def _reader() -> Reader:
    return Reader()


@cache
def _grounder(which: str) -> Grounder:
    return Grounder.load(folder=find_weights(which))


@lru_cache(maxsize=256)
def _embedded(database: ObjectDatabase, grounder: str) -> Taught:
    return Taught.of(database, _grounder(grounder))


def fingerprint(
    name: SystemName, column: Column, folder: Path, main: Path | None = None, grounder: str = "sim"
) -> dict[str, Any]:
    """Everything about a row, beside the code, that its flights in a column depend on."""
    system = SYSTEMS[name]
    if not system.learned:
        return {"policy": system.policy, "config": repr(getattr(load(name), "config", None))}
    if system.database == "large":
        taught = database_digest(large_database(column, folder))
    else:
        taught = database_digest(seen_database(folder) if column.split == "seen" else shipped_database(column.split))
    return {
        "policy": system.policy,
        "config": asdict(VARIANTS[system.policy].config),
        "weights": folder_digest(weights_of(system.policy, main)),
        **_frozen_digests(grounder),
        "database": system.database,
        "taught": taught,
    }


@cache
def _frozen_digests(grounder: str) -> dict[str, str]:
    """Of what all learned rows share; a hundred megabytes, so once."""
    return {
        "grounding": folder_digest(find_weights(grounder)),
        "language": folder_digest(Path(wayword.language.__file__).parent),
    }


def folder_digest(folder: Path) -> str:
    """Changes whenever a file of weights or data in a folder does; code is counted elsewhere."""
    total = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        if path.suffix not in (".py", ".pyc", ".nbi", ".nbc", ".md"):
            total.update(path.relative_to(folder).as_posix().encode() + b"\0")
            total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()
