"""Steps that mean the same flight, brought to one form: whoever plans, flies or judges steps starts from it.

goto A, circle A            circle A
turn 180, goto A            search A, goto A
goto A, face A              goto A facing
search A at the end         search A, goto A ("find A" is written both ways)
stay beside other steps     nothing: a drone that has arrived waits anyway
circle A, circle A          circle A with as many turns, if the directions agree
avoid                       first, in the order of the text: it holds during the whole flight
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from wayword.episodes.commands.steps import Step

HALF_TURN_DEG = 180.0


def canonical_steps(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The one form of all lists of steps that mean the same flight."""
    avoided = [step for step in steps if step.do == "avoid"]
    moves = [step for step in steps if step.do not in ("avoid", "stay")]
    if not moves:
        return (*avoided, *(step for step in steps if step.do == "stay"))[: len(avoided) + 1]
    if moves[-1].do == "search":
        moves.append(Step("goto", object=moves[-1].object))
    done: list[Step] = []
    for step in moves:
        done.append(step)
        while len(done) > 1 and (merged := _merged(done[-2], done[-1])) is not None:
            done[-2:] = merged
            if len(merged) == 2:
                break
    return (*avoided, *done)


def _merged(first: Step, second: Step) -> tuple[Step, ...] | None:
    """What stands for two steps in a row; None if they stay as they are."""
    same = first.object == second.object
    plain = first.do == "goto" and first.stop == "near"
    if plain and first.distance_m is None and second.do == "circle" and same:
        return (second,)
    if plain and second.do == "face" and same:
        return (replace(first, stop="facing"),)
    if first.do == "turn" and abs(first.degrees) == HALF_TURN_DEG and second.do == "goto":
        return (Step("search", object=second.object), second)
    if first.do == second.do == "circle" and same and first.direction == second.direction:
        return (replace(first, turns=first.turns + second.turns),)
    return None
