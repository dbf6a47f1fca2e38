"""Steps that are about being somewhere: at an object and on which side, in a gap, at the start, facing, seeing."""

from __future__ import annotations

import numpy as np

from wayword.evaluation.commands.attempt import Attempt, StepFinding, called, once_done
from wayword.evaluation.commands.trace import Bools, Floats, wrapped

_TURNED = {"front": np.pi, "behind": 0.0, "left": np.pi / 2, "right": -np.pi / 2}
"""Where a side of an object lies, turned from the direction of view."""
_SIDES = {"front": "before", "behind": "behind", "left": "left of", "right": "right of"}


def goto(attempt: Attempt) -> StepFinding:
    """At the object, no other one clearly nearer, on the side and at the distance that were said.

    A said distance replaces the bound; farther out than the bound it does not matter what else is near.
    """
    flown, step, bounds, name = attempt.flown, attempt.step, attempt.bounds, attempt.object
    distance, away = flown.distance(name), attempt.reported_value(flown.distance(name))
    near = distance <= bounds.at_m
    if step.distance_m is not None:
        near = np.abs(distance - step.distance_m) <= bounds.tolerance_m(step.distance_m)
    own = distance - flown.nearest_other(name) <= bounds.rival_m
    if step.distance_m is not None and step.distance_m > bounds.at_m:
        own = np.ones_like(near)
    good, wrong = near & own, ""
    if step.stop in _TURNED:
        side = _on_side(attempt, step.stop)
        wrong = f"not {_SIDES[step.stop]} it" if (good & attempt.after).any() else ""
        good &= side
    elif step.stop == "facing":
        facing = np.abs(flown.bearing_deg(name)) <= bounds.turn_deg
        wrong = "not facing it" if (good & attempt.after).any() else ""
        good &= facing
    at = -1 if attempt.last else attempt.first + int(distance[attempt.first :].argmin())
    if not near[at]:
        wrong = f"{away:.2f} m away" if step.distance_m is None else f"{away:.2f} m away, not {step.distance_m:g}"
    elif not own[at]:
        wrong = f"{away:.2f} m away and nearer to another object"
    where = f" {_SIDES[step.stop]} {called(name)}" if step.stop in _SIDES else f" at {called(name)}"
    what = ("stopped" if attempt.last else "was") + where + (", facing it" if step.stop == "facing" else "")
    return StepFinding(
        good & attempt.after, away, "m", f"{what}: yes, {away:.2f} m", f"{what}: no, {wrong or f'{away:.2f} m away'}"
    )


def _on_side(attempt: Attempt, side: str) -> Bools:
    """(T,) on a side of the object as seen from the start, from where the step began, or on arrival."""
    flown, bounds = attempt.flown, attempt.bounds
    place, outside = np.asarray(flown.places[attempt.object]), flown.distance(attempt.object) > bounds.arrival_m
    index = np.arange(len(flown))
    arrived = np.maximum.accumulate(np.where(outside, index, 0))  # the last sample outside; the start if none was
    offset = _angle(flown.points - place)
    good = np.zeros(len(flown), bool)
    for seen_from in (np.zeros_like(index), np.full_like(index, attempt.first), arrived):
        looking = _angle(place - flown.points[seen_from])
        good |= np.abs(wrapped(offset - looking - _TURNED[side])) <= np.radians(bounds.side_deg)
    return good


def _angle(vectors: Floats) -> Floats:
    return np.asarray(np.arctan2(vectors[:, 1], vectors[:, 0]))


def gap(attempt: Attempt) -> StepFinding:
    """In the gap between two objects, or through it."""
    flown, bounds, (a, b) = attempt.flown, attempt.bounds, attempt.step.objects
    corner, line = np.asarray(flown.places[a]), np.subtract(flown.places[b], flown.places[a])
    length = max(float(np.hypot(*line)), 1e-9)
    offset = flown.points - corner
    share = offset @ line / length**2
    beside = (offset[:, 1] * line[0] - offset[:, 0] * line[1]) / length
    low, high = bounds.gap_share
    names = f"{called(a)} and {called(b)}"
    if attempt.step.end == "in":
        good = (share >= low) & (share <= high) & (np.abs(beside) <= bounds.gap_m)
        off = attempt.reported_value(np.hypot(beside, length * np.maximum(0.0, np.maximum(low - share, share - high))))
        what = f"{'stopped' if attempt.last else 'was'} between {names}"
        words = f"{off:.2f} m off the gap"
        return StepFinding(good & attempt.after, off, "m", f"{what}: yes", f"{what}: no, {words}")
    crossed = np.zeros(len(flown), bool)
    turned = (beside[1:] >= 0) != (beside[:-1] >= 0)
    part = np.where(turned, beside[:-1] / np.where(turned, beside[:-1] - beside[1:], 1.0), 0.0)
    at = share[:-1] + part * (share[1:] - share[:-1])
    crossed[1:] = turned & (at >= low) & (at <= high) & attempt.after[:-1]
    away = float(np.hypot(*(flown.points - corner - line / 2)[attempt.first :].T).min())
    what = f"flew between {names}"
    words = f"{away:.2f} m from its middle at best"
    return StepFinding(once_done(crossed), away, "m", f"{what}: yes", f"{what}: no, {words}", holds=False)


def returned(attempt: Attempt) -> StepFinding:
    """Back where the flight began."""
    way = attempt.flown.way
    away = attempt.reported_value(way)
    ends = (way <= attempt.bounds.return_m) & attempt.after
    return StepFinding(
        ends, away, "m", f"returned to the start: yes, {away:.2f} m", f"returned to the start: no, {away:.2f} m away"
    )


def face(attempt: Attempt) -> StepFinding:
    """Turned towards the object, on the spot."""
    flown, bounds = attempt.flown, attempt.bounds
    off = np.abs(flown.bearing_deg(attempt.object))
    ends, facing = np.zeros(len(flown), bool), off <= bounds.turn_deg
    for begin in attempt.begins():
        ends[begin:] |= facing[begin:] & attempt.still(begin)
    degrees, what = attempt.reported_value(off), f"faced {called(attempt.object)}"
    at = len(flown) - 1 if attempt.last else attempt.first + int(off[attempt.first :].argmin())
    wrong = "after flying away" if facing[at] else f"{degrees:.0f} degrees off"
    return StepFinding(ends, degrees, "degrees", f"{what}: yes, {degrees:.0f} degrees off", f"{what}: no, {wrong}")


def search(attempt: Attempt) -> StepFinding:
    """The object came into the camera's view."""
    off = np.abs(attempt.flown.bearing_deg(attempt.object))
    in_view = (off < attempt.bounds.view_deg) & attempt.after
    least = float(off[attempt.first :].min())
    what = f"looked for {called(attempt.object)}"
    words = f"{least:.0f} degrees off the nose at best"
    return StepFinding(once_done(in_view), least, "degrees", f"{what}: yes, seen", f"{what}: no, {words}", holds=False)
