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
from wayword.studio.painter import Painter
from wayword.studio.pictures import Pictures
from wayword.studio.player import Player, State
from wayword.studio.session import FIRST_INSTRUCTION, Leg, Session
from wayword.studio.stage import Stage
from wayword.studio.teach_tab import TeachTab
from wayword.studio.words import boxes_html, instruction_html, legend_html, message_html, references_html
from wayword.studio.workshop import Workshop

_MASKS = ("predicted", "true")
_PICTURES_PER_LEG = 5
"""First-person pictures per decision: ten a second at normal speed."""


class Page:
    """One visitor."""

    def __init__(self, client: Any, workshop: Workshop) -> None:
        self._client, self._workshop = client, workshop
        self._busy = threading.RLock()
        self.session = Session(workshop)
        self._stage = Stage(client, self._move)
        self._painter = Painter(lambda error: self._say(f"a picture could not be drawn: {error}", "problem"))
        self.player = Player(self)
        self._closed = False
        self._painting = threading.Lock()
        self._scene = 0
        """Counts flights and layouts: a picture of an earlier one is not shown."""
        self._shown: Leg | None = None
        self._last_picture = -1.0
        self.updates = 0
        """Poses shown so far."""
        self._add_pictures()
        self._add_controls()
        self._lay_out()

    def close(self) -> None:
        """End this visitor's threads; nothing is shown any more."""
        self._closed = True
        self.player.close()
        self._painter.close()

    # What is on the page ---------------------------------------------------------------------------------

    def _add_pictures(self) -> None:
        gui = self._client.gui
        panel = gui.add_panel()
        blank = np.zeros((9, 16, 3), np.uint8)
        with panel.add_tab("Sees and believes"):
            self._view = gui.add_image(blank, label="first person, with masks", jpeg_quality=80)
            self._map = gui.add_image(blank, label="map", jpeg_quality=85)
            gui.add_html(legend_html())
            self._boxes = gui.add_html("")
        panel.dock_left()
        panel.set_width(400)

    def _add_controls(self) -> None:
        gui = self._client.gui
        gui.main_panel.dock_right()
        gui.main_panel.set_width(380)
        tabs = gui.add_tab_group()
        with tabs.add_tab("Fly"):
            self._instruction = gui.add_text("Instruction", FIRST_INSTRUCTION, multiline=True)
            self._fly = gui.add_button("Fly", color="green")
            controls = gui.add_button_group("Flight", ("Pause", "Step", "Stop"))
            speeds = gui.add_button_group("Speed", ("Slower", "Faster"))
            self._status = gui.add_html(message_html("ready"))
            self._message = gui.add_html("")
            self._words = gui.add_html("")
            self._references = gui.add_html("")
            with gui.add_folder("Layout: drag objects in the scene"):
                self._seed = gui.add_number("Seed", 0, min=0, max=2**32 - 1, step=1)
                draw, example = gui.add_button("Draw layout"), gui.add_button("Example")
            with gui.add_folder("Pilot"):
                titles = tuple(self._workshop.policies.values())
                self._policy = gui.add_dropdown("Policy", titles)
                self._masks = gui.add_dropdown("Masks", _MASKS)
                self._database = gui.add_dropdown("Knows", self._workshop.databases)
        with tabs.add_tab("Teach"):
            self._teach = TeachTab(self._client, self._workshop, lambda: self.session.database, self._taught)
        self._fly.on_click(self._do(self._begin))
        controls.on_click(lambda event: self._control(event.target.value))
        speeds.on_click(lambda event: self._change_speed(event.target.value))
        draw.on_click(self._do(self._draw))
        example.on_click(self._do(self._take_example))
        for field in (self._policy, self._masks, self._database):
            field.on_update(self._do(self._choose))

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
        self._message.content = message_html(text, kind) if text else ""

    # What a visitor does ---------------------------------------------------------------------------------

    def _begin(self, stepwise: bool = False) -> None:
        self.player.stop()
        self._say("reading the instruction ...")
        self._choose_quietly()
        before = self.session.layout
        self.session.begin(self._instruction.value)
        if self.session.layout is not before:
            self._lay_out()
        self._say(" · ".join(self.session.notes))
        parsed = self.session.parsed
        if parsed is not None:
            self._words.content, self._references.content = instruction_html(parsed), references_html(parsed)
        with self._painting:
            self._scene += 1
            self._pictures.start(parsed)
            self._shown, self._last_picture = None, -1.0
        self._stage.set_trail(np.zeros((0, 2)))
        self.player.play(self.session.next_leg, stepwise)

    def _control(self, which: str) -> None:
        with self._telling():
            if which == "Stop":
                self.player.stop()
            elif which == "Pause":
                self.player.pause()
            elif self.player.busy:
                self.player.step()
            else:  # the first step of a flight
                with self._busy:
                    self._begin(stepwise=True)

    def _change_speed(self, which: str) -> None:
        self.player.faster(1 if which == "Faster" else -1)
        self._show_status("paused" if self.player.paused else "flying" if self.player.busy else "ready")

    def _draw(self) -> None:
        self._change_layout(lambda: self.session.draw_layout(self._instruction.value))

    def _take_example(self) -> None:
        def take() -> None:
            self._instruction.value = self.session.take_example()

        self._change_layout(take)

    def _move(self, number: int, x: float, y: float) -> None:
        """An object was dragged."""
        with self._busy, self._telling():
            try:
                self.session.layout = self.session.layout.moved(number, x, y)
                self._say(f"{self.session.layout.objects[number].name}: moved")
            finally:
                self._lay_out()

    def _change_layout(self, change: Callable[[], None]) -> None:
        self.player.stop()
        self._choose_quietly()
        change()
        self._say(f"layout: {self.session.layout.title}")
        self._lay_out()

    def _choose(self) -> None:
        self.player.stop()
        before = self.session.layout
        self._choose_quietly()
        if self.session.layout is not before:
            self._lay_out()

    def _choose_quietly(self) -> None:
        """Take over what the fields say."""
        names = {title: name for name, title in self._workshop.policies.items()}
        fields = {"policy": names[self._policy.value], "masks": self._masks.value, "database": self._database.value}
        wanted = replace(self.session.choices, **fields, seed=int(self._seed.value))
        if wanted != self.session.choices:
            self.session.choose(wanted)

    def _taught(self, name: str) -> None:
        """An object was saved: know it, and fly to it."""
        with self._busy, self._telling():
            self.player.stop()
            self._database.options = self._workshop.databases
            self._database.value = self._workshop.databases[-1]
            self.session.choose(replace(self.session.choices, database=self._workshop.databases[-1]))
            self._instruction.value = f"stop in front of the {name}"
            self._begin()

    # What a flight shows ---------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        session = self.session
        pictures = Pictures(session.bank, session.situation, session.layout.path)
        start = session.layout.start
        pose = np.array([start.x, start.y, 0.7, 0.0, 0.0, start.yaw])
        with self._painting:
            self._scene += 1
            self._pictures = pictures
            self._stage.set_layout(session.bank, session.layout, pictures.ground(), pictures.ground_side_m)
            self._view.image, self._map.image = pictures.view(pose), pictures.map(pose, np.zeros((0, 2)))
        self._boxes.content = ""

    def show_leg(self, leg: Leg) -> None:
        """A new decision."""
        if self._closed:
            return
        self._last_picture = -1.0
        if leg.thought is not None and self.session.parsed is not None:
            self._boxes.content = boxes_html(leg.thought, self.session.database.names, self.session.parsed)
        forward, turn = leg.action[:2]
        self._telemetry = f"{leg.time_s:.1f} s, decision {leg.number + 1}: {forward:.2f} m/s, {turn:+.2f} rad/s"
        self._show_status("paused" if self.player.paused else "flying")

    def show_pose(self, leg: Leg, pose: NDArray[np.float64], share: float) -> None:
        """The drone moved a little."""
        if self._closed:
            return
        self.updates += 1
        self._stage.set_pose(pose)
        if share - self._last_picture >= 1 / _PICTURES_PER_LEG - 1e-6 or share >= 1:
            self._last_picture = share
            scene, path = self._scene, np.vstack([leg.path, pose[:2]])
            self._stage.set_trail(path)
            self._painter.ask(lambda: self._paint(scene, leg, pose, path))

    def _paint(self, scene: int, leg: Leg, pose: NDArray[np.float64], path: NDArray[np.float64]) -> None:
        with self._painting:
            if self._closed or scene != self._scene:  # of a flight or layout that is over
                return
            pictures = self._pictures
            if leg is not self._shown:
                self._shown = leg
                pictures.think(leg)
                self._stage.set_ground(pictures.ground(leg))
            self._view.image, self._map.image = pictures.view(pose), pictures.map(pose, path)

    def show_end(self, leg: Leg | None, problem: Exception | None) -> None:
        """The flight is over."""
        self.session.abandon()
        if self._closed:
            return
        if problem is not None:
            self._say(f"the flight ended: {problem}", "problem")
        elif leg is None or leg.outcome is None:
            self._say("stopped by you")
        else:
            kind = "note" if leg.success is None else "good" if leg.success else "problem"
            self._say(leg.outcome, kind)

    def show_state(self, state: State) -> None:
        """Flying, paused or idle."""
        if self._closed:
            return
        self._stage.allow_moving(state == "idle")
        self._show_status("ready" if state == "idle" else state)

    _telemetry = ""

    def _show_status(self, state: str) -> None:
        detail = f"; {self._telemetry}" if state != "ready" and self._telemetry else ""
        self._status.content = message_html(f"{state}, speed x {self.player.speed:g}{detail}")
