"""Steps that go round things: passing, circling, weaving. All are deeds: once done they stay done."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from wayword.evaluation.commands.attempt import Attempt, StepFinding, called, once_done
from wayword.evaluation.commands.trace import Bools

_SIGNS = {"left": (1,), "right": (-1,), "any": (1, -1)}
"""With the object on the left one flies round it counter-clockwise."""
_TURNS = {"ccw": (1,), "cw": (-1,), "any": (1, -1)}
_WORDS = {1: "left", -1: "right"}


def go_past(attempt: Attempt) -> StepFinding:
    """Passed: within the bound, winding round the object to the side that was said."""
    flown, bounds, name = attempt.flown, attempt.bounds, attempt.object
    done = {sign: _passed(attempt, sign) for sign in (1, -1)}
    ends = np.logical_or.reduce([done[sign] for sign in _SIGNS[attempt.step.on]])
    nearest = float(flown.distance(name)[attempt.first :].min())
    side = "" if attempt.step.on == "any" else f" with it on the {attempt.step.on}"
    what = f"passed {called(name)}{side}"
    wrong = f"{nearest:.2f} m away"
    if nearest <= bounds.pass_m:
        other = next((_WORDS[sign] for sign in (1, -1) if done[sign].any()), None)
        turned = any(_wound(attempt, name, sign, attempt.first).any() for sign in _SIGNS[attempt.step.on])
        wrong = f"it was on the {other}" if other else "it turned back" if turned else "not gone by"
    return StepFinding(
        once_done(ends), nearest, "m", f"{what}: yes, {nearest:.2f} m", f"{what}: no, {wrong}", holds=False
    )


def _stays(attempt: Attempt, name: str, first: int) -> Iterator[tuple[int, int, int]]:
    """Stays near an object that reach beyond ``first``: first sample, first that counts in full, last sample."""
    for begin, end in attempt.flown.visits(name, attempt.bounds.pass_range_m):
        if end >= first:
            yield begin, max(begin, first), end


def _passed(attempt: Attempt, sign: int) -> Bools:
    """(T,) samples at which the object had been passed with it on the left (sign 1) or right (-1).

    A pass may begin before the step does, because one thing is often passed on the way out of another; half of the
    winding must come after. It must last until the drone has left the object behind or reached its next goal: one that
    turns back the way it came has passed nothing.
    """
    flown, bounds, name = attempt.flown, attempt.bounds, attempt.object
    distance, around = flown.distance(name), sign * flown.winding(name)
    ends = np.zeros(len(flown), bool)
    for begin, own, end in _stays(attempt, name, attempt.first):
        here = slice(begin, end + 1)
        gained, fresh = around[here] - around[begin], around[here] - around[own]
        good = np.minimum.accumulate(distance[here]) <= bounds.pass_m
        good &= (gained >= bounds.pass_rad) & (fresh >= bounds.pass_rad / 2) & attempt.after[here]
        left = np.zeros(end + 1 - begin, bool)
        left[-1] = True
        if attempt.upcoming is not None:
            left |= attempt.upcoming[here]
        lasting = np.flatnonzero(good & left)
        if len(lasting):
            ends[here] |= good & (np.arange(end + 1 - begin) <= lasting[-1])
    return ends


def _wound(attempt: Attempt, name: str, sign: int, first: int) -> Bools:
    """(T,) samples at which a slalom had gone round one of its objects, to one side, after ``first``.

    Objects stand as they may, so that the way to the next one may lead back: what was wound need not last.
    """
    flown, bounds = attempt.flown, attempt.bounds
    distance, around = flown.distance(name), sign * flown.winding(name)
    ends = np.zeros(len(flown), bool)
    for begin, own, end in _stays(attempt, name, first):
        here, counted = slice(begin, end + 1), slice(own, end + 1)
        gained = around[here] - np.minimum.accumulate(around[here])
        near = np.minimum.accumulate(distance[here]) <= bounds.pass_m
        fresh = around[counted] - np.minimum.accumulate(around[counted])
        good = near & (gained >= bounds.weave_rad)
        ends[counted] |= good[own - begin :] & (fresh >= bounds.weave_rad / 2)
    return ends


def weave(attempt: Attempt) -> StepFinding:
    """A slalom: each object passed within 1.0 m, in this order and on alternating sides.

    The first side is free. Passing one takes a winding of at least 0.5 rad round it: less than for passing one thing
    alone, because the line from gap to gap is straighter.
    """
    flown, objects = attempt.flown, attempt.step.objects
    ends, most = np.zeros(len(flown), bool), 0
    for side in (1, -1):
        first = attempt.first
        for count, name in enumerate(objects):
            passed = _wound(attempt, name, side * (-1) ** count, first)
            if not passed.any():
                break
            first, most = int(np.argmax(passed)), max(most, count + 1)
        else:
            ends[first:] = True
    what = "wove through " + ", ".join(called(name) for name in objects)
    wrong = f"no, {most} of {len(objects)} in turn"
    return StepFinding(ends, float(most), "", f"{what}: yes", f"{what}: {wrong}", holds=False)


def circle(attempt: Attempt) -> StepFinding:
    """Circled: round the object by the said angle, in one stay near it.

    Neither the way to the object nor, for a circle that is not the last step, the way to the next goal is part of it.
    """
    flown, step, bounds, name = attempt.flown, attempt.step, attempt.bounds, attempt.object
    around, angle = flown.winding(name, bounds.circle_m), 2 * math.pi * step.turns
    low, high = (share * angle for share in bounds.circle_share)
    ends, best = np.zeros(len(flown), bool), 0.0
    for begin, end in flown.visits(name, bounds.circle_range_m):
        own = max(begin, attempt.first)
        if own > end:
            continue
        for sign in _TURNS[step.direction]:
            gained = sign * (around[own : end + 1] - around[own])
            way_out = 0.0 if attempt.last else bounds.circle_way_out_rad
            leaving = gained[-1] - gained <= way_out + 1e-9
            way_in = np.flatnonzero(np.maximum.accumulate(gained) <= bounds.circle_way_in_rad)
            best = max(best, float(gained[-1] if attempt.last else gained.max()), key=lambda g: -abs(g - angle))
            for start in way_in.tolist():
                flew = gained[start:] - gained[start]
                good = (flew >= low) & (flew <= high) & leaving[start:]
                ends[own + start : end + 1] |= good
    turns = best / (2 * math.pi)
    way = "" if step.direction == "any" else {"cw": " clockwise", "ccw": " counter-clockwise"}[step.direction]
    times = {1.0: "once", 2.0: "twice"}.get(step.turns, f"{step.turns:g} times")
    what = f"circled {called(name)}{way} {times}"
    amount = f"{turns:.2f} turns"
    return StepFinding(once_done(ends), turns, "turns", f"{what}: yes, {amount}", f"{what}: no, {amount}", holds=False)
