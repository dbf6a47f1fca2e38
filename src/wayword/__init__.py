"""Wayword: tell a camera drone where to fly in plain language, about things it has never seen.

    import wayword

    flight = wayword.fly("go past the planter on its left, then stop in front of the globe", video="flight.mp4")

    pilot = wayword.load()                                     # on a simulator or a drone of your own
    pilot.reset("stop in front of the globe", "my_objects")
    action = pilot.act(image, pose)

Everything in ``__all__`` is loaded when it is first asked for: ``import wayword`` itself takes no time.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from wayword.lazy_names import lazy_names
from wayword.shipped import DEFAULT_GROUNDER

if TYPE_CHECKING:
    from pathlib import Path

    from wayword.camera import Camera
    from wayword.episodes import Episode, Example, examples, load_episodes, load_natural
    from wayword.errors import DataError, WaywordError
    from wayword.flying.fly import FlightResult, fly
    from wayword.grounding import Grounder
    from wayword.language.pipeline import LanguageModel, Parsed
    from wayword.objects import ObjectDatabase, teach
    from wayword.pilot import Action, Pilot, open_database
    from wayword.policy import Observations, Policy, make_policy
    from wayword.policy.fspvn import FsPVN, Thought
    from wayword.sim import Arena, ArenaConfig, MeshBank

__all__ = [
    "Action",
    "Arena",
    "ArenaConfig",
    "Camera",
    "DataError",
    "Episode",
    "Example",
    "FlightResult",
    "FsPVN",
    "Grounder",
    "LanguageModel",
    "MeshBank",
    "ObjectDatabase",
    "Observations",
    "Parsed",
    "Pilot",
    "Policy",
    "Thought",
    "WaywordError",
    "__version__",
    "examples",
    "fly",
    "load",
    "load_episodes",
    "load_natural",
    "make_policy",
    "open_database",
    "teach",
]

__version__ = "0.1.0"

_MODULES = {
    "camera": ("Camera",),
    "episodes": ("Episode", "Example", "examples", "load_episodes", "load_natural"),
    "errors": ("DataError", "WaywordError"),
    "flying.fly": ("FlightResult", "fly"),
    "grounding": ("Grounder",),
    "language.pipeline": ("LanguageModel", "Parsed"),
    "objects": ("ObjectDatabase", "teach"),
    "pilot": ("Action", "Pilot", "open_database"),
    "policy": ("Observations", "Policy", "make_policy"),
    "policy.fspvn": ("FsPVN", "Thought"),
    "sim": ("Arena", "ArenaConfig", "MeshBank"),
}
# onnxruntime 1.31 reports its use over the network and keeps a database for it, unless told not to before it is
# imported. Nothing here sends anything that was not asked for.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")


def load(
    weights: Path | str | None = None,
    grounder: Grounder | Path | str = DEFAULT_GROUNDER,
    camera: Camera | Path | str | None = None,
) -> Pilot:
    """A pilot with the shipped weights, or with those that are named: shipped ones, or a folder.

    ``camera``, or its file, is the one whose images it will be shown, if not the one it was trained with.
    """
    from wayword.pilot import Pilot  # networks and compilers are loaded only by those who fly

    return Pilot.load(weights, grounder, camera)


__getattr__ = lazy_names(__name__, _MODULES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
