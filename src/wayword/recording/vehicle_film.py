"""The video and the trace of a flown flight, made from its black box: the same as those of a simulated one.

The policy looks at the recorded images again to say what it thought, which also shows whether it would decide the
same again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayword.flight.governor import Kind
from wayword.flight.replay import Recording
from wayword.pictures.flight_card import CardLayout, FlightCard
from wayword.pictures.thought_card import LAYOUT, ThoughtCard
from wayword.pictures.thought_masks import View
from wayword.pictures.topdown import TopDown
from wayword.policy.interface import Observations, Policy, Privileged, Thinking
from wayword.policy.thought_record import thought_record
from wayword.recording.film import FRAMES_PER_SECOND
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.look import Look
from wayword.task import IMAGE_HEIGHT, IMAGE_WIDTH, STOP_THRESHOLD

_LAST_FRAME_S = 2


class VehicleFilm:
    """Frames to iterate over, once; afterwards ``trace`` holds every number."""

    def __init__(
        self,
        recording: Recording,
        policy: Policy,
        instruction: str,
        objects: Any,
        bank: MeshBank,
        outcome: str,
        placed: Any = (),
        demonstration: NDArray[np.float64] | None = None,
    ) -> None:
        self.recording, self.policy, self.outcome = recording, policy, outcome
        self.different = 0
        """Decisions that the policy would not take again."""
        self.decisions: list[dict[str, Any]] = []
        policy.reset([instruction], [objects])
        if demonstration is not None and isinstance(policy, Privileged):
            policy.brief([demonstration])
        thinking = isinstance(policy, Thinking)
        top = TopDown(bank, Look(), size_px=(LAYOUT if thinking else CardLayout()).map.width)
        title = str(recording.about.get("vehicle", "flight"))
        self.card: FlightCard
        if isinstance(policy, Thinking):
            self.card = ThoughtCard(title, policy.parsed(0), top, placed, policy=policy.name, camera=recording.camera)
        else:
            self.card = FlightCard(title, instruction, top, placed, policy=policy.name)

    def __iter__(self) -> Iterator[NDArray[np.uint8]]:
        recording, path, due = self.recording, list[tuple[float, ...]](), 0.0
        coming = list(recording.sights)
        image = coming[0].shot.pixels if coming else np.zeros((IMAGE_HEIGHT, IMAGE_WIDTH, 3), np.uint8)
        frame = None
        for inputs, command in recording.ticks:
            while coming and coming[0].decision.made_s <= inputs.now_s:
                image = coming[0].shot.pixels
                self._think_again(coming.pop(0))
            pose, gone = inputs.telemetry.pose, inputs.now_s - recording.started_s
            path.append(pose[:2])
            if gone + 1e-6 < due:
                continue
            due += 1 / FRAMES_PER_SECOND
            text = command.kind.value if command.kind is not Kind.VELOCITY else f"{command.forward_m_s:.2f} m/s"
            telemetry = {
                "time": f"{gone:.1f} s",
                "sent": text,
                "speed": f"{float(np.hypot(*inputs.telemetry.velocity[:2])):.2f} m/s",
                "turn": f"{command.yaw_rate_rad_s:+.2f} rad/s",
            }
            frame = (image, pose, np.array(path), telemetry)
            yield self.card.frame(*frame)
        if frame is not None:
            last = self.card.frame(*frame, outcome=self.outcome)
            yield from [last] * (_LAST_FRAME_S * FRAMES_PER_SECOND)

    def _think_again(self, sight: Any) -> None:
        policy, decision = self.policy, sight.decision
        where = np.array([sight.pose])
        action = np.asarray(policy.act(Observations(np.zeros(1, np.int64), sight.shot.pixels[None], where)))[0]
        recorded = np.array([decision.forward_m_s, decision.yaw_rate_rad_s])
        same = np.allclose(action[:2], recorded, atol=1e-4, equal_nan=True)
        self.different += not (same and bool(action[2] > STOP_THRESHOLD) == decision.stop)
        record: dict[str, Any] = {
            "time_s": round(decision.made_s - self.recording.started_s, 3),
            "pose": [round(value, 4) for value in sight.pose],
            "forward_m_s": decision.forward_m_s,
            "yaw_rate_rad_s": decision.yaw_rate_rad_s,
            "stop": decision.stop,
        }
        if isinstance(policy, Thinking) and isinstance(self.card, ThoughtCard):
            thought = policy.thought(0)
            record["thought"] = thought_record(thought)
            self.card.think(thought, View(where[0], np.zeros(sight.shot.pixels.shape[:2], np.float32)))
        self.decisions.append(record)

    def trace(self) -> dict[str, Any]:
        """What happened, as plain values; the keys are those of a simulated flight's trace."""
        ticks = self.recording.ticks
        interventions = [
            {"time_s": round(record["now_s"] - self.recording.started_s, 3), "act": record["act"],
             "reasons": record["reasons"]}
            for record in self.recording.box.of("intervention")
        ]  # fmt: skip
        return {
            "outcome": self.outcome,
            "policy": self.policy.name,
            **self.recording.about,
            "decisions": self.decisions,
            "interventions": interventions,
            "flown": [[round(value, 4) for value in inputs.telemetry.pose[:2]] for inputs, _ in ticks],
        }
