"""What a flight shows on one visitor's page: the 3D scene, what each policy sees and believes, and what is in view.

Poses come from the player's thread; pictures are drawn by the painter's, the newest first.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayword.episodes import Pose2
from wayword.language.pipeline import Parsed
from wayword.pictures.live_views import LiveViews
from wayword.studio.kept_flight import StudioStep
from wayword.studio.painter import Painter
from wayword.studio.player import pose_at
from wayword.studio.session import Session
from wayword.studio.stage import Stage
from wayword.studio.words import boxes_html, legend_html
from wayword.task import ALTITUDE_M

_PICTURES_PER_LEG = 5
"""First-person pictures per decision: ten a second at normal speed."""
_NO_PATH = np.zeros((0, 2))


class Sight:
    """One policy's pictures: what its drone sees, and its map."""

    def __init__(self, gui: Any, whose: str, visible: bool = True) -> None:
        blank = np.zeros((9, 16, 3), np.uint8)
        self.view = gui.add_image(blank, label=f"first person, with masks{whose}", jpeg_quality=80, visible=visible)
        self.map = gui.add_image(blank, label=f"map{whose}", jpeg_quality=85, visible=visible)
        self.pictures: LiveViews | None = None
        self.step: StudioStep | None = None
        """What the pictures show."""

    def show(self, visible: bool) -> None:
        """Or hide both pictures."""
        self.view.visible = self.map.visible = visible

    def start(self, parsed: Parsed | None) -> None:
        """A new flight: nothing is believed yet."""
        self.step = None
        if self.pictures is not None:
            self.pictures.start(parsed)

    def paint(self, leg: StudioStep, pose: NDArray[np.float64], path: NDArray[np.float64]) -> bool:
        """Draw both; True if the leg is another than the one before."""
        assert self.pictures is not None
        new = leg is not self.step
        if new and leg.thought is not None:
            self.pictures.think(leg.thought, leg.view)
        self.step = leg
        self.view.image, self.map.image = self.pictures.view(pose), self.pictures.map(pose, path)
        return new


class Screen:
    """All that moves."""

    def __init__(self, client: Any, stage: Stage, painter: Painter) -> None:
        self._stage, self._painter = stage, painter
        self._painting = threading.Lock()
        self._scene = 0
        """Counts flights and layouts: a picture of an earlier one is not shown."""
        self._last_picture = -1.0
        self.closed = False
        self.updates = 0
        """Poses shown so far."""
        gui = client.gui
        panel = gui.add_panel()
        with panel.add_tab("Sees and believes"):
            self._first = Sight(gui, "")
            self._legend = gui.add_html(legend_html())
            self._second = Sight(gui, ", the one beside it", visible=False)
            self._boxes = gui.add_html("")
        panel.dock_left()
        panel.set_width(400)
        panel.expand()

    def lay_out(self, session: Session) -> None:
        """Another layout, and nothing flown in it."""
        pictures = self._new_pictures(session)
        start = session.layout.start
        with self._painting:
            self._scene += 1
            self._first.pictures = pictures
            self._second.show(False)
            self._stage.set_layout(session.bank, session.layout, pictures.ground(), pictures.ground_side_m)
            pose = _standing(start)
            self._first.view.image, self._first.map.image = pictures.view(pose), pictures.map(pose, _NO_PATH)
        self._boxes.content = ""

    def take_off(self, session: Session, parsed: Parsed | None, beside: Parsed | None = None) -> None:
        """A flight begins; ``beside`` is how the policy beside it, if there is one, took the sentence."""
        assert session.flight is not None
        with self._painting:
            self._scene += 1
            self._last_picture = -1.0
            self._first.start(parsed)
            self._second.show(beside is not None)
            if beside is not None:
                self._second.pictures = self._new_pictures(session)
                self._second.start(beside)
                self._stage.beside().show(True)
                self._stage.beside().set_trail(_NO_PATH)
            else:
                self._stage.hide_beside()
        self._stage.set_pose(_standing(session.flight.start))
        self._stage.drone.set_trail(_NO_PATH)

    def show_words(self, leg: StudioStep, session: Session) -> None:
        """What is in view, in numbers."""
        self._last_picture = -1.0
        if leg.thought is not None:
            self._boxes.content = boxes_html(leg.thought, session.database.names, leg.thought.parsed)

    def show_pose(self, leg: StudioStep, pose: NDArray[np.float64], share: float, at_once: bool = False) -> None:
        """The drone moved a little, and with it the one beside it."""
        if self.closed:
            return
        self.updates += 1
        other = leg.beside
        self._stage.set_pose(pose, None if other is None else pose_at(other.poses, share))
        if at_once or share - self._last_picture >= 1 / _PICTURES_PER_LEG - 1e-6 or share >= 1:
            self._last_picture = share
            scene, path = self._scene, np.vstack([leg.path, pose[:2]])
            self._stage.drone.set_trail(path)
            self._painter.ask(lambda: self._paint(scene, leg, pose, path, share))

    def _paint(
        self, scene: int, leg: StudioStep, pose: NDArray[np.float64], path: NDArray[np.float64], share: float
    ) -> None:
        with self._painting:
            if self.closed or scene != self._scene:  # of a flight or layout that is over
                return
            if self._first.paint(leg, pose, path) and self._first.pictures is not None:
                self._stage.set_ground(self._first.pictures.ground(leg.thought))
            if (other := leg.beside) is not None and self._second.pictures is not None:
                there = pose_at(other.poses, share)
                way = np.vstack([other.path, there[:2]])
                self._second.paint(other, there, way)
                self._stage.beside().set_trail(way)

    def _new_pictures(self, session: Session) -> LiveViews:
        camera = session.workshop.camera
        return LiveViews(session.bank, session.situation, camera, session.layout.path)


def _standing(start: Pose2) -> NDArray[np.float64]:
    return np.array([start.x, start.y, ALTITUDE_M, 0.0, 0.0, start.yaw])
