"""Which flights become MCAP files: one that is being filmed, and one that a black box holds."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from wayword.camera import Camera
from wayword.episodes import Example, PlacedObject
from wayword.flight.governor import Kind
from wayword.flight.replay import Recording
from wayword.pictures.thought_words import NONE_OF_THESE
from wayword.pilot.free_flight import is_free
from wayword.policy import Policy, Thinking
from wayword.recording.mcap_log import McapLog
from wayword.recording.rerun_words import likeliest_object
from wayword.task import ALTITUDE_M, DECISION_S

if TYPE_CHECKING:
    from wayword.recording.film import FilmedFlight


class FilmMcap:
    """The MCAP file of one film: hears of its decisions, and is told at the end what happened."""

    def __init__(self, path: Path, policy: Policy, example: Example, camera: Camera) -> None:
        self._policy, self._example = policy, example
        self._log = McapLog(path, example.instruction, camera, example.objects)
        self._steps, self._rest = 0, ExitStack()

    def __enter__(self) -> Self:
        self._rest.enter_context(self._log)
        if not is_free(self._example):
            self._log.demonstrated(self._example.path, ALTITUDE_M)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._rest.__exit__(kind, error, trace)

    def decided(self, pose: NDArray[np.float64], image: NDArray[np.uint8]) -> None:
        """After each decision, with the picture it is about and where the drone was."""
        time_s = self._steps * DECISION_S
        self._steps += 1
        self._log.saw(time_s, pose, image)
        if not isinstance(self._policy, Thinking):
            return
        thought: Any = self._policy.thought(0)
        grounding = thought.grounding
        names = tuple(thought.parsed.references[0].probabilities) if thought.parsed.references else ()
        likeliest = [likeliest_object(grounding, b, names) for b in range(len(grounding.p_box))]
        labels = ["" if name == NONE_OF_THESE else f"{name} {p:.2f}" for name, p in likeliest]
        self._log.marked(time_s, grounding.boxes.tolist(), labels)

    def ended(self, flight: FilmedFlight) -> None:
        """Once."""
        for number, decision in enumerate(flight.decisions):
            self._log.commanded(number * DECISION_S, decision.action[0], decision.action[1])
        self._log.said(flight.end.seconds, flight.outcome)


def box_to_mcap(recording: Recording, path: Path) -> None:
    """A recorded flight of a vehicle, every tick of its governor, as an MCAP file."""
    about = recording.about
    placed = [PlacedObject(**item) for item in about.get("objects") or []]
    coming = list(recording.sights)
    with McapLog(path, str(about.get("instruction", "")), recording.camera, placed) as log:
        for inputs, command in recording.ticks:
            time_s = max(inputs.now_s - recording.started_s, 0.0)
            while coming and coming[0].decision.made_s <= inputs.now_s:
                sight = coming.pop(0)
                log.saw(time_s, sight.pose, sight.shot.pixels)
            log.moved(time_s, inputs.telemetry.pose)
            if command.kind is Kind.VELOCITY:
                log.commanded(time_s, command.forward_m_s, command.yaw_rate_rad_s, command.left_m_s)
        for record in recording.box.of("intervention"):
            reasons = ", ".join(str(reason) for reason in record["reasons"])
            at = max(record["now_s"] - recording.started_s, 0.0)
            log.said(at, f"governor: {record['act']} ({reasons})", warning=True)
        if recording.end is not None:
            last = recording.ticks[-1][0].now_s - recording.started_s if recording.ticks else 0.0
            log.said(max(last, 0.0), f"ended: {recording.end['ended']} ({', '.join(recording.end['reasons'])})")
