"""Steps in flight: ways around things, looking for things, and the flyer that puts them together."""

from wayword.policy.steps.flyer import StepFlyer
from wayword.policy.steps.reached import FlyerConfig
from wayword.policy.steps.surroundings import BelievedLayout, Surroundings, TrueLayout

__all__ = ["BelievedLayout", "FlyerConfig", "StepFlyer", "Surroundings", "TrueLayout"]
