"""What a number was made with."""

from __future__ import annotations

import platform
from importlib.metadata import version

from wayword import __version__

PACKAGES = ("numpy", "numba", "pot", "gymnasium")


def versions() -> dict[str, str]:
    """Versions of Wayword, Python and the packages that numbers depend on."""
    return {"wayword": __version__, "python": platform.python_version(), **{name: version(name) for name in PACKAGES}}
