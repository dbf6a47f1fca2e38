"""Policies: from observations and an instruction to actions."""

from collections.abc import Callable

from wayword.errors import WaywordError
from wayword.policy.baselines import Average, AverageConfig, Stop
from wayword.policy.interface import Observations, Policy, Privileged
from wayword.policy.oracle import Oracle, OracleConfig

__all__ = [
    "Average",
    "AverageConfig",
    "Observations",
    "Oracle",
    "OracleConfig",
    "Policy",
    "Privileged",
    "Stop",
    "make_policy",
]

_POLICIES: dict[str, Callable[[], Policy]] = {"oracle": Oracle, "average": Average, "stop": Stop}


def make_policy(name: str) -> Policy:
    """A policy by its name, with its default configuration."""
    if name not in _POLICIES:
        raise WaywordError(f"unknown policy {name!r}; choose one of {', '.join(_POLICIES)}")
    return _POLICIES[name]()
