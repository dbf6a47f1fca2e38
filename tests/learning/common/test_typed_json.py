from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

from wayword.errors import WaywordError
from wayword.learning.common.typed_json import from_plain, json_differences, to_plain


@dataclass(frozen=True)
class Inner:
    shape: tuple[int, int] = (2, 3)
    rates: tuple[float, ...] = (0.5,)


@dataclass(frozen=True)
class Outer:
    steps: int
    minutes: float = 1.0
    method: Literal["bc", "ppo"] = "ppo"
    inner: Inner | None = field(default_factory=Inner)
    start: Path | None = None
    on: bool = False


def test_settings_go_through_json_and_come_back_the_same() -> None:
    for config in (Outer(3), Outer(4, 2.5, "bc", Inner((5, 6), ()), Path("a") / "b", True), Outer(1, inner=None)):
        assert from_plain(Outer, to_plain(config)) == config
    assert to_plain(Outer(3))["inner"] == {"shape": [2, 3], "rates": [0.5]}
    assert from_plain(Outer, {"steps": 3, "minutes": 2}) == Outer(3, 2.0)  # what is left out has its default


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "steps is missing"),
        ({"steps": 3.0}, "steps 3.0: must be a whole number"),
        ({"steps": True}, "steps True: must be a whole number"),
        ({"steps": 3, "minutes": "2"}, "minutes '2': must be a number"),
        ({"steps": 3, "method": "sac"}, "method 'sac': choose bc or ppo"),
        ({"steps": 3, "minuts": 2}, "minuts is no setting; did you mean minutes?"),
        ({"steps": 3, "inner": {"shape": [1]}}, r"inner.shape \[1\]: must have 2 entries"),
        ({"steps": 3, "inner": {"shape": [1, "x"]}}, r"inner.shape\[1\] 'x': must be a whole number"),
        ({"steps": 3, "inner": 5}, "inner must be an object"),
        ([], "must be an object"),
    ],
)
def test_what_does_not_fit_is_named(values: object, message: str) -> None:
    with pytest.raises(WaywordError, match=message.replace("?", r"\?")):
        from_plain(Outer, values)


def test_differences_name_settings_by_their_whole_name() -> None:
    before, after = to_plain(Outer(3)), to_plain(Outer(3, 2.0, inner=Inner((2, 4))))
    assert json_differences(before, after) == ["minutes 1.0, now 2.0", "inner.shape [2, 3], now [2, 4]"]
    assert json_differences({"a": 1}, {"b": 1}) == ["a 1, now not there", "b not there, now 1"]
    assert json_differences({"a": 1}, {"a": 1.0}) == []
