"""``wayword data export``: flights of a policy as a dataset for other people's trainers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from wayword.cli.common import progress_bar, say, say_aside
from wayword.errors import WaywordError
from wayword.flying.episode_source import EpisodeSource, Split, thin_out

_BATCH = 16
"""Flights flown, and kept in memory, at once."""


@dataclass(frozen=True)
class Export(EpisodeSource):
    """Fly examples and write what was seen, where, what was told and what was done, at every decision.

    For example: wayword data export --format lerobot --policy oracle --limit 200 --out data/lerobot
    """

    out: Path = Path("data/lerobot")
    """A new folder."""
    format: Literal["lerobot"] = "lerobot"
    """A LeRobotDataset v3 (docs/recordings.md)."""
    split: Split = "train"
    """Whose instructions: train (seen objects), dev or test (unseen ones)."""
    policy: str = "oracle"
    """Who flies, as for `wayword eval`; the oracle follows the demonstrations."""
    limit: int | None = None
    """At most this many flights, spread over the split."""
    random_looks: bool = False
    """Draw light, ground and surround at random per flight."""

    def run(self) -> None:
        """Fly and write, batch by batch."""
        import numpy as np

        from wayword.evaluation.runner import fly_examples
        from wayword.pilot.episode_loop import RunConfig
        from wayword.pilot.pilot import open_database
        from wayword.policy import make_policy, needs_objects
        from wayword.recording.lerobot_files import LeRobotFiles

        policy = make_policy(self.policy)
        if needs_objects(policy) and (self.split == "train" or self.episodes is not None):
            raise WaywordError(f"{self.policy} was taught the dev and test objects only; choose --split dev or test")
        database = open_database(self.split) if needs_objects(policy) else None
        with LeRobotFiles(self.out) as files:
            bank, cuts = self.load(say_aside)
            cuts = thin_out(cuts, self.limit)
            config, arrived = RunConfig(self.seed, _BATCH, self.random_looks), 0
            with progress_bar("flying and writing", len(cuts)) as advance:
                for first in range(0, len(cuts), _BATCH):
                    chunk = cuts[first : first + _BATCH]
                    taught = None if database is None else [database] * len(chunk)
                    for flight in fly_examples(policy, chunk, bank, config, taught, True, advance, first=first):
                        assert flight.images is not None
                        images, sr = np.asarray(flight.images), flight.metrics.sr
                        files.add(flight.example.instruction, images, flight.poses, flight.actions, sr)
                        arrived += sr
        say(f"{len(cuts)} flights of {self.policy}, {arrived} of them arrived")
        say(self.out)
