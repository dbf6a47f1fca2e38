"""One visitor's session: what they chose, and the flight as a sequence of legs. No threads, no browser.

    session = Session(workshop)
    session.begin("stop in front of the globe")
    while not (leg := session.next_leg()).ended:
        ...                                  # a leg is half a second of flight with the thought behind it

A leg holds everything there is to show about it, so that the next one can be computed while it is being watched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from wayword.episodes import Pose2
from wayword.errors import RefusedError, WaywordError
from wayword.language.pipeline import Parsed
from wayword.pictures.thought_masks import View
from wayword.pilot.episode_loop import EpisodeLoop, RunConfig, situation_of
from wayword.pilot.pilot import check_instruction
from wayword.pilot.verdict import FlightEnd, Verdict
from wayword.policy import Policy, Privileged, Thinking, Watching
from wayword.policy.fspvn import FsPVN
from wayword.policy.wayfinder import Wayfinder
from wayword.sim.arena import Arena, ArenaConfig, Situation
from wayword.studio.address import PageAddress
from wayword.studio.judging import judge_flight
from wayword.studio.kept_flight import Glimpse, KeptFlight, StudioStep
from wayword.studio.layout import StudioLayout, corpus_example, draw_layout
from wayword.studio.understood import Understanding
from wayword.studio.workshop import Masks, Workshop
from wayword.task import HORIZON

FIRST_INSTRUCTION = "go past the watermelon, then stop in front of the globe"
_FIRST_OBJECTS = ("watermelon", "globe")
"""What it mentions: the first layout is drawn for it before any network is loaded."""
LONGEST = 1000
"""Characters of an instruction."""


@dataclass(frozen=True)
class Choices:
    """What a visitor chose."""

    policy: str = "wayword"
    masks: Masks = "predicted"
    database: str = "test"
    seed: int = 0


class Session:
    """What one visitor sees and flies."""

    def __init__(self, workshop: Workshop, choices: Choices | None = None) -> None:
        self.workshop = workshop
        self.choices = choices or Choices()
        self.notes: list[str] = []
        """What the visitor should know about the flight just begun."""
        self.understood: Understanding | None = None
        self.flight: KeptFlight | None = None
        """The last one that was begun in this layout."""
        self._policy: tuple[tuple[str, Masks], Policy] | None = None
        self._loop: EpisodeLoop | None = None
        self._layout: StudioLayout | None = None
        self._drawn_for: tuple[str, ...] = ()
        """What the layout was last drawn for."""
        self.database = workshop.database(self.choices.database)
        self.bank, self.models = workshop.bank(self.database)
        first = [name for name in _FIRST_OBJECTS if name in self.models.values()]
        self._draw(first)

    # Choices ---------------------------------------------------------------------------------------------

    def choose(self, choices: Choices) -> None:
        """Change what was chosen; another database brings its own objects along, unless a layout was made by hand."""
        another = choices.database != self.choices.database
        if another or choices.database not in ("test", "dev"):  # those that ship do not change
            self.database = self.workshop.database(choices.database)
            self.bank, self.models = self.workshop.bank(self.database)
        self.choices = choices
        if (another and not self.layout.by_hand) or not set(self.layout.names) <= set(self.bank.index):
            self._draw(())

    @property
    def layout(self) -> StudioLayout:
        """Where things stand."""
        assert self._layout is not None
        return self._layout

    @layout.setter
    def layout(self, layout: StudioLayout) -> None:
        self._layout, self._loop, self.flight = layout, None, None  # a flight in the layout before is over

    def draw_layout(self, instruction: str) -> None:
        """Draw a layout with the seed, for an instruction if there is one."""
        says_something = any(character.isalnum() for character in instruction)
        mentioned = self._mentioned(self.workshop.read(instruction[:LONGEST], self.database)) if says_something else []
        self._draw(mentioned)

    def _draw(self, mentioned: Sequence[str]) -> None:
        self.layout = draw_layout(self.choices.seed, mentioned, list(self.models.values()))
        self._drawn_for = tuple(mentioned)

    def take_example(self) -> str:
        """An example of the corpus, drawn with the seed; returns its instruction."""
        split = "dev" if self.choices.database == "dev" else "test"
        if self.choices.database not in ("dev", "test"):
            raise WaywordError("the corpus is about the dev and the test objects; choose one of these databases")
        self.layout, self._drawn_for = corpus_example(split, self.choices.seed), ()
        return self.layout.instruction

    def address(self, say: str) -> PageAddress:
        """What a link must hold to show the same."""
        choices = self.choices
        address = PageAddress(say, choices.seed, choices.policy, choices.masks, choices.database)
        return address.showing(self.layout, self._drawn_for)

    def restore(self, address: PageAddress) -> None:
        """Show what an address stands for."""
        masks: Masks = "true" if address.masks == "true" else "predicted"
        if address.policy not in self.workshop.policies:
            raise WaywordError(f"the address asks for the policy {address.policy!r}, which is not here")
        self.choose(Choices(address.policy, masks, address.knows, address.seed))
        self.layout = address.layout(list(self.models.values()), self.bank.index)
        self._drawn_for = () if self.layout.by_hand else address.drawn_for

    # Flying ----------------------------------------------------------------------------------------------

    def understand(self, instruction: str, fit: bool = True) -> Understanding:
        """Read an instruction and have a layout that it can be flown in; nothing takes off."""
        check_instruction(instruction)
        if len(instruction) > LONGEST:
            raise WaywordError(f"the instruction has {len(instruction)} characters; at most {LONGEST} are read")
        reads_steps = self.choices.policy == "wayword"
        understood = self.workshop.understand(instruction, self.database, reads_steps)
        self.understood, self.notes = understood, []
        if understood.refusal is None:
            self._fit_layout(instruction, understood, fit)
        return understood

    def twin(self, policy: str, before: KeptFlight | None) -> Session:
        """Another policy, to fly the same in the same layout; ``before`` is the flight to go on from."""
        twin = Session(self.workshop, replace(self.choices, policy=policy))
        twin.layout, twin._drawn_for, twin.flight = self.layout, self._drawn_for, before
        return twin

    def begin(self, instruction: str, go_on: bool = False) -> None:
        """Get ready to fly; a layout drawn for another instruction is drawn anew, unless it was changed by hand.

        To ``go_on`` is to begin where the drone stands, in the same layout, with all that it has seen there.
        """
        before = self.flight if go_on else None
        understood = self.understand(instruction, fit=before is None)
        policy = self._load_policy()
        if isinstance(policy, Privileged) and (self.layout.path is None or instruction != self.layout.instruction):
            raise WaywordError("the oracle follows demonstrations and this flight has none: press Next example first")
        if understood.refusal is not None:
            raise RefusedError(understood.refusal)
        start = self.layout.start if before is None else before.end
        horizon = getattr(policy, "horizon", HORIZON)
        flight = KeptFlight(
            instruction, self.choices.policy, self.choices.seed, self.layout, start, understood, self.database,
            self.bank, self.workshop.camera, horizon, before=[] if before is None else before.glimpses,
        )  # fmt: skip
        arena = Arena(1, self.bank, ArenaConfig(camera=self.workshop.camera, horizon=horizon))
        loop, path = EpisodeLoop(policy, arena), self.layout.path
        situation, seed = situation_of(flight.example, RunConfig(flight.seed), 0)
        loop.begin([situation], [seed], [instruction], [self.database], None if path is None else [path])
        if isinstance(policy, Thinking) and not isinstance(policy, Wayfinder):
            flight.understood = self.understood = replace(understood, parsed=policy.parsed(0))  # as it takes the text
        for glimpse in flight.before:
            show_glimpse(policy, glimpse, self.layout.names)
        self._loop, self.flight = loop, flight

    @property
    def parsed(self) -> Parsed | None:
        """How the last instruction was understood, reference by reference."""
        return None if self.understood is None else self.understood.parsed

    @property
    def situation(self) -> Situation:
        """Objects and start as the simulator takes them."""
        return Situation(self.layout.objects, self.layout.start)

    @property
    def stands(self) -> Pose2:
        """Where the drone is."""
        return self.layout.start if self.flight is None else self.flight.end

    def next_leg(self) -> StudioStep:
        """Decide once and fly on until the next decision."""
        loop, flight = self._loop, self.flight
        if loop is None or flight is None or not len(loop.arena.flying):
            raise WaywordError("nothing is flying; press Fly")
        arena, policy = loop.arena, loop.policy
        number, path = int(arena.steps[0]), arena.flown(0)
        point = loop.decide()
        frames = point.frames
        assert frames is not None
        view = View(arena.fleet.pose[0].copy(), frames.depth[0])
        glimpse = Glimpse(frames.rgb[0], frames.ids[0], point.observations.poses[0].copy())
        thought = policy.thought(0) if isinstance(policy, Thinking) else None
        doing = policy.step_number(0) if isinstance(policy, Wayfinder) else None
        poses = [view.pose]
        loop.move(point, watch=lambda: poses.append(arena.fleet.pose[0].copy()))
        time_s = number * arena.config.decision_s
        leg = StudioStep(
            number, time_s, point.actions[0], np.array(poses), path, view, thought, glimpse, doing,
            self._judge(arena, flight),
        )  # fmt: skip
        flight.legs.append(leg)
        return leg

    def abandon(self) -> None:
        """Fly no farther; what was flown is kept."""
        self._loop = None

    def _judge(self, arena: Arena, flight: KeptFlight) -> Verdict | None:
        """What the flight came to; None while it goes on."""
        if arena.endings[0] is None:
            return None
        references = flight.understood.parsed.references
        mentioned = [self.models[r.best] for r in references if r.best in self.models]  # the last one is the goal
        end, step_s = FlightEnd.of(flight.example, arena), arena.config.vehicle.sub_step_s
        return judge_flight(flight, end, self._load_policy(), self.models.get, mentioned, step_s)

    def _load_policy(self) -> Policy:
        key = (self.choices.policy, self.choices.masks)
        if self._policy is None or self._policy[0] != key:
            self._policy = key, self.workshop.policy(*key)
        return self._policy[1]

    def _mentioned(self, parsed: Parsed) -> list[str]:
        """Meshes of the objects an instruction refers to, each once, in its order."""
        best = dict.fromkeys(r.best for r in parsed.references if r.best is not None)
        return [self.models[name] for name in best if name in self.models]

    def _fit_layout(self, instruction: str, understood: Understanding, fit: bool) -> None:
        """Have a layout in which what is said can be flown, or say what is not there."""
        mentioned, layout = self._mentioned(understood.parsed), self.layout
        # An example is flown where it was shown.
        demonstrated = layout.path is not None and instruction == layout.instruction
        fitted = layout.path is None and self._drawn_for == tuple(mentioned)
        if mentioned and fit and not (layout.by_hand or demonstrated or fitted):
            self._draw(mentioned)
        elif absent := [name for name in mentioned if name not in layout.names]:
            self.notes.append(f"not in this layout: {listed(absent)}; press New layout for one that has it")
        if understood.unknown:
            unknown = listed(understood.unknown)
            self.notes.append(f"the database does not know {unknown}; it knows {listed(self.database.names)}")


def show_glimpse(policy: Policy, glimpse: Glimpse, layout: Sequence[str]) -> None:
    """Show a policy that remembers what it saw something that it saw before."""
    if isinstance(policy, Watching):
        policy.watch(glimpse.ids[None], [layout])
    if isinstance(policy, FsPVN):
        policy.recall(glimpse.rgb, glimpse.pose)


def listed(names: Sequence[str], most: int = 12) -> str:
    """Names in one line."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(name if len(name) <= 40 else f"{name[:37]}..." for name in names[:most]) + more
