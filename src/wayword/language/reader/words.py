"""A reading in words, for people: what will be flown, before it is."""

from __future__ import annotations

from wayword.episodes.commands import Step
from wayword.language.reader.reading import Reading


def in_words(reading: Reading) -> str:
    """In one line."""
    if reading.kind == "refusal":
        return f"nothing to fly: {reading.refusal}"
    if reading.kind == "description":
        count = max(len(reading.legs), 1)
        return "a way that is described" + (f", in {count} legs" if count > 1 else "")
    return ", then ".join(step_words(step, reading) for step in reading.steps) or "stay"


def step_words(step: Step, reading: Reading | None = None) -> str:
    """One step, such as "go past the planter on your left"."""
    names = [_name(key, reading) for key in step.mentioned]
    first = names[0] if names else ""
    match step.do:
        case "goto":
            where = {"near": "to", "facing": "to", "front": "to the front of", "behind": "behind"}.get(step.stop)
            where = where or f"to the {step.stop} of"
            words = f"go {where} {first}" + (" and face it" if step.stop == "facing" else "")
            return words + (f", {step.distance_m:g} m from it" if step.distance_m is not None else "")
        case "pass":
            return f"pass {first}" + ("" if step.on == "any" else f" with it on your {step.on}")
        case "circle":
            way = {"cw": " clockwise", "ccw": " counter-clockwise"}.get(step.direction, "")
            return f"circle {first}{way}, {step.turns:g} turn{'' if step.turns == 1 else 's'}"
        case "between":
            return f"{'stop' if step.end == 'in' else 'fly through'} between {' and '.join(names)}"
        case "weave":
            return f"weave through {', '.join(names)}"
        case "turn":
            return f"turn {abs(step.degrees):g} degrees {'left' if step.degrees > 0 else 'right'}"
        case "forward" if step.until is not None:
            where = {"left": "on your left", "right": "on your right", "seen": "in view"}.get(
                step.until.is_, step.until.is_
            )
            return f"fly ahead until {first} is {where}"
        case "forward":
            return "fly ahead" + ("" if step.metres is None else f" {step.metres:g} m")
        case "back":
            return "back up" + ("" if step.metres is None else f" {step.metres:g} m")
        case "sideways":
            side = "left" if (step.metres or 0) > 0 else "right"
            return f"move {side}" + ("" if step.metres is None else f" {abs(step.metres):g} m")
        case "face":
            return f"face {first}"
        case "search":
            return f"look for {first}"
        case "return":
            return "come back"
        case "avoid":
            return f"keep away from {first}"
        case _:
            return "stay"


def _name(key: str, reading: Reading | None) -> str:
    if reading is None:
        return f"the {key}"
    thing = reading.things[key]
    return f"the {thing.name}" if thing.name is not None else thing.phrase
