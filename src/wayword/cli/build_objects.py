"""``wayword objects build``: the object databases of the experiments."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from wayword.cli.common import progress_bar, say


@dataclass(frozen=True)
class Build:
    """Build a database of catalogue objects from simulated flights: photos cropped from frames, written phrases."""

    out: Path
    """A new folder for it."""
    which: Literal["seen", "dev", "test", "all"] = "dev"
    """Which of the catalogue's objects; all 80 make the large database of the experiments."""
    views: int = 5
    """Photos per object; take 40 or more for a pool to draw training databases from."""
    seed: int = 0
    """Which layouts, flights and lights."""

    def run(self) -> None:
        """Fly, choose, write."""
        from wayword.learning.ar.databases import BuildConfig, build_database
        from wayword.sim.models.catalogue import names

        count = len(names(None if self.which == "all" else self.which))
        with progress_bar("flying", count) as advance:
            database = build_database(self.out, self.which, BuildConfig(views=self.views, seed=self.seed), advance)
        say(f"{self.out}: {len(database)} objects, {self.views} photos each")
