"""The page of one visitor, in viser: fields and buttons on the right, what the drone sees and believes on the left.

Every button does its work in one of viser's threads, one at a time per visitor; what a flight shows comes from the
player's thread, and pictures from the painter's. Whatever goes wrong becomes a line in the page.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayword.errors import WaywordError
from wayword.studio.abreast import Abreast, NextLeg
from wayword.studio.address import PageAddress
from wayword.studio.afterwards import Afterwards
from wayword.studio.desk import Desk
from wayword.studio.fly_tab import NOBODY, WHERE_IT_STANDS, ChoiceFields, add_fly_tab, by_visitor
from wayword.studio.kept_flight import StudioStep
from wayword.studio.layout_controls import LayoutControls
from wayword.studio.letters import Letterbox
from wayword.studio.painter import Painter
from wayword.studio.plan_panel import PlanPanel
from wayword.studio.player import Player, PlayerState
from wayword.studio.screen import Screen
from wayword.studio.session import FIRST_INSTRUCTION, Session
from wayword.studio.stage import Stage
from wayword.studio.teach_tab import TeachTab
from wayword.studio.words import message_html
from wayword.studio.workshop import Workshop

_TYPING_S = 0.6
"""A sentence is read when nothing was typed for this long."""


class Page:
    """One visitor."""

    def __init__(self, client: Any, workshop: Workshop, letters: Letterbox, on_picture: Callable[[], None]) -> None:
        """``on_picture`` is called once, when the browser shows its first picture."""
        self._client, self._workshop, self._letters, self._on_picture = client, workshop, letters, on_picture
        self._busy, self._closing = threading.RLock(), threading.Event()
        self.session = Session(workshop)
        self.beside: Session | None = None
        self._painter = Painter(lambda error: self._say(f"a picture could not be drawn: {error}", "problem"))
        self._listener = Painter(lambda error: self._say(f"it could not be read: {error}", "problem"), "listener")
        self.player = Player(self)
        gui = client.gui
        self._key = letters.open(self._letter)
        stage = Stage(
            client, lambda *place: self._dragged(self._layouts.move, *place),
            lambda *place: self._dragged(self._layouts.start, *place),
            lambda *place: self._dragged(self._layouts.head, *place), workshop.camera,
        )  # fmt: skip
        self._stage, self._screen = stage, Screen(client, stage, self._painter)
        gui.main_panel.dock_right()
        gui.main_panel.set_width(380)
        tabs = gui.add_tab_group()
        with tabs.add_tab("Fly"):
            self._tab = add_fly_tab(gui, FIRST_INSTRUCTION, [*workshop.policies.values()], workshop.databases)
        with tabs.add_tab("Teach"):
            self._teach = TeachTab(client, workshop, lambda: self.session.database, self._taught)
        self._fields, self._plan = ChoiceFields(self._tab, workshop), PlanPanel(self._tab)
        self._afterwards = Afterwards(client, self._tab, self._plan, self.session, self._screen, self._say)
        self._layouts = LayoutControls(self._tab, self.session, self._say, self._laid_out)
        self._connect()
        self._screen.lay_out(self.session)
        self._desk = Desk(client, self._key)  # letters come from now on

    def _connect(self) -> None:
        tab = self._tab
        tab.fly.on_click(self._do(self._begin))
        tab.instruction.on_update(by_visitor(lambda event: self._typed(event.target.value)))
        tab.controls.on_click(lambda event: self._control(event.target.value))
        tab.speeds.on_click(lambda event: self._change_speed(event.target.value))
        tab.draw.on_click(self._do(lambda: self._change_layout(self._layouts.draw)))
        tab.example.on_click(self._do(lambda: self._change_layout(self._layouts.take_example)))
        tab.again.on_click(self._do(lambda: self.player.play(self._afterwards.replay())))
        tab.light.on_update(by_visitor(lambda event: self._desk.set_theme(event.target.value)))
        for field in (tab.policy, tab.masks, tab.database):
            field.on_update(by_visitor(self._do(self._choose)))
        for number, button in enumerate(tab.unknown):
            button.on_click(lambda _, number=number: self._teach_unknown(number))

    @property
    def updates(self) -> int:
        """Poses shown so far."""
        return self._screen.updates

    def close(self) -> None:
        """End this visitor's threads; nothing is shown any more."""
        self._screen.closed = True
        self._closing.set()
        self._letters.close(self._key)
        self.player.close()
        self._listener.close()
        self._painter.close()

    def _do(self, job: Callable[[], None]) -> Callable[[Any], None]:
        """A callback for viser that does a job alone and says what went wrong."""

        def callback(_: Any) -> None:
            with self._busy, self._telling():
                job()

        return callback

    @contextlib.contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except WaywordError as error:
            self._say(str(error), "problem")
        except Exception as error:
            self._say(f"something went wrong: {type(error).__name__}: {error}", "problem")
            raise

    def _say(self, text: str, kind: str = "note") -> None:
        self._tab.message.content = message_html(text, kind) if text else ""

    # What a visitor does ---------------------------------------------------------------------------------

    def _begin(self, stepwise: bool = False) -> None:
        self.player.stop()
        self._say("reading the instruction ...")
        self._choose_quietly()
        session, tab = self.session, self._tab
        sentence, go_on = tab.instruction.value, tab.begin.value == WHERE_IT_STANDS
        layout, before = session.layout, session.flight
        try:
            session.begin(sentence, go_on)
        finally:
            self._show_understood()
            if session.layout is not layout:
                self._show_layout()
        next_leg: NextLeg = session.next_leg
        self.beside = None
        if tab.beside.value != NOBODY:
            self.beside = session.twin(self._fields.policy_name(tab.beside.value), before)
            self.beside.begin(sentence, go_on)
            next_leg = Abreast(session.next_leg, self.beside.next_leg).next_leg
        self._say(" · ".join(session.notes))
        self._set_address()
        self._screen.take_off(session, session.parsed, None if self.beside is None else self.beside.parsed)
        self.player.play(self._afterwards.record(next_leg, self.beside), stepwise)

    def _control(self, which: str) -> None:
        with self._telling():
            if which == "Stop":
                self.player.stop()
            elif which == "Pause":
                self.player.pause()
            elif self.player.busy:
                self.player.step()
            else:  # the first step of a flight
                self._do(lambda: self._begin(stepwise=True))(None)

    def _change_speed(self, which: str) -> None:
        self.player.faster(1 if which == "Faster" else -1)
        self._show_status("paused" if self.player.paused else "flying" if self.player.busy else "ready")

    def _typed(self, text: str) -> None:
        """Enter, which a field of several lines takes for a new one, flies; a pause has the sentence read."""
        if "\n" not in text:
            self._listener.ask(lambda: self._listen(text, _TYPING_S))
            return
        self._tab.instruction.value = " ".join(text.split())
        self._do(self._begin)(None)

    def _listen(self, text: str, pause_s: float = 0.0) -> None:
        """Show what is understood of a sentence that is not flown yet."""
        if self._closing.wait(pause_s) or text != self._tab.instruction.value or self.player.busy:
            return
        with self._busy, self._telling():
            if text != self._tab.instruction.value or self.player.busy:
                return
            layout, go_on = self.session.layout, self._tab.begin.value == WHERE_IT_STANDS
            self._choose_quietly()
            if any(character.isalnum() for character in text):
                self.session.understand(text, fit=not go_on)
                if self.session.notes or pause_s:  # what was said about another sentence is no longer true
                    self._say(" · ".join(self.session.notes))
                self._show_understood()
            if self.session.layout is not layout:
                self._show_layout()

    def _change_layout(self, change: Callable[[], None]) -> None:
        """A button that changes the layout."""
        self.player.stop()
        self._layouts.next_seed()
        self._choose_quietly()
        change()
        self._listener.ask(lambda: self._listen(self._tab.instruction.value))

    def _dragged(self, change: Callable[..., None], *place: Any) -> None:
        self._do(lambda: change(*place))(None)

    def _laid_out(self) -> None:
        """The layout is another one, or must be shown as it was."""
        self._show_layout()
        self._set_address()

    def _show_layout(self) -> None:
        self._afterwards.forget()
        self._screen.lay_out(self.session)

    def _choose(self) -> None:
        self.player.stop()
        before = self.session.layout
        self._choose_quietly()
        if self.session.layout is not before:
            self._show_layout()
        self._listener.ask(lambda: self._listen(self._tab.instruction.value))

    def _choose_quietly(self) -> None:
        """Take over what the fields say."""
        if (choices := self._fields.read()) != self.session.choices:
            self.session.choose(choices)

    def _teach_unknown(self, number: int) -> None:
        if number < len(self._plan.names):
            self._teach.fill_name(self._plan.names[number])
            self._desk.open_tab("Teach")

    def _taught(self, name: str) -> None:
        """An object was saved: know it, and fly to it."""
        with self._busy, self._telling():
            self.player.stop()
            self.session.choose(replace(self.session.choices, database=self._workshop.databases[-1]))
            self._fields.write(f"stop in front of the {name}", self.session.choices)
            self._begin()

    # What the page's script writes -----------------------------------------------------------------------

    def _letter(self, about: str, value: str) -> None:
        if about == "seen":
            self._on_picture()
            self._listen(self._tab.instruction.value)
        elif about == "address":
            self._do(lambda: self._restore(value))(None)
        elif about == "theme":
            self._tab.light.value = value == "light"
            self._desk.set_theme(value == "light")
        else:
            self._teach.letter(about, value)

    def _set_address(self) -> None:
        self._desk.set_address(self.session.address(self._tab.instruction.value).query)

    def _restore(self, query: str) -> None:
        """Show what an address stands for: a link, a reload, or the way back."""
        address = PageAddress.read(query)
        self.player.stop()
        self.session.restore(address)
        self._fields.write(" ".join(address.say.split()) or FIRST_INSTRUCTION, self.session.choices)
        self._laid_out()
        self._listener.ask(lambda: self._listen(self._tab.instruction.value))

    # What a flight shows ---------------------------------------------------------------------------------

    def _show_understood(self) -> None:
        """What will be flown, and what cannot be."""
        understood = self.session.understood
        if understood is not None:
            self._plan.show(understood)
            if understood.refusal is not None:
                self._say(understood.refusal, "problem")

    def show_leg(self, leg: StudioStep) -> None:
        """A new decision."""
        if not self._screen.closed:
            self._afterwards.show_leg(leg)
            self._show_status("paused" if self.player.paused else "flying")

    def show_pose(self, leg: StudioStep, pose: NDArray[np.float64], share: float) -> None:
        """The drone moved a little."""
        self._screen.show_pose(leg, pose, share)

    def show_end(self, leg: StudioStep | None, problem: Exception | None) -> None:
        """The flight is over."""
        self.session.abandon()
        if not self._screen.closed:
            self._afterwards.show_end(leg, problem)

    def show_state(self, state: PlayerState) -> None:
        """Flying, paused or idle."""
        if self._screen.closed:
            return
        self._stage.allow_moving(state == "idle")
        self._show_status("ready" if state == "idle" else state)

    def _show_status(self, state: str) -> None:
        telemetry = self._afterwards.telemetry
        detail = f"; {telemetry}" if state != "ready" and telemetry else ""
        self._tab.status.content = message_html(f"{state}, speed x {self.player.speed:g}{detail}")
