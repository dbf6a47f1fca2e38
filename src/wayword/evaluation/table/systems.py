"""The rows of the table: who flies, with which weights, taught which database.

A ``System`` is a name; everything it depends on is in its ``fingerprint``, so that a cell flown with other weights or
another database is never taken for this one.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import wayword.language
from wayword.errors import WaywordError
from wayword.evaluation.table.columns import (
    Column,
    TableCase,
    database_digest,
    large_database,
    own_database,
    seen_database,
    shipped_database,
)
from wayword.evaluation.table.reading import TableReader
from wayword.grounding import Grounder
from wayword.grounding.weight_files import find_weights
from wayword.objects import ObjectDatabase
from wayword.policy import Policy, make_policy, needs_objects
from wayword.policy.control import Control
from wayword.policy.pvn2 import PREDECESSORS
from wayword.policy.stage1 import Stage1Runtime
from wayword.policy.taught import TaughtDatabase
from wayword.policy.variants import VARIANTS, WITH_WEIGHTS
from wayword.registry import POLICIES
from wayword.shipped import DEFAULT_GROUNDER
from wayword.weight_folder import content_digest, folder_digest


@dataclass(frozen=True)
class System:
    """One row."""

    title: str
    policy: str
    """As ``make_policy`` knows it."""
    database: Literal["none", "own", "large"] = "own"

    @property
    def learned(self) -> bool:
        """Whether it is one of FsPVN's: with weights, and thoughts that can be asked for."""
        return self.policy in VARIANTS


SYSTEMS: Mapping[str, System] = MappingProxyType(
    {
        "average": System("Average", "average", "none"),
        "pvn2_seen": System("PVN2-SEEN", "pvn2_seen", "none"),
        "pvn2_all": System("PVN2-ALL", "pvn2_all", "none"),
        "fspvn": System("FsPVN", "fspvn"),
        "oracle": System("Oracle", "oracle", "none"),
        "fspvn_bc": System("FsPVN-BC", "fspvn_bc"),
        "fspvn_bigo": System("FsPVN-BigO", "fspvn", "large"),
        "fspvn_nou": System("FsPVN-NoU", "fspvn_nou"),
        "fspvn_noi": System("FsPVN-NoI", "fspvn_noi"),
        "fspvn_perfect": System("perfect segmentation", "fspvn_perfect"),
    }
)
"""The rows of the paper's table."""


def system_of(name: str) -> System:
    """The row of a name: one of the paper's, or any policy of the registry."""
    return SYSTEMS.get(name) or _policy_system(name)


@cache
def _policy_system(name: str) -> System:
    return System(name, name, "own" if needs_objects(POLICIES.make(name)) else "none")


def missing_weights(name: str, weights: Path | None = None) -> str:
    """Why a system cannot fly; "" if it can."""
    try:
        system = system_of(name)
        if system.learned:
            folder = VARIANTS[system.policy].folder(weights)
            Stage1Runtime(folder)
            Control.load(folder)
        elif system.policy in PREDECESSORS:
            load_system(name, weights)
    except WaywordError as error:
        return str(error)
    return ""


def system_note(name: str, weights: Path | None = None) -> str:
    """What the table must say about a row; "" if nothing."""
    system = system_of(name)
    return VARIANTS[system.policy].note(weights) if system.learned else ""


def load_system(name: str, weights: Path | None = None, grounder: str = DEFAULT_GROUNDER) -> Policy:
    """The policy of a row; language and segmentation are loaded once for all rows."""
    system = system_of(name)
    if predecessor := PREDECESSORS.get(system.policy):
        return predecessor.load(predecessor.beside(weights))
    if not system.learned:
        own = WITH_WEIGHTS.get(system.policy)
        return make_policy(system.policy) if own is None else own.load(weights, _grounder(grounder))
    return VARIANTS[system.policy].load(weights, _grounder(grounder), _reader())


def databases(name: str, column: Column, cases: Sequence[TableCase], folder: Path) -> list[ObjectDatabase | None]:
    """What the policy is taught for each case; None if nothing."""
    which = system_of(name).database
    if which == "none":
        return [None] * len(cases)
    if which == "large":
        return [large_database(column, folder)] * len(cases)
    return [own_database(column, case.example, folder) for case in cases]


def teach_system(
    name: str, column: Column, cases: Sequence[TableCase], folder: Path, grounder: str = DEFAULT_GROUNDER
) -> list[TaughtDatabase | ObjectDatabase | None]:
    """The same with photos embedded for FsPVN and its variants: once in a process, whoever is taught them."""
    learned = system_of(name).learned
    return [
        _embedded(base, grounder) if learned and base is not None else base
        for base in databases(name, column, cases, folder)
    ]


@cache
def _reader() -> TableReader:
    return TableReader()


@cache
def _grounder(grounder: str) -> Grounder:
    return Grounder.load(grounder)


@lru_cache(maxsize=256)
def _embedded(database: ObjectDatabase, grounder: str) -> TaughtDatabase:
    return TaughtDatabase.of(database, _grounder(grounder))


def fingerprint(
    name: str, column: Column, folder: Path, weights: Path | None = None, grounder: str = DEFAULT_GROUNDER
) -> dict[str, Any]:
    """Everything about a row, beside the code, that its flights in a column depend on."""
    system = system_of(name)
    if predecessor := PREDECESSORS.get(system.policy):
        return {"policy": system.policy, "weights": folder_digest(predecessor.beside(weights))}
    if not system.learned:
        return _own_fingerprint(name, column, folder, weights, grounder)
    if system.database == "large":
        taught = database_digest(large_database(column, folder))
    else:
        taught = _taught_digest(column, folder)
    return {
        "policy": system.policy,
        "config": asdict(VARIANTS[system.policy].config),
        "weights": folder_digest(VARIANTS[system.policy].folder(weights)),
        **_frozen_digests(grounder),
        "database": system.database,
        "taught": taught,
    }


def _own_fingerprint(name: str, column: Column, folder: Path, weights: Path | None, grounder: str) -> dict[str, Any]:
    """Of a row that is not the paper's; a policy of your own counts with the file it is written in."""
    system, policy = system_of(name), load_system(name, weights, grounder)
    result: dict[str, Any] = {"policy": system.policy, "config": repr(getattr(policy, "config", None))}
    if own := WITH_WEIGHTS.get(system.policy):
        result |= {"weights": folder_digest(own.folder(weights)), **_frozen_digests(grounder)}
    if name not in SYSTEMS:
        source = getattr(sys.modules[type(policy).__module__], "__file__", None)
        result["source"] = "" if source is None else content_digest(Path(source).read_bytes())
    if system.database != "none":
        result["taught"] = _taught_digest(column, folder)
    return result


def _taught_digest(column: Column, folder: Path) -> str:
    return database_digest(seen_database(folder) if column.split == "seen" else shipped_database(column.split))


@cache
def _frozen_digests(grounder: str) -> dict[str, str]:
    """Of what all learned rows share; a hundred megabytes, so once."""
    return {
        "grounding": folder_digest(find_weights(grounder)),
        "language": folder_digest(Path(wayword.language.__file__).parent),
    }
