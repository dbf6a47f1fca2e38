"""Commands as people type them: were the steps done? A judge of traces, scenes to fly in, and the table."""

from wayword.evaluation.commands.attempt import Bounds
from wayword.evaluation.commands.judge import Judgement, StepVerdict, judge
from wayword.evaluation.commands.trace import Trace

__all__ = ["Bounds", "Judgement", "StepVerdict", "Trace", "judge"]
