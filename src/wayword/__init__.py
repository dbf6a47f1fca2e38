"""Wayword: tell a camera drone where to fly in plain language, about things it has never seen.

pilot = wayword.load()
pilot.reset("stop in front of the globe", "my_objects")
action = pilot.act(image, pose)
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from wayword.pilot import Pilot

__all__ = ["__version__", "load"]

__version__ = "0.1.0"

# onnxruntime 1.31 reports its use over the network and keeps a database for it, unless told not to before it is
# imported. Nothing here sends anything that was not asked for.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")


def load(weights: Path | str | None = None, grounder: Path | str = "sim") -> Pilot:
    """A pilot with the shipped weights, or with those in the folder ``weights``; see ``wayword.pilot``."""
    from wayword.pilot import Pilot  # networks and compilers are loaded only by those who fly

    return Pilot.load(weights, grounder)
