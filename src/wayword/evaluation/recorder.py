"""Films one flight: the same arena and rules as the evaluation, with pictures ten times a second."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayword.episodes import Example
from wayword.evaluation.metrics import EpisodeMetrics, score
from wayword.evaluation.runner import RunConfig, situation_of
from wayword.policy import Observations, Policy, Privileged
from wayword.sim.arena import WATCHED, Arena, ArenaConfig
from wayword.sim.pictures.flight_card import FlightCard, Layout
from wayword.sim.pictures.topdown import TopDown
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.renderer import RenderConfig, Renderer

FRAMES_PER_SECOND = 10
_LAST_FRAME_S = 2
"""How long the video rests on the outcome."""


@dataclass(frozen=True)
class RecorderConfig:
    """How a flight is filmed."""

    seed: int = 0
    """Seeds vehicle, sensor and look."""
    random_look: bool = False
    """Draw light, ground and surround."""
    as_seen: bool = False
    """Show the policy's own pixels instead of a sharp picture from the same pose."""
    arena: ArenaConfig = field(default_factory=ArenaConfig)


@dataclass(frozen=True)
class Decision:
    """One decision of the policy."""

    time_s: float
    pose: list[float]
    action: list[float]


@dataclass(frozen=True, eq=False)
class Recording:
    """A filmed flight."""

    example: Example
    frames: list[NDArray[np.uint8]]
    decisions: list[Decision]
    path: NDArray[np.float64]
    metrics: EpisodeMetrics

    @property
    def outcome(self) -> str:
        """The result in one line."""
        m = self.metrics
        ended = {"policy": "stopped", "horizon": "ran out of time", "contact": "hit an object"}[m.ended_by]
        verdict = "arrived" if m.sr else "missed"
        touched = f", {m.collisions} contacts" if m.collisions else ""
        return f"{verdict}: {ended} {m.ne:.2f} m from the end, EMD {m.emd:.2f} m, {m.steps} decisions{touched}"


def record(
    policy: Policy,
    example: Example,
    bank: MeshBank,
    config: RecorderConfig | None = None,
    objects: Any = None,
    progress: Callable[[int], None] = lambda percent: None,
) -> Recording:
    """Fly one example and draw a flight card ten times a second; ``progress`` gets per cents."""
    config = config or RecorderConfig()
    arena = Arena(1, bank, config.arena)
    situation, seed = situation_of(example, RunConfig(config.seed, random_looks=config.random_look), 0)
    arena.reset([0], [situation], [seed])
    policy.reset([example.instruction], [objects])
    privileged = isinstance(policy, Privileged)
    if isinstance(policy, Privileged):
        policy.brief([example.path])
    top = TopDown(bank, situation.look, situation.arena_m, size_px=Layout().map.width)
    card = FlightCard(
        example.id, example.instruction, top, example.objects, policy=policy.name,
        demonstration=example.path if privileged else None,
    )  # fmt: skip
    sharp = replace(config.arena.camera, width=640, height=360)
    renderer = Renderer(bank, sharp, RenderConfig(supersample=True))
    scene = renderer.scene(situation.objects, situation.look, situation.arena_m)
    frames: list[NDArray[np.uint8]] = []
    action = np.zeros(3)

    def film(outcome: str | None = None, success: bool | None = None) -> None:
        pose = arena.fleet.pose[0]
        view = arena.frames([0]).rgb[0] if config.as_seen else renderer.render([scene], pose).rgb[0]
        speed = float(np.linalg.norm(arena.fleet.velocity[0, :2]))
        telemetry = {
            "time": f"{(len(frames) - (outcome is not None)) / FRAMES_PER_SECOND:.1f} s",
            "step": f"{int(arena.steps[0])}",
            "speed": f"{speed:.2f} m/s",
            "turn": f"{action[1]:+.2f} rad/s",
        }
        frames.append(card.frame(view, pose, arena.flown(0), telemetry, outcome, success))

    decisions: list[Decision] = []
    film()
    while len(slots := arena.flying):
        seen = Observations(slots, arena.frames(slots).rgb, arena.poses[slots])
        action = np.asarray(policy.act(seen), dtype=np.float64)[0]
        time_s = len(decisions) * config.arena.decision_s
        decisions.append(Decision(time_s, seen.poses[0].round(4).tolist(), action.round(4).tolist()))
        arena.step(action[None], watch=film)
        progress(100 // max(config.arena.horizon // 2, 1))
    path, ending = arena.flown(0), arena.endings[0]
    assert ending is not None
    metrics = score(path, example.path, int(arena.contacts[0]), int(arena.steps[0]), ending)
    recording = Recording(example, frames, decisions, path, metrics)
    film(recording.outcome, metrics.sr)
    frames.extend([frames[-1]] * (_LAST_FRAME_S * FRAMES_PER_SECOND - 1))
    return recording


assert WATCHED / ArenaConfig().decision_s == FRAMES_PER_SECOND
