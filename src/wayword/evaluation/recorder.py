"""Films one flight: the same arena and rules as the evaluation, with pictures ten times a second.

film = Film(policy, example, bank, objects=database)
write_video("flight.mp4", film, FRAMES_PER_SECOND)     # takes the frames one by one
film.recording.outcome
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from wayword.episodes import Example
from wayword.errors import WaywordError
from wayword.evaluation.free_flight import describe_end, is_free, title_of
from wayword.evaluation.metrics import EpisodeMetrics, score
from wayword.evaluation.runner import RunConfig, situation_of
from wayword.evaluation.trace import thought_record
from wayword.policy import Observations, Policy, Privileged, Watching
from wayword.sim.arena import WATCHED, Arena, ArenaConfig
from wayword.sim.pictures.flight_card import FlightCard, Layout
from wayword.sim.pictures.thought_card import LAYOUT, ThoughtCard
from wayword.sim.pictures.thought_masks import View
from wayword.sim.pictures.topdown import TopDown
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.lens import make_renderer
from wayword.sim.render.look import Look
from wayword.sim.render.renderer import RenderConfig

FRAMES_PER_SECOND = 10
_LAST_FRAME_S = 2
"""How long the video rests on the outcome."""
Frame = NDArray[np.uint8]


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
    number: int = 0
    """The example's number within an evaluation with the same seed, to film that very flight."""
    look: Look = field(default_factory=Look)
    """Unless one is drawn."""


@dataclass(frozen=True)
class Decision:
    """One decision of the policy."""

    time_s: float
    pose: list[float]
    action: list[float]
    thought: dict[str, Any] | None = None
    """As ``thought_record`` gives it, if the policy can say what it thinks."""


@dataclass(frozen=True, eq=False)
class Recording:
    """A filmed flight."""

    example: Example
    decisions: list[Decision]
    path: NDArray[np.float64]
    outcome: str
    """The result in one line."""
    contacts: int
    metrics: EpisodeMetrics | None
    """None if nobody demonstrated the example."""
    frames: list[Frame] = field(default_factory=list)
    """Empty if somebody else took them."""


@runtime_checkable
class Thinking(Protocol):
    """A policy that can say what it thinks."""

    def thought(self, slot: int = 0) -> Any:
        """The ``Thought`` of the last step."""
        ...

    def parsed(self, slot: int = 0) -> Any:
        """How the instruction was understood."""
        ...


