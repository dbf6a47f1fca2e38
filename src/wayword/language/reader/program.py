"""The steps of a command as a line of tokens, and which token may follow which.

    goto <1> stop:front m:0.5 | pass <2> on:left | turn side:left deg:90 | face rule:nearest rank:1 | end

``<k>`` points to something the text mentions: an object, or a quantity ("thirty centimetres") where a number is due. An
object that is meant by its place is a rule with its rank; ``again:1`` is the first such object once more. ``Grammar``
knows after every token what may come next, so that whatever a network prefers, the result can be flown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from wayword.episodes.commands import Select, Step, Until
from wayword.episodes.commands.steps import Direction, Do, Is, On, SelectionRule, StopSide

Quantity = Literal["m", "deg", "bare"]
Due = str
"""What a place in the line must be filled with: "do", "object", "stop", ..."""

METRES = (0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 1.0, 1.2, 1.5, 1.8, 2.0, 2.5, 3.0, 4.0, 5.0)
DEGREES = (5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 45.0, 60.0, 75.0, 90.0, 120.0, 135.0, 150.0, 180.0, 270.0, 360.0, 720.0)
TURNS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0)
RANKS, AGAIN = 6, 3
LONGEST = 96
"""Tokens; a text of ten steps has about forty."""

CHOICES: dict[Due, tuple[str, ...]] = {
    "do": (*get_args(Do), "end"),
    "stop": tuple(f"stop:{value}" for value in get_args(StopSide)),
    "on": tuple(f"on:{value}" for value in get_args(On)),
    "direction": tuple(f"dir:{value}" for value in get_args(Direction)),
    "turns": tuple(f"turns:{value:g}" for value in TURNS),
    "gap": ("gap:in", "gap:through"),
    "side": ("side:left", "side:right"),
    "degrees": tuple(f"deg:{value:g}" for value in DEGREES),
    "metres": ("some", *(f"m:{value:g}" for value in METRES)),
    "way": ("some", *(f"m:{value:g}" for value in METRES), "until"),
    "is": tuple(f"is:{value}" for value in get_args(Is)),
    "rank": tuple(f"rank:{value}" for value in range(1, RANKS + 1)),
    "object": (*(f"rule:{value}" for value in get_args(SelectionRule)), *(f"again:{k}" for k in range(1, AGAIN + 1))),
    "named": (),
    "more": (
        *(f"rule:{value}" for value in get_args(SelectionRule)),
        *(f"again:{k}" for k in range(1, AGAIN + 1)),
        "done",
    ),
}
VOCABULARY = tuple(dict.fromkeys(token for choices in CHOICES.values() for token in choices))
NUMBER = {token: number for number, token in enumerate(VOCABULARY)}

NEEDS: dict[str, tuple[Due, ...]] = {
    "goto": ("object", "stop", "metres"),
    "pass": ("object", "on"),
    "circle": ("object", "turns", "direction"),
    "between": ("object", "object", "gap"),
    "weave": ("object", "more"),
    "turn": ("side", "degrees"),
    "forward": ("way",),
    "back": ("metres",),
    "sideways": ("side", "metres"),
    "face": ("object",),
    "search": ("object",),
    "avoid": ("object",),
    "return": (),
    "stay": (),
    "end": (),
}
POINTS_TO_OBJECTS = frozenset({"object", "named", "more"})
POINTS_TO_QUANTITIES: dict[Due, frozenset[Quantity]] = {
    "metres": frozenset({"m", "bare"}),
    "way": frozenset({"m", "bare"}),
    "degrees": frozenset({"deg", "bare"}),
}


@dataclass(frozen=True)
class Pointer:
    """A token that points to what the text mentions: the number of an entity or of a quantity."""

    kind: Literal["entity", "quantity"]
    number: int


ProgramToken = str | Pointer


@dataclass
class Grammar:
    """What is due next; ``push`` moves on by one token."""

    due: list[Due] = field(default_factory=lambda: ["do"])
    """Stack: the last is due now."""
    selected: int = 0
    """Objects meant by a rule so far."""
    length: int = 0
    steps: int = 0

    @property
    def now(self) -> Due | None:
        """What is due; None at the end."""
        return self.due[-1] if self.due else None

    def choices(self) -> tuple[str, ...]:
        """Words that may come now."""
        due = self.now
        if due is None:
            return ()
        if due == "do" and self.full:
            return ("end",)
        if due == "more" and self.full:
            return ("done",)
        return tuple(
            token for token in CHOICES[due] if not token.startswith("again:") or int(token[6:]) <= self.selected
        )

    @property
    def full(self) -> bool:
        """Whether the line must come to an end: a list of things takes no more."""
        return self.length > LONGEST - 10

    def push(self, token: ProgramToken) -> None:
        """Take ``token``, which must be one that may come now."""
        due = self.due.pop()
        self.length += 1
        if due == "do" and isinstance(token, str):
            self.steps += token != "end"
            self.due += [*(() if token == "end" else ("do",)), *reversed(NEEDS[token])]
            return
        if due == "more" and token != "done":
            self.due.append("more")
        if isinstance(token, str) and token.startswith("rule:"):
            self.selected += 1
            self.due += ["named", "rank"] if token in ("rule:beside", "rule:only-other") else ["rank"]
        if token == "until":
            self.due += ["is", "object"]


def write(
    steps: Sequence[Step],
    select: Mapping[str, Select],
    entity: Callable[[str], int],
    quantity: Callable[[float, Quantity], int | None],
) -> list[ProgramToken]:
    """Steps as tokens; what is to be avoided comes first, since it holds for the whole flight.

    Args:
        steps: what is meant.
        select: rules of the objects that are not named.
        entity: the number of a named object's entity.
        quantity: the number of a quantity of the text with this value, if there is one.
    """
    order = [step for step in steps if step.do == "avoid"] + [step for step in steps if step.do != "avoid"]
    line: list[ProgramToken] = []
    keys: list[str] = []

    def object_(key: str) -> None:
        if key not in select:
            line.append(Pointer("entity", entity(key)))
        elif key in keys:
            line.append(f"again:{keys.index(key) + 1}")
        else:
            keys.append(key)
            rule = select[key]
            line.extend((f"rule:{rule.rule}", f"rank:{rule.rank}"))
            if rule.rule in ("beside", "only-other"):
                line.append(Pointer("entity", entity(rule.of or "")))

    def number(value: float | None, kind: Quantity) -> None:
        index = None if value is None else quantity(abs(value), kind)
        if value is None:
            line.append("some")
        elif index is not None:
            line.append(Pointer("quantity", index))
        else:
            known = DEGREES if kind == "deg" else METRES
            line.append(f"{kind}:{min(known, key=lambda each: abs(each - abs(value))):g}")

    for step in order:
        line.append(step.do)
        for key in (*(() if step.object is None else (step.object,)), *step.objects):
            object_(key)
        if step.do == "goto":
            line.append(f"stop:{step.stop}")
            number(step.distance_m, "m")
        elif step.do == "pass":
            line.append(f"on:{step.on}")
        elif step.do == "circle":
            line.append(f"turns:{min(TURNS, key=lambda each: abs(each - step.turns)):g}")
            line.append(f"dir:{step.direction}")
        elif step.do == "between":
            line.append(f"gap:{step.end}")
        elif step.do == "weave":
            line.append("done")
        elif step.do == "turn":
            line.append("side:left" if step.degrees >= 0 else "side:right")
            number(step.degrees, "deg")
        elif step.do == "sideways":
            line.append("side:left" if (step.metres or 0) >= 0 else "side:right")
            number(step.metres, "m")
        elif step.do == "forward" and step.until is not None:
            line.append("until")
            object_(step.until.object)
            line.append(f"is:{step.until.is_}")
        elif step.do in ("forward", "back"):
            number(step.metres, "m")
    return [*line, "end"]


@dataclass
class _Reader:
    """Reads a line of tokens that ``Grammar`` allows."""

    line: Sequence[ProgramToken]
    values: Sequence[float]
    sides: Mapping[int, int] = field(default_factory=dict)
    at: int = 0
    rules: list[Select] = field(default_factory=list)

    def next(self) -> ProgramToken:
        self.at += 1
        return self.line[self.at - 1]

    def word(self) -> str:
        return str(self.next()).partition(":")[2]

    def number(self) -> float | None:
        token = self.next()
        if isinstance(token, Pointer):
            return self.values[token.number]
        return None if token == "some" else float(token.partition(":")[2])

    def object(self, token: ProgramToken | None = None) -> str:
        """Key of an object: "e3" for an entity, "s1" for the first that is meant by a rule."""
        token = self.next() if token is None else token
        if isinstance(token, Pointer):
            return f"e{token.number}"
        kind, _, value = token.partition(":")
        if kind == "again":
            return f"s{value}"
        rank = int(self.word())
        of = self.object() if value in ("beside", "only-other") else None
        rule: Any = value
        self.rules.append(Select(rule, of, rank))
        return f"s{len(self.rules)}"


def read_program(
    line: Sequence[ProgramToken], values: Sequence[float], sides: Mapping[int, int] | None = None
) -> tuple[tuple[Step, ...], dict[str, Select]]:
    """Tokens as steps about "e0", "e1", ... (entities) and "s1", ... (meant by a rule), with these rules.

    Args:
        line: tokens that ``Grammar`` allows.
        values: of the quantities.
        sides: of those that say it themselves ("two o'clock"), 1 left and -1 right: there it counts, and not the token.
    """
    reader = _Reader(line, values, sides or {})
    steps: list[Step] = []
    while (do := reader.next()) != "end":
        steps.append(_step(str(do), reader))
    return tuple(steps), {f"s{number}": rule for number, rule in enumerate(reader.rules, 1)}


def _step(do: str, reader: _Reader) -> Step:
    fields: dict[str, Any] = {}
    side = 1.0
    for due in NEEDS[do]:
        if due == "object" and do in ("between", "weave"):
            fields["objects"] = (*fields.get("objects", ()), reader.object())
        elif due == "object":
            fields["object"] = reader.object()
        elif due == "more":
            while (token := reader.next()) != "done":
                fields["objects"] = (*fields["objects"], reader.object(token))
        elif due == "side":
            side = 1.0 if reader.word() == "left" else -1.0
        elif due == "way" and reader.line[reader.at] == "until":
            reader.next()
            until = reader.object()
            is_: Any = reader.word()
            fields["until"] = Until(until, is_)
        elif due in ("metres", "way", "degrees"):
            token = reader.line[reader.at]
            if isinstance(token, Pointer) and due == "degrees":
                side = float(reader.sides.get(token.number, side))
            value = reader.number()
            key = "distance_m" if do == "goto" else "degrees" if due == "degrees" else "metres"
            if value is None and do == "sideways":  # some way to a side still has a side
                value = SOME_SIDEWAYS
            fields[key] = None if value is None else round(side * value, 4)
        elif due == "turns":
            fields["turns"] = float(reader.word())
        else:
            fields[{"gap": "end"}.get(due, due)] = reader.word()
    return Step(do, **fields)  # type: ignore[arg-type]


SOME_SIDEWAYS = 0.5
"""Metres of "a bit to the left"."""
