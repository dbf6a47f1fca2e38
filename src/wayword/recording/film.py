"""Films one flight: the same arena and rules as the evaluation, with pictures ten times a second.

film = Film(policy, example, bank, objects=database)
write_video("flight.mp4", film, FRAMES_PER_SECOND)     # takes the frames one by one
film.flight.outcome
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayword.episodes import Example
from wayword.errors import WaywordError
from wayword.pictures.flight_card import CardLayout, FlightCard
from wayword.pictures.thought_card import LAYOUT, ThoughtCard
from wayword.pictures.thought_masks import View
from wayword.pictures.topdown import TopDown
from wayword.pilot.episode_loop import DecisionPoint, EpisodeLoop, RunConfig, situation_of
from wayword.pilot.free_flight import is_free, judge_by_mentions, title_of
from wayword.pilot.verdict import FlightEnd, FlightJudge, Verdict
from wayword.policy import Policy, Privileged, Thinking
from wayword.policy.thought_record import thought_record
from wayword.sim.arena import WATCHED, Arena, ArenaConfig
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
class FilmedDecision:
    """One decision of the policy, as plain values."""

    time_s: float
    pose: list[float]
    action: list[float]
    thought: dict[str, Any] | None = None
    """As ``thought_record`` gives it, if the policy can say what it thinks."""


@dataclass(frozen=True, eq=False)
class FilmedFlight:
    """A filmed flight."""

    end: FlightEnd
    decisions: list[FilmedDecision]
    verdict: Verdict

    @property
    def outcome(self) -> str:
        """The result in one line."""
        return self.verdict.outcome


class Film:
    """One flight as frames to iterate over, once; afterwards ``flight`` says what happened."""

    def __init__(
        self,
        policy: Policy,
        example: Example,
        bank: MeshBank,
        config: RecorderConfig | None = None,
        objects: Any = None,
        judge: FlightJudge | None = None,
        progress: Callable[[int], None] = lambda percent: None,
        decided: Callable[[NDArray[np.float64], Frame], None] = lambda pose, image: None,
    ) -> None:
        """``judge`` says at the end what came of it, by default how far from the start it ended;
        ``decided`` hears of every decision, with the pose (6,) as reported and the picture it is about."""
        self.policy, self.example, self.config = policy, example, config or RecorderConfig()
        self.progress, self.decided = progress, decided
        self._judge = judge or judge_by_mentions(())
        if is_free(example) and isinstance(policy, Privileged):
            raise WaywordError(f"{policy.name} follows demonstrations, and this instruction has none; choose another")
        self.arena = Arena(1, bank, self.config.arena)
        run = RunConfig(self.config.seed, random_looks=self.config.random_look, look=self.config.look)
        self.situation, seed = situation_of(example, run, self.config.number)
        self._loop = EpisodeLoop(policy, self.arena)
        self._loop.begin([self.situation], [seed], [example.instruction], [objects], [example.path])
        self.card = self._make_card(bank)
        view = self.card.layout.view
        sharp = replace(self.config.arena.camera, width=view.width, height=view.height)
        self._renderer = make_renderer(bank, sharp, RenderConfig(supersample=True), self.config.arena.lens)
        self._scene = self._renderer.scene(self.situation.objects, self.situation.look, self.situation.arena_m)
        self._action = np.zeros(3)
        self._shots = 0
        self._decisions: list[FilmedDecision] = []
        self._flight: FilmedFlight | None = None

    @property
    def flight(self) -> FilmedFlight:
        """What happened, once all frames have been taken."""
        if self._flight is None:
            raise WaywordError("the flight has not ended: take all frames of the film first")
        return self._flight

    def __iter__(self) -> Iterator[Frame]:
        arena, shots = self.arena, list[Frame]()
        while len(arena.flying):
            point = self._loop.decide()
            self._note(point)
            if len(self._decisions) == 1:
                yield self._shoot()
            self._loop.move(point, watch=lambda: shots.append(self._shoot()))
            yield from shots
            shots.clear()
            self._advance()
        verdict = self._end().verdict
        last = self._shoot(verdict.outcome, verdict.success)
        yield from [last] * (_LAST_FRAME_S * FRAMES_PER_SECOND)

    def fly(self) -> FilmedFlight:
        """The same flight without a single picture."""
        for point in self._loop:
            self._note(point)
            self._advance()
        return self._end()

    def _advance(self) -> None:
        """One more decision, in per cents of half the horizon: few flights last longer."""
        count, half = len(self._decisions), max(self.config.arena.horizon // 2, 1)
        self.progress(100 * count // half - 100 * (count - 1) // half)

    def _make_card(self, bank: MeshBank) -> FlightCard:
        example, policy, situation = self.example, self.policy, self.situation
        thinking = isinstance(policy, Thinking)
        size = (LAYOUT if thinking else CardLayout()).map.width
        top = TopDown(bank, situation.look, situation.arena_m, size_px=size)
        with_path = not is_free(example) and (thinking or isinstance(policy, Privileged))
        demonstration = example.path if with_path else None
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

    def _end(self) -> FilmedFlight:
        end = FlightEnd.of(self.example, self.arena)
        self._flight = FilmedFlight(end, self._decisions, self._judge(end))
        return self._flight

    def _note(self, point: DecisionPoint) -> None:
        """Keep a decision and show it on the card."""
        arena, policy, frames = self.arena, self.policy, point.frames
        assert frames is not None
        self._action = point.actions[0]
        self.decided(point.observations.poses[0].round(4), frames.rgb[0])
        record = None
        if isinstance(policy, Thinking) and isinstance(self.card, ThoughtCard):
            thought = policy.thought(0)
            record = thought_record(thought)
            self.card.think(thought, View(arena.fleet.pose[0].copy(), frames.depth[0]))
        time_s = len(self._decisions) * self.config.arena.decision_s
        pose = point.observations.poses[0].round(4).tolist()
        self._decisions.append(FilmedDecision(time_s, pose, self._action.round(4).tolist(), record))

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


assert WATCHED / ArenaConfig().decision_s == FRAMES_PER_SECOND
