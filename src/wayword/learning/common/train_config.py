"""``train_config.json``: everything that decides what a training makes, beside the run and beside its weights.

    {"schema": 1, "training": "policy",
     "options": {...},            every setting, the seeds among them; what --config reads
     "seed": 7,
     "data": {"data": {"path": "runs/ar", "digest": "3f2a..."}},                 what was learned from
     "started_from": {"start": {"path": ..., "digest": ..., "train_config": {...}}},   the chain of runs before this one
     "versions": {"wayword": "0.1.0", "torch": "2.13.0", ...},
     "repeatable": true}          the same options, data and versions make the same weights, to the bit

A run folder belongs to its settings: going on in it with others is refused in one line that names them. A run that its
minutes end, or whose processes run at their own pace, is not ``repeatable``; ``note`` may say more.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol, TypeVar

import wayword
from wayword.errors import DataError, WaywordError
from wayword.guarded import read_json
from wayword.io import write_json
from wayword.learning.common.digests import CHECKPOINT, NOTE, digest_of
from wayword.learning.common.typed_json import from_plain, json_differences, to_plain
from wayword.versions import versions

FILE, SCHEMA = NOTE, 1
BEGINNINGS = ("start", "start_control", "stage1", "stage2")
"""Inputs of these names are runs or weights that a training goes on from; all others are data."""
_PACKAGES = ("torch", "onnxruntime", "safetensors", "tokenizers")


class Settings(Protocol):
    """What every training's settings have in common; otherwise they are a frozen dataclass."""

    @property
    def seed(self) -> int:
        """Of everything random."""

    @property
    def repeatable(self) -> bool:
        """Whether the same settings make the same weights, to the bit."""


Config = TypeVar("Config", bound=Settings)


@dataclasses.dataclass(frozen=True)
class TrainConfig:
    """What the file says; see the head of this module."""

    training: str
    options: Mapping[str, Any]
    seed: int
    data: Mapping[str, Mapping[str, Any]]
    started_from: Mapping[str, Mapping[str, Any]]
    versions: Mapping[str, str]
    repeatable: bool
    note: str = ""

    def keep(self, folder: Path) -> None:
        """Write it into a folder, atomically."""
        write_json(folder / FILE, self.as_json())

    def as_json(self) -> dict[str, Any]:
        """What the file holds."""
        record = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        if not self.note:
            del record["note"]
        return {"schema": SCHEMA, **record}

    def with_data(self, **folders: Path) -> TrainConfig:
        """The same with the digests of further data, such as that which the training made itself."""
        return dataclasses.replace(
            self, data={**self.data, **{name: _provenance(path) for name, path in folders.items()}}
        )

    def inputs(self) -> dict[str, Path]:
        """Where the data was that the user had named, for a run that is done again."""
        return {name: Path(entry["path"]) for name, entry in self.data.items() if entry.get("path")}

    def other_data(self, before: TrainConfig) -> list[str]:
        """What this training learned from something else than an earlier one of the same settings."""
        old, new = ({**each.data, **each.started_from} for each in (before, self))
        return [name for name in new if name in old and new[name]["digest"] != old[name]["digest"]]


def describe(training: str, config: Settings, inputs: object = None) -> TrainConfig:
    """What a training with ``config`` is; ``inputs`` is a dataclass of the folders and files it starts with."""
    data, started = {}, {}
    for field in dataclasses.fields(inputs) if inputs is not None else ():  # type: ignore[arg-type]
        paths = getattr(inputs, field.name)
        for path in paths if isinstance(paths, tuple) else (paths,):
            name = f"{field.name}/{path.name}" if isinstance(paths, tuple) else field.name
            if path is not None and field.name in BEGINNINGS:
                started[name] = _before(path)
            elif path is not None:
                data[name] = _provenance(path)
    return TrainConfig(training, to_plain(config), config.seed, data, started, _versions(), config.repeatable)


