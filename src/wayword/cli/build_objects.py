"""``wayword objects build``: the object databases of the experiments."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from wayword.cli.common import progress_bar, say, say_aside
from wayword.errors import WaywordError


@dataclass(frozen=True)
class Build:
    """Build a database from simulated flights: photos cropped from frames, and what the objects are called."""

    out: Path
    """A new folder for it."""
    which: Literal["seen", "dev", "test", "all"] = "dev"
    """Which of the catalogue's objects; all 80 make the large database of the experiments."""
    pack: Path | None = None
    """The things of a baked mesh pack (.npz) instead, each called by its name; near copies are left out."""
    views: int = 5
    """Photos per object; take 40 or more for a pool to draw training databases from."""
    seed: int = 0
    """Which layouts, flights and lights."""

    def run(self) -> None:
        """Fly, choose, write."""
        from wayword.learning.ar.databases import BuildConfig, build_database, build_pack_database
        from wayword.sim.models.baked import BakedPack
        from wayword.sim.models.catalogue import names

        if self.pack is not None and self.pack.suffix.lower() != ".npz":
            raise WaywordError(f"--pack {self.pack}: must be a baked pack (.npz with its index .json)")
        if self.pack is None:
            count = len(names(None if self.which == "all" else self.which))
        else:
            count = len(BakedPack(self.pack))
        config = BuildConfig(views=self.views, seed=self.seed)
        with progress_bar("flying", count) as advance:
            if self.pack is None:
                database = build_database(self.out, self.which, config, advance)
            else:
                database = build_pack_database(self.out, self.pack, config, advance, say_aside)
        say(f"{self.out}: {len(database)} objects, {self.views} photos each")
