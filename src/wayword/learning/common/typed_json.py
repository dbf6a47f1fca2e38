"""Typed, frozen settings as JSON and back: what a run folder keeps, what one process hands to another.

    to_plain(LoopConfig(steps=10, minutes=1.0))              {"steps": 10, "minutes": 1.0, "learning_rate": 0.002, ...}
    from_plain(LoopConfig, {"steps": 10, "minutes": 1})      the same again
    json_differences(before, after)                          ["steps 10, now 20"]

Settings are dataclasses of numbers, texts, truth values, paths, choices, tuples and further such dataclasses. What does
not fit its type is refused with its whole name (``visitation.loop.steps``), never bent into shape.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from wayword.errors import WaywordError

Config = TypeVar("Config")


def to_plain(value: Any) -> Any:
    """Settings as JSON has them: objects, lists, numbers, texts; paths with forward slashes."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, tuple | list):
        return [to_plain(each) for each in value]
    if isinstance(value, Path):
        return value.as_posix()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{type(value).__name__} has no place in settings")


def from_plain(kind: type[Config], values: Any, name: str = "") -> Config:
    """Settings of a dataclass ``kind`` from JSON; what is left out has its default. ``name`` is where they stand."""
    if not isinstance(values, Mapping):
        raise WaywordError(f"{name or 'the settings'} must be an object with settings")
    hints, arguments = _hints(kind), {}
    known = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for key, value in values.items():
        if key not in known:
            near = get_close_matches(str(key), known, 1)
            raise WaywordError(
                f"{_join(name, str(key))} is no setting" + (f"; did you mean {near[0]}?" if near else "")
            )
        arguments[key] = _typed(hints[key], value, _join(name, key))
    for key, field in known.items():
        needed = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if needed and key not in arguments:
            raise WaywordError(f"{_join(name, key)} is missing")
    return kind(**arguments)


def json_differences(before: Any, after: Any) -> list[str]:
    """What differs between two JSON values, one entry per setting: its name, what it was, what it is now."""
    old, new = dict(_leaves(before)), dict(_leaves(after))
    lines = []
    for name in dict.fromkeys((*old, *new)):
        if name not in old or name not in new or old[name] != new[name]:
            lines.append(f"{name} {_text(old, name)}, now {_text(new, name)}")
    return lines


def _hints(kind: type) -> dict[str, Any]:
    if not dataclasses.is_dataclass(kind):
        raise TypeError(f"{kind} is no dataclass of settings")
    return get_type_hints(kind)


def _typed(kind: Any, value: Any, name: str) -> Any:
    """``value`` as a ``kind``, or an error that says where it stands."""
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        if value is None and type(None) in get_args(kind):
            return None
        options = [option for option in get_args(kind) if option is not type(None)]
        return _first(options, value, name)
    if origin is tuple:
        return _tuple(get_args(kind), value, name)
    if origin is Literal:
        if not any(value == choice and type(value) is type(choice) for choice in get_args(kind)):
            raise WaywordError(f"{name} {value!r}: choose {' or '.join(map(str, get_args(kind)))}")
        return value
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return from_plain(kind, value, name)
    if kind is Path and isinstance(value, str):
        return Path(value)
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if kind in (int, str, bool) and type(value) is kind:
        return value
    raise WaywordError(f"{name} {value!r}: must be {_named(kind)}")


def _first(options: list[Any], value: Any, name: str) -> Any:
    """``value`` as the first of several types that it fits."""
    for option in options[:-1]:
        try:
            return _typed(option, value, name)
        except WaywordError:
            continue
    return _typed(options[-1], value, name)


def _tuple(kinds: tuple[Any, ...], value: Any, name: str) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise WaywordError(f"{name} {value!r}: must be a list")
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        kinds = (kinds[0],) * len(value)
    if len(kinds) != len(value):
        raise WaywordError(f"{name} {value!r}: must have {len(kinds)} entries")
    return tuple(_typed(kind, each, f"{name}[{k}]") for k, (kind, each) in enumerate(zip(kinds, value, strict=True)))


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for key, each in value.items():
            yield from _leaves(each, _join(name, str(key)))
    else:
        yield name, value


def _text(leaves: Mapping[str, Any], name: str) -> str:
    if name not in leaves:
        return "not there"
    text = str(leaves[name])
    return text if len(text) <= 40 else f"{text[:12]}..."


def _named(kind: Any) -> str:
    names = {float: "a number", int: "a whole number", str: "a text", bool: "true or false", Path: "a path"}
    return names.get(kind, str(kind))


def _join(name: str, key: str) -> str:
    return f"{name}.{key}" if name else key