def joined(training: str, **folders: Path) -> TrainConfig:
    """What was put together from runs without training: it has no settings of its own, only a chain."""
    started = {name: _before(path) for name, path in folders.items()}
    before = [each["train_config"] for each in started.values()]
    seeds = {each["seed"] for each in before if isinstance(each, dict)}
    repeatable = all(isinstance(each, dict) and bool(each["repeatable"]) for each in before)
    return TrainConfig(training, {}, seeds.pop() if len(seeds) == 1 else 0, {}, started, _versions(), repeatable)


def claim(folder: Path, training: str, config: Settings, inputs: object = None) -> TrainConfig:
    """Make a run folder that of this training, or go on in it; with other settings it is refused."""
    now = describe(training, config, inputs)
    record = _raw(folder / FILE)
    if record is None:
        if (folder / CHECKPOINT).exists():
            raise WaywordError(f"{folder}: holds a run that does not say with which settings; choose another folder")
        now.keep(folder)
        return now
    before = read_train_config(folder / FILE)
    if before.training != training:
        raise WaywordError(f"{folder}: holds a run of {before.training}, not of {training}; choose another folder")
    changed = json_differences(_completed(before.options, type(config)), json.loads(json.dumps(now.options)))
    changed += json_differences({"data": _digests(before.data)}, {"data": _digests(now.data)})
    changed += json_differences(
        {"started_from": _digests(before.started_from)}, {"started_from": _digests(now.started_from)}
    )
    if changed:
        text = "; ".join(changed[:6]) + ("; ..." if len(changed) > 6 else "")
        raise WaywordError(
            f"{folder}: was begun with other settings ({text}); go on with the same, or choose another folder"
        )
    return before


def _completed(options: Mapping[str, Any], kind: type[Settings]) -> Any:
    """Settings as a run's folder has them; one that did not exist when it was begun had what is now its default."""
    try:
        return json.loads(json.dumps(to_plain(from_plain(kind, options))))
    except (WaywordError, TypeError):  # of another version altogether: the differences say so
        return options


def read_train_config(path: Path) -> TrainConfig:
    """What a train_config.json says."""
    raw = _raw(path)
    if raw is None:
        raise DataError(path, "is not there; a run folder or a folder of weights has one")
    try:
        if raw["schema"] != SCHEMA:
            raise DataError(path, f"has schema {raw['schema']}; this version reads {SCHEMA}")
        known = {field.name for field in dataclasses.fields(TrainConfig)}
        return TrainConfig(**{name: value for name, value in raw.items() if name in known})
    except (KeyError, TypeError) as error:
        raise DataError(path, "is damaged; copy it again from where it was made") from error


def read_options(path: Path, training: str, kind: type[Config]) -> Config:
    """The settings of a ``train_config.json``, typed: those of ``training`` only."""
    config = read_train_config(path)
    if config.training != training:
        raise DataError(path, f"is of `{config.training}`, not of `{training}`")
    try:
        return from_plain(kind, config.options)
    except WaywordError as error:
        raise DataError(path, str(error)) from error


def _raw(path: Path) -> dict[str, Any] | None:
    if not path.exists():
        return None
    raw = read_json(path, remedy="delete the folder to start anew")
    if not isinstance(raw, dict):
        raise DataError(path, "is no JSON object; delete the folder to start anew")
    return raw


def _provenance(path: Path) -> dict[str, Any]:
    """Where data was, and what it was; of what ships with Wayword no path is kept, it is elsewhere everywhere."""
    ships = path.resolve().is_relative_to(Path(wayword.__file__).resolve().parent)
    return {"path": None if ships else path.as_posix(), "digest": digest_of(path)}


def _before(path: Path) -> dict[str, Any]:
    return {**_provenance(path), "train_config": _raw(path / FILE)}


def _digests(entries: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    return {name: str(each["digest"]) for name, each in entries.items()}


def _versions() -> dict[str, str]:
    result = versions()
    for name in _PACKAGES:
        try:
            result[name] = version(name)
        except PackageNotFoundError:
            continue
    return result
