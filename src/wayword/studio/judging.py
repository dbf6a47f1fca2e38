"""What is said about a flight of the page: part by part, against the demonstration, or where it ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from wayword.evaluation.commands.spoken import judge_by_reading
from wayword.evaluation.verdicts import judge_by_demonstration_and_goal
from wayword.pilot.free_flight import judge_by_mentions
from wayword.pilot.verdict import FlightEnd, Verdict
from wayword.policy import Policy
from wayword.policy.wayfinder import Wayfinder
from wayword.studio.kept_flight import KeptFlight


def judge_flight(
    flight: KeptFlight,
    end: FlightEnd,
    policy: Policy,
    model: Callable[[str], str | None],
    mentioned: Sequence[str],
    sub_step_s: float,
) -> Verdict:
    """``model`` is what the layout calls an object of the database; ``mentioned`` are models too."""
    reading = flight.understood.reading
    if not flight.demonstrated and isinstance(policy, Wayfinder) and reading is not None and reading.kind == "steps":
        return judge_by_reading(reading, model, policy.refusal, sub_step_s)(end)
    judge = judge_by_demonstration_and_goal if flight.demonstrated else judge_by_mentions
    return judge(mentioned)(end)