class Film:
    """One flight as frames to iterate over, once; afterwards ``recording`` says what happened."""

    def __init__(
        self,
        policy: Policy,
        example: Example,
        bank: MeshBank,
        config: RecorderConfig | None = None,
        objects: Any = None,
        mentioned: Sequence[str] = (),
        progress: Callable[[int], None] = lambda percent: None,
        decided: Callable[[Frame], None] = lambda seen: None,
    ) -> None:
        """``decided`` hears of every decision, with the picture it is about."""
        self.policy, self.example, self.config = policy, example, config or RecorderConfig()
        self.mentioned, self.progress, self.decided = mentioned, progress, decided
        if is_free(example) and isinstance(policy, Privileged):
            raise WaywordError(f"{policy.name} follows demonstrations, and this instruction has none; choose another")
        self.arena = Arena(1, bank, self.config.arena)
        run = RunConfig(self.config.seed, random_looks=self.config.random_look, look=self.config.look)
        self.situation, seed = situation_of(example, run, self.config.number)
        self.arena.reset([0], [self.situation], [seed])
        policy.reset([example.instruction], [objects])
        if isinstance(policy, Privileged):
            policy.brief([example.path])
        self.card = self._make_card(bank)
        view = self.card.layout.view
        sharp = replace(self.config.arena.camera, width=view.width, height=view.height)
        self._renderer = make_renderer(bank, sharp, RenderConfig(supersample=True), self.config.arena.lens)
        self._scene = self._renderer.scene(self.situation.objects, self.situation.look, self.situation.arena_m)
        self._action = np.zeros(3)
        self._shots = 0
        self._decisions: list[Decision] = []
        self._recording: Recording | None = None

    @property
    def recording(self) -> Recording:
        """What happened, once all frames have been taken."""
        if self._recording is None:
            raise WaywordError("the flight has not ended: take all frames of the film first")
        return self._recording

    def __iter__(self) -> Iterator[Frame]:
        arena, shots = self.arena, list[Frame]()
        while len(slots := arena.flying):
            self._decide(slots)
            if len(self._decisions) == 1:
                yield self._shoot()
            arena.step(self._action[None], watch=lambda: shots.append(self._shoot()))
            yield from shots
            shots.clear()
            self.progress(100 // max(self.config.arena.horizon // 2, 1))
        self._recording = self._conclude()
        metrics = self._recording.metrics
        last = self._shoot(self._recording.outcome, None if metrics is None else metrics.sr)
        yield from [last] * (_LAST_FRAME_S * FRAMES_PER_SECOND)

    def _make_card(self, bank: MeshBank) -> FlightCard:
        example, policy, situation = self.example, self.policy, self.situation
        thinking = isinstance(policy, Thinking)
        size = (LAYOUT if thinking else Layout()).map.width
        top = TopDown(bank, situation.look, situation.arena_m, size_px=size)
        shown = not is_free(example) and (thinking or isinstance(policy, Privileged))
        demonstration = example.path if shown else None
        if isinstance(policy, Thinking):
            return ThoughtCard(
                title_of(example), policy.parsed(0), top, example.objects, policy=policy.name,
                demonstration=demonstration, camera=self.config.arena.camera,
            )  # fmt: skip
        return FlightCard(
            title_of(example),
            example.instruction,
            top,
            example.objects,
            policy=policy.name,
            demonstration=demonstration,
        )

    def _decide(self, slots: NDArray[np.int64]) -> None:
        arena, policy = self.arena, self.policy
        frames = arena.frames(slots)
        seen = Observations(slots, frames.rgb, arena.poses[slots])
        if isinstance(policy, Watching):
            policy.watch(frames.ids, [[item.name for item in self.example.objects]])
        self._action = np.asarray(policy.act(seen), dtype=np.float64)[0]
        self.decided(frames.rgb[0])
        record = None
        if isinstance(policy, Thinking) and isinstance(self.card, ThoughtCard):
            thought = policy.thought(0)
            record = thought_record(thought)
            self.card.think(thought, View(arena.fleet.pose[0].copy(), frames.depth[0]))
        time_s = len(self._decisions) * self.config.arena.decision_s
        pose = seen.poses[0].round(4).tolist()
        self._decisions.append(Decision(time_s, pose, self._action.round(4).tolist(), record))

    def _shoot(self, outcome: str | None = None, success: bool | None = None) -> Frame:
        arena, pose = self.arena, self.arena.fleet.pose[0]
        frames = arena.frames([0]) if self.config.as_seen else self._renderer.render([self._scene], pose)
        path = np.vstack([arena.flown(0), pose[:2]])  # what was flown since the last decision is not in it yet
        telemetry = {
            "time": f"{(self._shots - (outcome is not None)) / FRAMES_PER_SECOND:.1f} s",
            "step": f"{int(arena.steps[0])}",
            "speed": f"{float(np.linalg.norm(arena.fleet.velocity[0, :2])):.2f} m/s",
            "turn": f"{self._action[1]:+.2f} rad/s",
        }
        self._shots += outcome is None
        return self.card.frame(frames.rgb[0], pose, path, telemetry, outcome, success, depth=frames.depth[0])

    def _conclude(self) -> Recording:
        arena, example = self.arena, self.example
        path, ending = arena.flown(0), arena.endings[0]
        assert ending is not None
        contacts, steps = int(arena.contacts[0]), int(arena.steps[0])
        if is_free(example):
            seconds = (steps - (ending == "policy")) * self.config.arena.decision_s  # a stop takes no time
            outcome = describe_end(example, arena.fleet.pose[0], ending, seconds, contacts, self.mentioned)
            return Recording(example, self._decisions, path, outcome, contacts, None)
        metrics = score(path, example.path, contacts, steps, ending)
        return Recording(example, self._decisions, path, outcome_of(metrics), contacts, metrics)


def record(
    policy: Policy,
    example: Example,
    bank: MeshBank,
    config: RecorderConfig | None = None,
    objects: Any = None,
    progress: Callable[[int], None] = lambda percent: None,
) -> Recording:
    """Fly one example and keep all frames; ``progress`` gets per cents."""
    film = Film(policy, example, bank, config, objects, progress=progress)
    frames = list(film)
    return replace(film.recording, frames=frames)


def outcome_of(m: EpisodeMetrics) -> str:
    """How a flight ended, in one line."""
    ended = {"policy": "stopped", "horizon": "ran out of time", "contact": "hit an object"}[m.ended_by]
    verdict = "arrived" if m.sr else "missed"
    touched = f", {m.collisions} contacts" if m.collisions else ""
    return f"{verdict}: {ended} {m.ne:.2f} m from the end, EMD {m.emd:.2f} m, {m.steps} decisions{touched}"


assert WATCHED / ArenaConfig().decision_s == FRAMES_PER_SECOND
