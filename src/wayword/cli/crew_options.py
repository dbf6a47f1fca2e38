"""Options of every verb with many jobs: how many workers, and where they are."""

from __future__ import annotations

import os
from dataclasses import dataclass

from wayword.compute import Crew
from wayword.errors import WaywordError


@dataclass(frozen=True, kw_only=True)
class RayOption:
    """Where the workers are."""

    ray: str | None = None
    """Workers on a Ray cluster, by its address, or "local" for a Ray of its own on this machine (docs/scale.md); by
    default RAY_ADDRESS if that is set, otherwise processes of this machine. Changes speed, never results."""

    def _crew(self, workers: int | None, option: str = "workers", usual: int = 2) -> Crew:
        """``usual``: workers of this machine if no number was given; a cluster's are as many as it has cores."""
        if workers is not None and workers < 1:
            raise WaywordError(f"--{option} {workers}: at least 1 is needed")
        cluster = self.ray or os.environ.get("RAY_ADDRESS") or None
        return Crew(usual if workers is None and cluster is None else workers, cluster)


@dataclass(frozen=True, kw_only=True)
class CrewOptions(RayOption):
    """How many workers, and where."""

    workers: int | None = None
    """Workers, one core each; by default 2, and on a cluster all of its cores."""

    def crew(self) -> Crew:
        """Who does the jobs."""
        return self._crew(self.workers)
