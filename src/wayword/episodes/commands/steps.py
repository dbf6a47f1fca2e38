"""What a command means: a list of steps, in the order of flight.

    goto      object, stop, distance_m   be at the object: near, front (before it, as seen on arrival), left / right /
                                         behind (that side as seen by the arriving drone), facing (close, looking at it)
    pass      object, on                 go by with it on the drone's left or right, or any
    circle    object, turns, direction   turns of 2 pi around it; cw / ccw seen from above, or any
    between   objects (2), end           stop in the gap ("in") or fly through it ("through")
    weave     objects                    slalom through them in this order
    turn      degrees                    on the spot, positive is left
    forward   metres, or until           some way if neither is said
    back      metres
    sideways  metres                     positive is left
    face      object                     turn towards it
    search    object                     look for it until it is in view
    return                               back to where the flight began
    stay                                 wait
    avoid     object                     keep away from it during the whole flight

Objects are keys: the slots of a template ("A"), the numbers of a reading's things, or the names of a layout's objects.
No steps at all: nothing that this drone can do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from wayword.errors import WaywordError

Do = Literal[
    "goto", "pass", "circle", "between", "weave", "turn", "forward", "back", "sideways",
    "face", "search", "return", "stay", "avoid",
]  # fmt: skip
StopSide = Literal["near", "front", "left", "right", "behind", "facing"]
On = Literal["left", "right", "any"]
Direction = Literal["cw", "ccw", "any"]
End = Literal["in", "through"]
Is = Literal["left", "right", "ahead", "behind", "close", "seen"]
SelectionRule = Literal[
    "nearest", "farthest", "leftmost", "rightmost", "nearest-left", "nearest-right", "behind-me", "straight-ahead",
    "beside", "only-other",
]  # fmt: skip


@dataclass(frozen=True)
class Until:
    """When to end flying ahead: when the object is there, as seen from the drone."""

    object: str
    is_: Is


@dataclass(frozen=True)
class Step:
    """One step; only the fields of its kind count (the table above)."""

    do: Do
    object: str | None = None
    objects: tuple[str, ...] = ()
    stop: StopSide = "near"
    distance_m: float | None = None
    on: On = "any"
    turns: float = 1.0
    direction: Direction = "any"
    end: End = "through"
    degrees: float = 0.0
    metres: float | None = None
    until: Until | None = None

    @property
    def mentioned(self) -> tuple[str, ...]:
        """Every object of the step, in order."""
        until = () if self.until is None else (self.until.object,)
        return (*(() if self.object is None else (self.object,)), *self.objects, *until)

    def renamed(self, name: Callable[[str], str]) -> Step:
        """The same step about objects with other names."""
        return replace(
            self,
            object=None if self.object is None else name(self.object),
            objects=tuple(name(key) for key in self.objects),
            until=None if self.until is None else replace(self.until, object=name(self.until.object)),
        )

    def to_json(self) -> dict[str, Any]:
        """As the corpus writes it: only what belongs to the kind."""
        record: dict[str, Any] = {"do": self.do}
        for field in FIELDS[self.do]:
            value = getattr(self, field)
            if field == "until":
                if value is not None:
                    record["until"] = {"object": value.object, "is": value.is_}
            elif field == "objects":
                record["objects"] = list(value)
            elif value is not None:
                record[field] = value
        return record

    @staticmethod
    def from_json(record: Any) -> Step:
        """Read a step as the corpus writes it; what does not belong to its kind is an error of one line."""
        if not isinstance(record, Mapping) or record.get("do") not in FIELDS:
            raise WaywordError(f"not a step: {str(record)[:80]}; a step says do, one of {', '.join(FIELDS)}")
        do = record["do"]
        foreign = sorted(set(record) - {"do", *FIELDS[do]})
        if foreign:
            raise WaywordError(f"a {do} step has no {foreign[0]!r}; it has {', '.join(FIELDS[do]) or 'nothing else'}")
        values = {key: _read(do, key, record[key]) for key in record if key != "do"}
        step = Step(do, **values)
        if "object" in FIELDS[do] and step.object is None:
            raise WaywordError(f"a {do} step needs an object")
        if do == "between" and len(step.objects) != 2:
            raise WaywordError("a between step needs two objects")
        if do == "weave" and not step.objects:
            raise WaywordError("a weave step needs objects")
        return step


FIELDS: dict[str, tuple[str, ...]] = {
    "goto": ("object", "stop", "distance_m"),
    "pass": ("object", "on"),
    "circle": ("object", "turns", "direction"),
    "between": ("objects", "end"),
    "weave": ("objects",),
    "turn": ("degrees",),
    "forward": ("metres", "until"),
    "back": ("metres",),
    "sideways": ("metres",),
    "face": ("object",),
    "search": ("object",),
    "return": (),
    "stay": (),
    "avoid": ("object",),
}
_CHOICES: dict[str, tuple[str, ...]] = {
    "stop": get_args(StopSide), "on": get_args(On), "direction": get_args(Direction), "end": get_args(End)
}  # fmt: skip
_LIMITS = {"turns": (0.2, 5.0), "degrees": (-1080.0, 1080.0), "metres": (-100.0, 100.0), "distance_m": (0.0, 100.0)}


def _read(do: str, key: str, value: Any) -> Any:
    if key in _CHOICES:
        if value not in _CHOICES[key]:
            raise WaywordError(f"{key} of a {do} step must be one of {', '.join(_CHOICES[key])}, not {value!r}")
        return value
    if key in _LIMITS:
        if value is None and key in ("metres", "distance_m"):
            return None
        low, high = _LIMITS[key]
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
            raise WaywordError(f"{key} of a {do} step must be a number from {low:g} to {high:g}, not {value!r}")
        return float(value)
    if key == "object" and isinstance(value, str) and value:
        return value
    if key == "objects" and isinstance(value, list) and all(isinstance(item, str) and item for item in value):
        return tuple(value)
    until = key == "until" and isinstance(value, Mapping) and set(value) == {"object", "is"}
    if until and isinstance(value["object"], str) and value["is"] in get_args(Is):
        return Until(value["object"], value["is"])
    raise WaywordError(f"{key} of a {do} step cannot be {str(value)[:60]!r}")


@dataclass(frozen=True)
class Select:
    """An object that is meant but not named: a rule over what stands around, as seen from the start pose."""

    rule: SelectionRule
    of: str | None = None
    """For "beside": beside which object."""
    rank: int = 1
    """1 is the first that fits, 2 the second."""

    def to_json(self) -> dict[str, Any]:
        """As the corpus writes it."""
        record: dict[str, Any] = {"rule": self.rule}
        if self.of is not None:
            record["of"] = self.of
        if self.rank != 1:
            record["rank"] = self.rank
        return record

    @staticmethod
    def from_json(record: Any) -> Select:
        """Read a rule as the corpus writes it."""
        if not isinstance(record, Mapping) or record.get("rule") not in get_args(SelectionRule):
            raise WaywordError(
                f"not a rule for an object: {str(record)[:80]}; one of {', '.join(get_args(SelectionRule))}"
            )
        rank, of = record.get("rank", 1), record.get("of")
        if isinstance(rank, bool) or not isinstance(rank, int) or not 1 <= rank <= 20:
            raise WaywordError(f"rank must be a whole number from 1 to 20, not {rank!r}")
        if (of is not None and not isinstance(of, str)) or set(record) - {"rule", "of", "rank"}:
            raise WaywordError(f"not a rule for an object: {str(record)[:80]}")
        if record["rule"] == "beside" and of is None:
            raise WaywordError('the rule beside needs "of"')
        return Select(record["rule"], of, rank)
