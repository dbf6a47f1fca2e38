"""When two lists of steps ask for the same flight.

Equal are: ``goto`` A then ``circle`` A, and ``circle`` A; ``turn`` 180 then ``goto``, and ``search`` then ``goto``;
with and without ``stay`` after something else; ``goto`` facing, and ``goto`` then ``face``; a last ``search``, and
``search`` then ``goto``; to avoid something, wherever it is said; a half turn to either side; the ends of a gap in
either order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from wayword.episodes.commands import Select, Step


def same_steps(first: Sequence[Step], second: Sequence[Step]) -> bool:
    """Whether both ask for the same flight; their objects must have the same names."""
    return plain(first) == plain(second)


def plain(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The one form that all equal ones have in common."""
    avoided = sorted((step for step in steps if step.do == "avoid"), key=lambda step: step.object or "")
    rest = [step for step in steps if step.do not in ("avoid", "stay")]
    if not rest and any(step.do == "stay" for step in steps):
        return (*avoided, Step("stay"))
    result: list[Step] = []
    for number, step in enumerate(rest):
        before = result[-1] if result else None
        after = rest[number + 1] if number + 1 < len(rest) else None
        if step.do == "face" and before is not None and before.do == "goto" and before.object == step.object:
            result[-1] = replace(before, stop="facing" if before.stop == "near" else before.stop)
            continue
        if step.do == "circle" and before is not None and _is_visit(before, step.object):
            result.pop()
        if step.do == "turn" and abs(step.degrees) == 180:
            step = replace(step, degrees=180.0)
            if after is not None and after.do == "goto":
                step = Step("search", after.object)
        if step.do == "between":
            step = replace(step, objects=tuple(sorted(step.objects)))
        result.append(_rounded(step))
    if result and result[-1].do == "goto" and len(result) > 1:
        last, before = result[-1], result[-2]
        if before.do == "search" and before.object == last.object and _is_visit(last, last.object):
            result.pop()
    return (*avoided, *result)


def _is_visit(step: Step, name: str | None) -> bool:
    return step.do == "goto" and step.object == name and step.stop == "near" and step.distance_m is None


def _rounded(step: Step) -> Step:
    """Numbers to the centimetre and the degree."""
    return replace(
        step,
        metres=None if step.metres is None else round(step.metres, 2),
        distance_m=None if step.distance_m is None else round(step.distance_m, 2),
        degrees=round(step.degrees),
    )


def same_rules(first: Mapping[str, Select], second: Mapping[str, Select]) -> bool:
    """Whether both mean the same objects by the same rules, whatever their keys."""
    return sorted(map(_rule, first.values())) == sorted(map(_rule, second.values()))


def _rule(select: Select) -> tuple[str, int, str]:
    return select.rule, select.rank, select.of or ""
