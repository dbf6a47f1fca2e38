"""Fields and buttons of the page's Fly tab, in viser, in the order in which they are used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from wayword.studio.downloads import FILES
from wayword.studio.session import Choices
from wayword.studio.words import message_html
from wayword.studio.workshop import Workshop

AT_START, WHERE_IT_STANDS = "from the start", "from where it stands"
NOBODY = "nobody"
_BEGIN = "From the start of the layout, or from where the drone stands, with all that it has seen"
_MASKS = ("predicted", "true")
_MOST_UNKNOWN = 3
"""Things that can be taught from one sentence."""


@dataclass(frozen=True)
class FlyTab:
    """Handles of viser."""

    instruction: Any
    fly: Any
    begin: Any
    controls: Any
    speeds: Any
    status: Any
    message: Any
    plan: Any
    unknown: tuple[Any, ...]
    """Buttons for what was never taught; hidden if there is nothing."""
    words: Any
    references: Any
    flown: Any
    """The folder of a flight that is over."""
    time: Any
    again: Any
    take: Any
    seed: Any
    draw: Any
    example: Any
    policy: Any
    masks: Any
    database: Any
    beside: Any
    light: Any


def add_fly_tab(gui: Any, sentence: str, policies: Sequence[str], databases: Sequence[str]) -> FlyTab:
    """Make everything in the container that is open."""
    instruction = gui.add_text("Instruction", sentence, multiline=True, hint="Enter flies")
    fly = gui.add_button("Fly", color="green")
    begin = gui.add_dropdown("Begin", (AT_START, WHERE_IT_STANDS), hint=_BEGIN)
    controls = gui.add_button_group("Flight", ("Pause", "Step", "Stop"))
    speeds = gui.add_button_group("Speed", ("Slower", "Faster"))
    status = gui.add_html(message_html("ready"))
    message, plan = gui.add_html(""), gui.add_html("")
    unknown = tuple(gui.add_button(f"teach {k}", color="orange", visible=False) for k in range(_MOST_UNKNOWN))
    words, references = gui.add_html(""), gui.add_html("")
    flown = gui.add_folder("This flight", visible=False)
    with flown:
        time = gui.add_slider("Time", 0.0, 1.0, 0.1, 0.0, hint="Seconds since take-off: the page shows that moment")
        again = gui.add_button("Watch again")
        take = gui.add_button_group("Take home", tuple(FILES))
    with gui.add_folder("Layout: drag objects, drone or arrow"):
        seed = gui.add_number("Seed", 0, min=0, max=2**32 - 1, step=1)
        draw, example = gui.add_button("New layout"), gui.add_button("Next example")
    with gui.add_folder("Pilot"):
        policy = gui.add_dropdown("Policy", tuple(policies))
        masks = gui.add_dropdown("Masks", _MASKS)
        database = gui.add_dropdown("Knows", tuple(databases))
        beside = gui.add_dropdown("Beside it", (NOBODY, *policies), hint="A second policy flies the same, in blue")
    light = gui.add_checkbox("Light page", False)
    return FlyTab(
        instruction, fly, begin, controls, speeds, status, message, plan, unknown, words, references, flown, time,
        again, take, seed, draw, example, policy, masks, database, beside, light,
    )  # fmt: skip


class ChoiceFields:
    """What a visitor chose, as the fields say it."""

    def __init__(self, tab: FlyTab, workshop: Workshop) -> None:
        self._tab, self._workshop = tab, workshop

    def policy_name(self, title: str) -> str:
        """The policy with a title."""
        return next(name for name, known in self._workshop.policies.items() if known == title)

    def read(self) -> Choices:
        """What is chosen now."""
        tab = self._tab
        return Choices(self.policy_name(tab.policy.value), tab.masks.value, tab.database.value, int(tab.seed.value))

    def write(self, sentence: str, choices: Choices) -> None:
        """Show what was chosen elsewhere: by a link, or by teaching."""
        tab = self._tab
        tab.instruction.value, tab.seed.value, tab.masks.value = sentence, choices.seed, choices.masks
        tab.policy.value = self._workshop.policies[choices.policy]
        tab.database.options = self._workshop.databases
        tab.database.value = choices.database


def by_visitor(job: Callable[[Any], object]) -> Callable[[Any], None]:
    """A callback for changes that a visitor makes: viser also tells of those that we make."""

    def callback(event: Any) -> None:
        if event.client_id is not None:
            job(event)

    return callback
