"""Steps that are about the drone itself: turning, and flying ahead, back or sideways by metres or until something."""

from __future__ import annotations

import math

import numpy as np

from wayword.episodes.commands import Until
from wayword.episodes.commands.equal import HALF_TURN_DEG
from wayword.evaluation.commands.attempt import Attempt, StepFinding, called
from wayword.evaluation.commands.trace import Bools, Floats


def turn(attempt: Attempt) -> StepFinding:
    """Turned by the said angle, in the said direction (half a turn: in either), on the spot."""
    flown, bounds, degrees = attempt.flown, attempt.bounds, attempt.step.degrees
    ends, best = np.zeros(len(flown), bool), (math.inf, 0.0)
    for begin in attempt.begins():
        turned = np.degrees(flown.yaw[begin:] - flown.yaw[begin])
        off = np.abs(turned - degrees)
        if abs(degrees) == HALF_TURN_DEG:
            off = np.minimum(off, np.abs(turned + degrees))
        still = attempt.still(begin)
        ends[begin:] |= (off <= bounds.turn_deg) & still
        best = min(best, _best(attempt, np.where(still, off, np.inf), turned))
    what = f"turned {abs(degrees):.0f} degrees" + ("" if abs(degrees) >= 180 else " left" if degrees > 0 else " right")
    value = best[1] if math.isfinite(best[0]) else 0.0
    wrong = f"{value:+.0f} degrees" if math.isfinite(best[0]) else "it flew away"
    return StepFinding(ends, value, "degrees", f"{what}: yes, {value:+.0f} degrees", f"{what}: no, {wrong}")


def straight(attempt: Attempt) -> StepFinding:
    """Flew ahead, back or sideways: displaced by the metres along the heading that the drone had when it began.

    The drone flies forward only, so that it may turn to go back; what counts is where it came. What it made good lies
    within the bound of a turn from the said direction, or within that of metres beside it, and it came there directly.
    """
    flown, step, bounds = attempt.flown, attempt.step, attempt.bounds
    if step.until is not None:
        return _until(attempt, step.until)
    metres = step.metres
    sign = -1.0 if step.do == "back" else 1.0
    sign *= 1.0 if metres is None else math.copysign(1.0, metres)
    ends, best = np.zeros(len(flown), bool), (math.inf, 0.0)
    for begin in attempt.begins():
        ahead, left = _made_good(attempt, begin)
        along, beside = (left, ahead) if step.do == "sideways" else (ahead, left)
        along = np.abs(along) if step.do == "sideways" and metres is None else sign * along
        off = np.maximum(0.0, bounds.some_way_m - along) if metres is None else np.abs(along - abs(metres))
        most = 0.0 if metres is None else bounds.tolerance_m(metres)
        slack = np.maximum(bounds.metres_m, math.tan(math.radians(bounds.turn_deg)) * along)
        times, more = bounds.detour
        direct = flown.length[begin:] - flown.length[begin] <= times * np.abs(along) + more
        clean = (np.abs(beside) <= slack) & direct
        ends[begin:] |= (off <= most + 1e-9) & clean
        best = min(best, _best(attempt, off + np.where(clean, 0.0, 100.0), along))
    what = {"forward": "flew ahead", "back": "flew back", "sideways": "flew sideways"}[step.do]
    what += "" if metres is None else f" {abs(metres):g} m"
    if step.do == "sideways" and metres is not None:
        what = f"flew {abs(metres):g} m to the {'left' if metres > 0 else 'right'}"
    wrong = f"{best[1]:.2f} m" + (" and aside" if best[0] >= 100.0 else "")
    return StepFinding(ends, best[1], "m", f"{what}: yes, {best[1]:.2f} m", f"{what}: no, {wrong}")


def _until(attempt: Attempt, until: Until) -> StepFinding:
    """Flew straight ahead until an object was there, as seen from the drone."""
    flown, bounds = attempt.flown, attempt.bounds
    holds = holds_at(attempt, until)
    ends, best = np.zeros(len(flown), bool), (math.inf, 0.0)
    for begin in attempt.begins():
        ahead, _ = _made_good(attempt, begin)
        swung = np.degrees(np.maximum.accumulate(np.abs(flown.yaw[begin:] - flown.yaw[begin])))
        flew = (ahead >= bounds.until_way_m) | holds[begin]
        good = holds[begin:] & flew & (swung < bounds.turn_deg)
        ends[begin:] |= good
        best = min(best, _best(attempt, np.where(good, 0.0, 1.0) + 0.001 * swung / bounds.turn_deg, swung))
    off = attempt.reported_value(np.abs(flown.bearing_deg(until.object)))
    away = attempt.reported_value(flown.distance(until.object))
    whereabouts = f"{away:.2f} m away" if until.is_ == "close" else f"it was {off:.0f} degrees off the nose"
    there = holds[-1] if attempt.last else (holds & attempt.after).any()
    wrong = whereabouts if not there else "it did not fly straight ahead"
    where = {"left": "on the left", "right": "on the right", "seen": "in view"}.get(until.is_, until.is_)
    what = f"flew ahead until {called(until.object)} was {where}"
    value, unit = (away, "m") if until.is_ == "close" else (off, "degrees")
    return StepFinding(ends, value, unit, f"{what}: yes, {whereabouts}", f"{what}: no, {wrong}")  # type: ignore[arg-type]


def holds_at(attempt: Attempt, until: Until) -> Bools:
    """(T,) whether the object is where the step waits for it."""
    flown, bounds = attempt.flown, attempt.bounds
    bearing = flown.bearing_deg(until.object)
    low, high = bounds.left_deg
    if until.is_ == "close":
        return np.asarray(flown.distance(until.object) <= bounds.close_m)
    tests: dict[str, Bools] = {
        "left": (bearing >= low) & (bearing <= high),
        "right": (bearing <= -low) & (bearing >= -high),
        "ahead": np.abs(bearing) <= bounds.turn_deg,
        "behind": np.abs(bearing) > bounds.behind_deg,
        "seen": np.abs(bearing) < bounds.view_deg,
    }
    return tests[until.is_]


def _made_good(attempt: Attempt, begin: int) -> tuple[Floats, Floats]:
    """Metres ahead and to the left of where and how the drone was at a sample, from then on."""
    flown = attempt.flown
    moved, yaw = flown.points[begin:] - flown.points[begin], flown.yaw[begin]
    return moved @ np.array([np.cos(yaw), np.sin(yaw)]), moved @ np.array([-np.sin(yaw), np.cos(yaw)])


def _best(attempt: Attempt, off: Floats, values: Floats) -> tuple[float, float]:
    """How far off it was at best, where the step may end, and the value there."""
    at = len(off) - 1 if attempt.last else int(off.argmin())
    return float(off[at]), float(values[at])
