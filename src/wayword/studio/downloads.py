"""A flight of the page as files to take home: film, trace and Rerun recording, as `wayword fly` writes them.

The flight is not flown anew: its decisions and thoughts are played back in an arena with the same seed, which moves the
drone as it did, so that the film needs no code of its own.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wayword.errors import WaywordError
from wayword.language.pipeline import Parsed
from wayword.policy import Policy
from wayword.policy.fspvn import Thought
from wayword.policy.interface import Observations
from wayword.studio.kept_flight import KeptFlight

Take = Literal["Film", "Trace", "Rerun"]
FILES: dict[Take, str] = {"Film": "flight.mp4", "Trace": "flight.json", "Rerun": "flight.rrd"}
"""What can be taken, and what the file is called."""


class PlaybackPolicy:
    """A policy that decides what was decided."""

    def __init__(self, flight: KeptFlight) -> None:
        self.name, self._flight, self._number = flight.policy, flight, -1

    def reset(self, instructions: Sequence[str], objects: Sequence[Any]) -> None:
        """Start from the beginning."""
        self._number = -1

    def act(self, observations: Observations) -> NDArray[np.float64]:
        """The next decision; a flight that was stopped by hand stops where it was stopped."""
        self._number += 1
        legs = self._flight.legs
        if self._number >= len(legs):
            return np.array([[0.0, 0.0, 1.0]])
        return legs[self._number].action[None]


class ThinkingPlayback(PlaybackPolicy):
    """With the thoughts behind the decisions."""

    def thought(self, slot: int = 0) -> Thought:
        """Of the last decision."""
        legs = self._flight.legs
        thought = legs[min(max(self._number, 0), len(legs) - 1)].thought
        assert thought is not None
        return thought

    def parsed(self, slot: int = 0) -> Parsed:
        """How the instruction was understood."""
        return self._flight.understood.parsed


def take_home(flight: KeptFlight, what: Take) -> bytes:
    """The content of the file."""
    if not flight.legs:
        raise WaywordError("nothing has been flown yet; press Fly")
    if what == "Rerun":
        from wayword.recording.rerun_files import need_rerun

        need_rerun()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / FILES[what]
        _write(flight, what, path)
        return path.read_bytes()


def _write(flight: KeptFlight, what: Take, path: Path) -> None:
    from wayword.flying.flight_request import FlightRequest, PreparedFlight
    from wayword.flying.fly import FlightResult
    from wayword.io import write_text
    from wayword.pictures.video import write_video
    from wayword.recording.film import FRAMES_PER_SECOND, Film, RecorderConfig
    from wayword.recording.trace import format_trace
    from wayword.sim.arena import ArenaConfig

    example, database = flight.example, flight.database
    policy: Policy = ThinkingPlayback(flight) if flight.legs[0].thought is not None else PlaybackPolicy(flight)
    config = RecorderConfig(flight.seed, arena=ArenaConfig(camera=flight.camera, horizon=flight.horizon))
    verdict = flight.verdict
    if what == "Rerun":
        from wayword.recording.rerun_files import FilmLog

        with FilmLog(path, policy, example, flight.bank, config) as log:
            film = Film(policy, example, flight.bank, config, database, lambda end: verdict, decided=log.decided)
            log.ended(film.fly())
        return
    film = Film(policy, example, flight.bank, config, database, lambda end: verdict)
    if what == "Film":
        write_video(path, film, FRAMES_PER_SECOND)
        return
    parsed, reading = flight.understood.parsed, flight.understood.reading
    prepared = PreparedFlight(flight.bank, example, policy, database, parsed, flight.camera, reading)
    request = FlightRequest(instruction=flight.instruction, policy=flight.policy, seed=flight.seed)
    write_text(path, format_trace(FlightResult(request, prepared, film.fly()).trace()))
