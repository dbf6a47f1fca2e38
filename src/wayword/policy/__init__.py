"""Policies: from observations and an instruction to actions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from wayword.errors import WaywordError
from wayword.policy.baselines import Average, AverageConfig, Stop
from wayword.policy.interface import Observations, Policy, Privileged, Watching
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
    "Watching",
    "make_policy",
]

_SIMPLE: dict[str, Callable[[], Policy]] = {"oracle": Oracle, "average": Average, "stop": Stop}
_LEARNED = ("fspvn", "fspvn_bc", "fspvn_nou", "fspvn_noi", "fspvn_perfect")


def make_policy(name: str, weights: Path | None = None, grounder: Path | str = "sim") -> Policy:
    """A policy by its name; learned ones take FsPVN's shipped weights, or those in the folder ``weights``.

    ``grounder`` names the segmentation's weights: shipped ones, or a folder.
    """
    if name in _SIMPLE:
        return _SIMPLE[name]()
    if name not in _LEARNED:
        raise WaywordError(f"unknown policy {name!r}; choose one of {', '.join((*_SIMPLE, *_LEARNED))}")
    from wayword.grounding import Grounder  # loads networks, which the others do without
    from wayword.grounding.weights import find_weights
    from wayword.policy.variants import load_variant

    return load_variant(name, weights, grounder=Grounder.load(folder=find_weights(grounder)))
