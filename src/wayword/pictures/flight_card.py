"""The flight card: one frame of a flight's video, with the drone's view, the map, the instruction and telemetry.

    card = FlightCard("dev-000", instruction, TopDown(bank), episode.objects, demonstration=path)
    frames = [card.frame(rgb, pose, path[: i + 1], {"time": "1.2 s"}) for i, ...]

What does not change during a flight is drawn once; a frame copies it and adds the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image, ImageDraw

from wayword.errors import WaywordError
from wayword.pictures.colours import (
    DARK_PAGE,
    DEMONSTRATION,
    FAILURE,
    FLIGHT,
    MUTED_TEXT,
    PANEL,
    SUCCESS,
    TEXT,
    Rgb,
)
from wayword.pictures.lettering import draw_text, fit_text, line_height, plain_text, text_font
from wayword.pictures.topdown import TopDown
from wayword.sim.render.renderer import Placed

_CORNER_PX = 10
_BOLD_PX = 0.5
_LEGIBLE_PX = 15
"""Below this size the outcome gets more room rather than smaller letters."""


@dataclass(frozen=True)
class Rectangle:
    """A rectangle on the card in pixels."""

    left: int
    top: int
    width: int
    height: int

    @property
    def corner(self) -> tuple[int, int]:
        """Left and top."""
        return self.left, self.top

    @property
    def bounds(self) -> tuple[int, int, int, int]:
        """Left, top, right, bottom, the last two included, as ImageDraw wants them."""
        return self.left, self.top, self.left + self.width - 1, self.top + self.height - 1


@dataclass(frozen=True)
class CardLayout:
    """Where the parts of a card go; a card with more panels takes another layout."""

    width: int = 1280
    height: int = 720
    header: Rectangle = Rectangle(32, 22, 1216, 34)
    view: Rectangle = Rectangle(32, 72, 640, 360)
    map: Rectangle = Rectangle(696, 72, 552, 552)
    caption: Rectangle = Rectangle(32, 448, 640, 176)
    status: Rectangle = Rectangle(32, 642, 1216, 54)


class FlightCard:
    """Composes the frames of one flight."""

    def __init__(
        self,
        title: str,
        instruction: str,
        topdown: TopDown,
        objects: Sequence[Placed] = (),
        *,
        demonstration: ArrayLike | None = None,
        policy: str = "",
        hfov_deg: float = 84.0,
        layout: CardLayout | None = None,
    ) -> None:
        self.layout = layout or CardLayout()
        if topdown.size_px != self.layout.map.width:
            raise WaywordError(
                f"this card's map is {self.layout.map.width} pixels wide; make TopDown with that size_px"
            )
        self.topdown, self.hfov_deg = topdown, hfov_deg
        path = None if demonstration is None else np.asarray(demonstration, np.float64).reshape(-1, 2)
        self._map = topdown.picture(objects)
        if path is not None and len(path):
            topdown.draw_goal(self._map, path[-1])
            topdown.draw_path(self._map, path, DEMONSTRATION, dashed=True)
        self._names = topdown.labels(objects, avoid=() if path is None else path)
        self._page = self._background(title, policy, instruction, path is not None)
        self._rounded = {box: _rounded(box) for box in (self.layout.view, self.layout.map)}

    def frame(
        self,
        rgb: NDArray[np.uint8],
        pose: ArrayLike,
        path_so_far: ArrayLike,
        telemetry: Mapping[str, str],
        outcome: str | None = None,
        success: bool | None = None,
        depth: NDArray[np.float32] | None = None,
    ) -> NDArray[np.uint8]:
        """One picture (H, W, 3): the view ``rgb`` (h, w, 3) from ``pose`` after flying ``path_so_far`` (N, 2).

        ``outcome`` is written at the end of a flight, in green or red if ``success`` is known. ``depth`` of the
        view is for cards that draw on it.
        """
        page = self._page.copy()
        self._draw_view(page, rgb, pose, depth)
        self._draw_map(page, pose, np.asarray(path_so_far, np.float64).reshape(-1, 2))
        self._draw_status(page, telemetry, outcome, success)
        return np.array(page)

    def _background(self, title: str, policy: str, instruction: str, legend: bool) -> Image.Image:
        page = Image.new("RGB", (self.layout.width, self.layout.height), DARK_PAGE)
        pen = ImageDraw.Draw(page)
        self._draw_header(pen, title, policy, legend)
        self._draw_caption(pen, instruction)
        return page

    def _draw_header(self, pen: ImageDraw.ImageDraw, title: str, policy: str, legend: bool) -> None:
        box = self.layout.header
        middle = box.top + box.height // 2
        draw_text(pen, (box.left, middle), title, 26, TEXT, bold=_BOLD_PX)
        if policy:
            draw_text(pen, (self.layout.map.left, middle), policy, 20, MUTED_TEXT)
        right = box.left + box.width
        for name, dashed in (("demonstration", True), ("flown", False))[0 if legend else 1 :]:
            right -= round(text_font(17).getlength(name))
            draw_text(pen, (right, middle), name, 17, MUTED_TEXT)
            right -= 42
            for start in (0, 13, 26) if dashed else (0,):
                stop = start + (7 if dashed else 33)
                pen.line((right + start, middle, right + stop, middle), DEMONSTRATION if dashed else FLIGHT, 4)
            right -= 18

    def _draw_caption(self, pen: ImageDraw.ImageDraw, instruction: str) -> None:
        box = self.layout.caption
        pen.rounded_rectangle(box.bounds, _CORNER_PX, PANEL)
        pad = 20
        inner = Rectangle(box.left + pad, box.top + pad - 4, box.width - 2 * pad, box.height - 2 * pad + 8)
        text = plain_text(instruction)
        lines, size = fit_text(f"“{text}”" if text else "", inner.width, inner.height, 30)
        step = line_height(size)
        top = inner.top + (inner.height - step * len(lines)) / 2
        for i, line in enumerate(lines):
            draw_text(pen, (inner.left, top + (i + 0.5) * step), line, size, TEXT)

    def _draw_view(
        self, page: Image.Image, rgb: NDArray[np.uint8], pose: ArrayLike, depth: NDArray[np.float32] | None
    ) -> None:
        box = self.layout.view
        view = Image.fromarray(rgb).resize((box.width, box.height), Image.Resampling.BICUBIC)
        page.paste(view, box.corner, self._rounded[box])

    def _draw_map(self, page: Image.Image, pose: ArrayLike, path: NDArray[np.float64]) -> None:
        picture, box = self._base_map(), self.layout.map
        if len(path):
            self.topdown.draw_path(picture, path)
            self.topdown.draw_start(picture, path[0])
        picture.paste(self._names, mask=self._names)
        self.topdown.draw_drone(picture, pose, hfov_deg=self.hfov_deg)
        page.paste(picture, box.corner, self._rounded[box])

    def _base_map(self) -> Image.Image:
        return self._map.copy()

    def _draw_status(
        self, page: Image.Image, telemetry: Mapping[str, str], outcome: str | None, success: bool | None
    ) -> None:
        box, pen = self.layout.status, ImageDraw.Draw(page)
        room = outcome_room(outcome or "", self.layout)
        # Columns of equal width: values that change their length do not push each other about.
        step = self.layout.view.width / max(len(telemetry), 4)
        for i, (name, value) in enumerate(telemetry.items() if room != box else ()):
            x = box.left + i * step
            draw_text(pen, (x, box.top + 8), name, 15, MUTED_TEXT)
            draw_text(pen, (x, box.top + 36), value, 24, TEXT)
        if outcome:
            draw_outcome(pen, room, outcome, success, 26)


def outcome_room(outcome: str, layout: CardLayout) -> Rectangle:
    """Where an outcome is written: below the map if one line of it can be read there, else in all of the last row."""
    row, left = layout.status, layout.map.left
    beside = Rectangle(left, row.top, row.left + row.width - left, row.height)
    return beside if text_font(_LEGIBLE_PX).getlength(plain_text(outcome)) <= beside.width else row


def draw_outcome(
    pen: ImageDraw.ImageDraw, room: Rectangle, outcome: str, success: bool | None, largest_px: int
) -> None:
    """What came of a flight, part by part, in as many lines as it takes."""
    lines, size = fit_text(plain_text(outcome), room.width, room.height, largest_px)
    top = room.top + (room.height - (len(lines) - 1) * line_height(size)) / 2
    for number, line in enumerate(lines):
        at = room.left, top + number * line_height(size)
        draw_text(pen, at, line, size, outcome_colour(success), bold=_BOLD_PX)


def outcome_colour(success: bool | None) -> Rgb:
    """Of the line that says how a flight ended."""
    return TEXT if success is None else SUCCESS if success else FAILURE


def _rounded(box: Rectangle) -> Image.Image:
    """Mask with round corners, smooth by drawing it four times as large."""
    mask = Image.new("L", (box.width * 4, box.height * 4))
    ImageDraw.Draw(mask).rounded_rectangle((0, 0, box.width * 4 - 1, box.height * 4 - 1), _CORNER_PX * 4, 255)
    return mask.reduce(4)
