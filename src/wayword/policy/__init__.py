"""Policies: from observations and an instruction to actions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from wayword.camera import Camera
from wayword.lazy_names import lazy_names
from wayword.policy.baselines import Average, AverageConfig, Stop
from wayword.policy.interface import (
    Observations,
    Policy,
    Privileged,
    Refusing,
    StepBriefed,
    Thinking,
    Watching,
    check_camera,
    needs_objects,
)
from wayword.policy.oracle import Oracle, OracleConfig
from wayword.registry import POLICIES
from wayword.shipped import DEFAULT_GROUNDER

if TYPE_CHECKING:
    from wayword.grounding import Grounder
    from wayword.policy.fspvn import FsPVN, FsPVNConfig, Thought
    from wayword.policy.taught import TaughtDatabase
    from wayword.policy.variants import VARIANTS, Variant

__all__ = [
    "VARIANTS",
    "Average",
    "AverageConfig",
    "FsPVN",
    "FsPVNConfig",
    "Observations",
    "Oracle",
    "OracleConfig",
    "Policy",
    "Privileged",
    "Refusing",
    "StepBriefed",
    "Stop",
    "TaughtDatabase",
    "Thinking",
    "Thought",
    "Variant",
    "Watching",
    "check_camera",
    "make_policy",
    "needs_objects",
]

__getattr__ = lazy_names(  # what loads networks, which the others do without
    __name__,
    {"fspvn": ("FsPVN", "FsPVNConfig", "Thought"), "taught": ("TaughtDatabase",), "variants": ("VARIANTS", "Variant")},
)


def make_policy(
    name: str,
    weights: Path | str | None = None,
    grounder: Grounder | Path | str = DEFAULT_GROUNDER,
    camera: Camera | None = None,
) -> Policy:
    """A policy by its name, or as module:Class (``wayword.registry``).

    ``weights`` and ``grounder`` are shipped ones by name, or folders; a policy that takes none must not be given any.
    ``camera`` is the one whose images it will be shown, for those that ask for it.
    """
    options: dict[str, object] = {} if weights is None else {"weights": weights}
    options |= {} if grounder == DEFAULT_GROUNDER else {"grounder": grounder}
    return cast(Policy, POLICIES.make(name, options, {"camera": camera or Camera()}))
