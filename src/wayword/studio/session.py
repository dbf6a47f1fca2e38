"""One visitor's session: what they chose, and the flight as a sequence of legs. No threads, no browser.

    session = Session(workshop)
    session.begin("stop in front of the globe")
    while not (leg := session.next_leg()).ended:
        ...                                  # a leg is half a second of flight with the thought behind it

A leg holds everything there is to show about it, so that the next one can be computed while it is being watched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wayword.errors import WaywordError
from wayword.evaluation.free_flight import describe_end, free_example
from wayword.evaluation.metrics import score
from wayword.evaluation.recorder import Thinking
from wayword.language.pipeline import Parsed
from wayword.pilot import check_instruction, unknown_references
from wayword.policy import Observations, Policy, Privileged, Watching
from wayword.policy.fspvn import Thought
from wayword.sim.arena import Arena, Situation
from wayword.sim.pictures.thought_masks import View
from wayword.studio.layout import StudioLayout, corpus_example, drawn
from wayword.studio.workshop import Masks, Workshop

FIRST_INSTRUCTION = "go past the watermelon, then stop in front of the globe"
LONGEST = 1000
"""Characters of an instruction."""


@dataclass(frozen=True)
class Choices:
    """What a visitor chose."""

    policy: str = "fspvn"
    masks: Masks = "predicted"
    database: str = "test"
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Leg:
    """Half a second of flight: one decision and what came of it."""

    number: int
    time_s: float
    """When it began."""
    action: NDArray[np.float64]
    poses: NDArray[np.float64]
    """(T, 6) true poses, evenly spaced in time, from the decision to the next one; T = 1 if it decided to stop."""
    path: NDArray[np.float64]
    """(P, 2) flown before this leg."""
    seen: View
    """Where the picture was taken that the decision is about."""
    thought: Thought | None
    outcome: str | None = None
    """Of the flight, if this leg is its last."""
    success: bool | None = None

    @property
    def ended(self) -> bool:
        """Whether it is the last."""
        return self.outcome is not None


class Session:
    """What one visitor sees and flies."""

    def __init__(self, workshop: Workshop, choices: Choices | None = None) -> None:
        self.workshop = workshop
        self.choices = choices or Choices()
        self.notes: list[str] = []
        """What the visitor should know about the flight just begun."""
        self.parsed: Parsed | None = None
        self._policy: tuple[tuple[str, Masks], Policy] | None = None
        self._arena: Arena | None = None
        self._mentioned: list[str] = []
        self._instruction = ""
        self._layout: StudioLayout | None = None
        self.database = workshop.database(self.choices.database)
        self.bank, self.models = workshop.bank(self.database)
        self.layout = drawn(self.choices.seed, (), list(self.models.values()))

    # Choices ---------------------------------------------------------------------------------------------

    def choose(self, choices: Choices) -> None:
        """Change what was chosen; another database brings its own objects along, unless a layout was made by hand."""
        another = choices.database != self.choices.database
        if another or choices.database not in ("test", "dev"):  # those that ship do not change
            self.database = self.workshop.database(choices.database)
            self.bank, self.models = self.workshop.bank(self.database)
        self.choices = choices
        if (another and not self.layout.by_hand) or not set(self.layout.names) <= set(self.bank.index):
            self.layout = drawn(choices.seed, (), list(self.models.values()))

    @property
    def layout(self) -> StudioLayout:
        """Where things stand."""
        assert self._layout is not None
        return self._layout

    @layout.setter
    def layout(self, layout: StudioLayout) -> None:
        self._layout, self._arena = layout, None  # a flight in the layout before is over

    def draw_layout(self, instruction: str) -> None:
        """Draw a layout with the seed, for an instruction if there is one."""
        says_something = any(character.isalnum() for character in instruction)
        wanted = self._wanted(self.workshop.read(instruction[:LONGEST], self.database)) if says_something else []
        self.layout = drawn(self.choices.seed, wanted, list(self.models.values()))

    def take_example(self) -> str:
        """An example of the corpus, drawn with the seed; returns its instruction."""
        split = "dev" if self.choices.database == "dev" else "test"
        if self.choices.database not in ("dev", "test"):
            raise WaywordError("the corpus is about the dev and the test objects; choose one of these databases")
        self.layout = corpus_example(split, self.choices.seed)
        return self.layout.instruction

    # Flying ----------------------------------------------------------------------------------------------

    def begin(self, instruction: str) -> None:
        """Get ready to fly; a layout by seed that lacks what is mentioned is drawn anew."""
        check_instruction(instruction)
        if len(instruction) > LONGEST:
            raise WaywordError(f"the instruction has {len(instruction)} characters; at most {LONGEST} are read")
        policy = self._load_policy()
        if isinstance(policy, Privileged) and (self.layout.path is None or instruction != self.layout.instruction):
            raise WaywordError("the oracle follows demonstrations and this flight has none: press Example first")
        parsed = self.workshop.read(instruction, self.database)
        self._fit_layout(parsed)
        policy.reset([instruction], [self.database])
        if isinstance(policy, Privileged):
            assert self.layout.path is not None
            policy.brief([self.layout.path])
        self.parsed = policy.parsed(0) if isinstance(policy, Thinking) else parsed
        self._mentioned = self._wanted(parsed)
        arena = Arena(1, self.bank)
        arena.reset([0], [self.situation], [self.choices.seed])
        self._instruction, self._arena = instruction, arena

    @property
    def situation(self) -> Situation:
        """Objects and start as the simulator takes them."""
        return Situation(self.layout.objects, self.layout.start)

    def next_leg(self) -> Leg:
        """Decide once and fly on until the next decision."""
        arena, policy = self._arena, self._load_policy()
        if arena is None or not len(arena.flying):
            raise WaywordError("nothing is flying; press Fly")
        slots = np.zeros(1, np.int64)
        frames, number, path = arena.frames(slots), int(arena.steps[0]), arena.flown(0)
        seen = View(arena.fleet.pose[0].copy(), frames.depth[0])
        if isinstance(policy, Watching):
            policy.watch(frames.ids, [list(self.layout.names)])
        action = np.asarray(policy.act(Observations(slots, frames.rgb, arena.poses[slots])), np.float64)[0]
        thought = policy.thought(0) if isinstance(policy, Thinking) else None
        poses = [seen.pose]
        arena.step(action[None], watch=lambda: poses.append(arena.fleet.pose[0].copy()))
        outcome, success = self._judge(arena)
        time_s = number * arena.config.decision_s
        return Leg(number, time_s, action, np.array(poses), path, seen, thought, outcome, success)

    def abandon(self) -> None:
        """Forget the flight."""
        self._arena = None

    def _judge(self, arena: Arena) -> tuple[str | None, bool | None]:
        """What the flight came to, and whether it arrived if that can be said; None while it goes on."""
        ending = arena.endings[0]
        if ending is None:
            return None, None
        contacts, steps, layout = int(arena.contacts[0]), int(arena.steps[0]), self.layout
        seconds = (steps - (ending == "policy")) * arena.config.decision_s  # a stop takes no time
        here = free_example("studio", self._instruction, layout.objects, layout.start)
        line = describe_end(here, arena.fleet.pose[0], ending, seconds, contacts, self._mentioned)
        if layout.path is None or self._instruction != layout.instruction:
            return line, None
        metrics = score(arena.flown(0), layout.path, contacts, steps, ending)
        verdict = "arrived" if metrics.sr else "missed"
        return f"{verdict}: {line}; {metrics.ne:.2f} m from the end of the demonstration", metrics.sr

    def _load_policy(self) -> Policy:
        wanted = (self.choices.policy, self.choices.masks)
        if self._policy is None or self._policy[0] != wanted:
            self._policy = wanted, self.workshop.policy(*wanted)
        return self._policy[1]

    def _wanted(self, parsed: Parsed) -> list[str]:
        """Meshes of the objects an instruction refers to, each once, in its order."""
        best = dict.fromkeys(r.best for r in parsed.references if r.best is not None)
        return [self.models[name] for name in best if name in self.models]

    def _fit_layout(self, parsed: Parsed) -> None:
        """Have what is mentioned in the layout, or say what is not."""
        self.notes = []
        absent = [name for name in self._wanted(parsed) if name not in self.layout.names]
        if absent and not self.layout.by_hand and self.layout.path is None:
            self.layout = drawn(self.choices.seed, self._wanted(parsed), list(self.models.values()))
        elif absent:
            self.notes.append(f"not in this layout: {listed(absent)}; press Draw layout for one that has it")
        if unknown := unknown_references(parsed):
            self.notes.append(f"the database does not know {listed(unknown)}; it knows {listed(self.database.names)}")


def listed(names: Sequence[str], most: int = 12) -> str:
    """Names in one line."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(name if len(name) <= 40 else f"{name[:37]}..." for name in names[:most]) + more
