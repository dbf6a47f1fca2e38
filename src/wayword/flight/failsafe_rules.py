"""The autopilot's own failsafes, judged: a line of the pre-flight list for each parameter and the room it leaves."""

from __future__ import annotations

from collections.abc import Mapping

from wayword.flight.autopilots import Autopilot, Rule
from wayword.flight.firmware import Version, version_text
from wayword.flight.vehicle import PreflightCheck

_ABOVE_M = 0.2
"""The vehicle may be so much higher than it is told without meeting the autopilot's ceiling."""


def parameter_checks(
    autopilot: Autopilot, parameters: Mapping[str, float], firmware: Version | None = None
) -> list[PreflightCheck]:
    """The failsafe parameters, as they were read back from a vehicle with this firmware."""
    rules = [rule for rule in autopilot.rules if not rule.only_with or rule.only_with in parameters]
    return [_check(rule, parameters, firmware) for rule in rules]


def _check(rule: Rule, parameters: Mapping[str, float], firmware: Version | None) -> PreflightCheck:
    name = next((name for name in (rule.name, *rule.others) if name in parameters), rule.name)
    value = parameters.get(name)
    if value is None:
        remedy = "check the link and the firmware's version"
        return PreflightCheck(name, False, "not answered", rule.demand, remedy)
    value_text, remedy = f"{value:g}", rule.remedy.format(name=name)
    values, since = rule.newer
    if round(value) in values and (firmware is None or firmware < since):
        value_text = f"{value:g} on firmware {version_text(firmware)}, which has it from {version_text(since)} on only"
        return PreflightCheck(name, False, value_text, rule.demand, remedy)
    missing = rule.lacks(value, parameters)
    if rule.holds(value) and missing:
        return PreflightCheck(name, False, f"{value:g} {missing}", rule.demand, remedy)
    return PreflightCheck(name, rule.holds(value), value_text, rule.demand, remedy)


def room_checks(
    autopilot: Autopilot, parameters: Mapping[str, float], height_m: float, radius_m: float
) -> list[PreflightCheck]:
    """Whether the autopilot's own fence leaves room for a flight at this height, this far from where it stands.

    ArduPilot keeps FENCE_MARGIN (2 m by default) inside its fence: a ceiling a little above ours is below the floor.
    """
    margin = parameters.get("FENCE_MARGIN", 2.0) if autopilot.name == "ArduPilot" else 0.0
    less = f" less FENCE_MARGIN {margin:g} m" if margin else ""
    high, far = autopilot.walls
    checks = []
    for name, least in ((high, height_m + _ABOVE_M), (far, radius_m)):
        value = parameters.get(name)
        if value is None:  # said already
            continue
        checks.append(
            PreflightCheck(
                f"room in {name}",
                value - margin >= least - 1e-6,
                f"{value:g} m{less}",
                f"at least {least:.1f} m for this flight",
                f"set {name} to {least + margin + 0.1:.1f}" + (" or make FENCE_MARGIN smaller" if margin else ""),
            )
        )
    return checks
