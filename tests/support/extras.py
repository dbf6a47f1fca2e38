"""What some tests need beyond a plain installation, as markers.

    @pytest.mark.needs_rerun   runs where the part is there; elsewhere skipped, with a reason that says how to get it
    pytest -m needs_rerun      those tests alone, after an extra has been installed

A module that cannot be imported without PyTorch begins with ``from support.extra_torch import torch``.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from importlib.util import find_spec

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@dataclass(frozen=True)
class Extra:
    """Packages that come with one installation command; some need a browser of the system as well."""

    packages: tuple[str, ...]
    command: str
    browser: bool = False

    def missing(self) -> str | None:
        """Why a test that needs this cannot run, and what to do; None if it can."""
        absent = [package for package in self.packages if find_spec(package) is None]
        if absent:
            return f"needs {' and '.join(absent)}: {self.command}"
        if self.browser and chromium() is None:
            return "needs a browser: install chromium with the system's packages"
        return None


EXTRAS = {
    "needs_browser": Extra(("playwright", "viser"), "pip install playwright -e '.[studio]'", browser=True),
    "needs_flight": Extra(("cv2", "pymavlink"), "pip install -e '.[flight]'"),
    "needs_pyarrow": Extra(("pyarrow",), "pip install -e '.[lerobot]'"),
    "needs_lerobot": Extra(("lerobot",), "pip install -e '.[lerobot-train]' (in an environment of its own)"),
    "needs_mcap": Extra(("mcap", "mcap_ros2"), "pip install -e '.[mcap]' mcap-ros2-support"),
    "needs_ray": Extra(("ray",), "pip install -e '.[ray]'"),
    "needs_rerun": Extra(("rerun",), "pip install -e '.[rerun]'"),
    "needs_sb3": Extra(("stable_baselines3", "torch"), "pip install stable-baselines3 -e '.[train]'"),
    "needs_spacy": Extra(("spacy",), "pip install -e '.[spacy]'"),
    "needs_studio": Extra(("viser",), "pip install -e '.[studio]'"),
    "needs_torch": Extra(("torch", "onnx"), "pip install -e '.[train]'"),
}


def chromium() -> str | None:
    """The system's browser; nothing is ever downloaded for a test."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)
