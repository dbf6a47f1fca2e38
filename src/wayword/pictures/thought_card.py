"""The card of a policy that can say what it thinks: one frame of a flight's video.

    card = ThoughtCard("dev-000/1-2", policy.parsed(0), TopDown(bank, size_px=520), episode.objects)
    card.think(policy.thought(0), seen)          # after each decision
    frame = card.frame(rgb, pose, path_so_far, {"time": "1.2 s"}, depth=depth)

Above, the instruction with its references in colour; left, the drone's view with their masks and P(o | r); right,
the map with what was observed, where the references are believed to stand, d^p, d^g and the flown path.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image, ImageDraw

from wayword.camera import Camera
from wayword.mapping.grid import UNOBSERVED
from wayword.pictures.colours import (
    DEMONSTRATION,
    FLIGHT,
    MUTED_TEXT,
    PANEL,
    STOPS,
    TEXT,
    VISITS,
    reference_colours,
)
from wayword.pictures.flight_card import CardLayout, FlightCard, Rectangle, draw_outcome, outcome_room
from wayword.pictures.lettering import draw_text, plain_text, text_font
from wayword.pictures.thought_map import calm_map, paint_beliefs
from wayword.pictures.thought_masks import ThoughtMasks, View
from wayword.pictures.thought_words import draw_bar, draw_bars, draw_instruction
from wayword.pictures.topdown import TopDown
from wayword.sim.render.renderer import Placed
from wayword.task import STOP_THRESHOLD

if TYPE_CHECKING:
    from wayword.language.pipeline import Parsed
    from wayword.policy.fspvn import Thought

LAYOUT = CardLayout(
    header=Rectangle(32, 14, 1216, 24),
    caption=Rectangle(32, 46, 1216, 84),
    view=Rectangle(32, 142, 672, 378),
    map=Rectangle(728, 142, 520, 520),
    status=Rectangle(32, 674, 1216, 34),
)
BARS = Rectangle(32, 532, 672, 130)


class ThoughtCard(FlightCard):
    """Composes the frames of one flight of a policy with thoughts."""

    def __init__(
        self,
        title: str,
        parsed: Parsed,
        topdown: TopDown,
        objects: Sequence[Placed] = (),
        *,
        demonstration: ArrayLike | None = None,
        policy: str = "",
        camera: Camera | None = None,
    ) -> None:
        self.parsed, self.camera = parsed, camera or Camera()
        self.colours = reference_colours(parsed.references)
        self._masks = ThoughtMasks(self.camera, self.colours)
        self._thought: Thought | None = None
        self._cells: list[tuple[int, Rectangle]] = []
        super().__init__(
            title, parsed.original, topdown, objects, demonstration=demonstration, policy=policy,
            hfov_deg=self.camera.hfov_deg, layout=LAYOUT,
        )  # fmt: skip
        self._calm = calm_map(self._map)
        self._believed = self._calm

    def think(self, thought: Thought, view: View) -> None:
        """A new decision, and from where the picture was taken that it is about."""
        self._thought = thought
        self._masks.think(thought.grounding.masks, view)
        self._believed = self._calm.copy()
        paint_beliefs(self._believed, self.topdown, thought, self.colours)

    # What this card draws differently -------------------------------------------------------------------

    def _background(self, title: str, policy: str, instruction: str, legend: bool) -> Image.Image:
        page = super()._background(title, policy, instruction, legend)
        pen = ImageDraw.Draw(page)
        pen.rounded_rectangle(BARS.bounds, 10, PANEL)
        inner = Rectangle(BARS.left + 18, BARS.top + 12, BARS.width - 36, BARS.height - 22)
        self._cells = draw_bars(pen, inner, self.parsed.references)
        return page

    def _draw_header(self, pen: ImageDraw.ImageDraw, title: str, policy: str, legend: bool) -> None:
        box = self.layout.header
        middle, right = box.top + box.height // 2, box.left + box.width
        draw_text(pen, (box.left, middle), title, 17, MUTED_TEXT)
        if policy:
            draw_text(pen, (box.left + text_font(17).getlength(plain_text(title)) + 16, middle), policy, 17, TEXT)
        entries = [("flown", FLIGHT, "line"), ("will fly", VISITS, "disc"), ("will stop", STOPS, "disc")]
        if legend:
            entries.insert(0, ("demonstration", DEMONSTRATION, "dash"))
        for name, colour, mark in reversed(entries):
            right -= round(text_font(15).getlength(name))
            draw_text(pen, (right, middle), name, 15, MUTED_TEXT)
            right -= 22 if mark == "disc" else 34
            if mark == "disc":
                pen.ellipse((right, middle - 7, right + 14, middle + 7), colour)
            else:
                for start in (0, 10, 20) if mark == "dash" else (0,):
                    pen.line((right + start, middle, right + start + (5 if mark == "dash" else 26), middle), colour, 4)
            right -= 20

    def _draw_caption(self, pen: ImageDraw.ImageDraw, instruction: str) -> None:
        box = self.layout.caption
        pen.rounded_rectangle(box.bounds, 10, PANEL)
        draw_instruction(pen, Rectangle(box.left + 20, box.top + 6, box.width - 40, box.height - 12), self.parsed)

    def _draw_view(
        self, page: Image.Image, rgb: NDArray[np.uint8], pose: ArrayLike, depth: NDArray[np.float32] | None
    ) -> None:
        box = self.layout.view
        view = Image.fromarray(rgb)
        if view.size != (box.width, box.height):
            view = view.resize((box.width, box.height), Image.Resampling.BICUBIC)
        self._masks.paint(view, np.asarray(pose, np.float64), depth)
        page.paste(view, box.corner, self._rounded[box])
        if self._thought is not None:
            self._draw_alignment(ImageDraw.Draw(page), self._thought)

    def _draw_alignment(self, pen: ImageDraw.ImageDraw, thought: Thought) -> None:
        """Beside each reference's phrase: how surely it is in view now."""
        for number, box in self._cells:
            if number < len(thought.grounding.alignment):
                best = float(thought.grounding.alignment[number].max(initial=0.0))
                text, colour = (f"seen {best:.2f}", TEXT) if best >= 0.05 else ("not in view", MUTED_TEXT)
                draw_text(pen, (box.left + box.width, box.top + 9), text, 13, colour, "rm")

    def _base_map(self) -> Image.Image:
        return self._believed.copy()

    def _draw_status(
        self, page: Image.Image, telemetry: Mapping[str, str], outcome: str | None, success: bool | None
    ) -> None:
        box, pen = self.layout.status, ImageDraw.Draw(page)
        middle = box.top + box.height // 2
        stop = self._thought is not None and self._thought.action[2] > STOP_THRESHOLD
        values = {**telemetry, "stop": "yes" if stop else "no"}
        room = outcome_room(outcome or "", self.layout)
        step = self.layout.view.width / len(values)
        for i, (name, value) in enumerate(values.items() if room != box else ()):
            x = box.left + i * step
            draw_text(pen, (x, middle), name, 14, MUTED_TEXT)
            draw_text(pen, (x + text_font(14).getlength(name) + 7, middle), value, 17, TEXT)
        if outcome:
            draw_outcome(pen, room, outcome, success, 20)
        elif self._thought is not None:
            self._draw_unobserved(pen, self.layout.map.left, middle)

    def _draw_unobserved(self, pen: ImageDraw.ImageDraw, left: float, middle: float) -> None:
        """P(not yet observed) of both distributions, as two bars."""
        assert self._thought is not None
        draw_text(pen, (left, middle), "P(not yet observed)", 14, MUTED_TEXT)
        x = left + 148
        for name, row, colour in (("way", 0, VISITS), ("goal", 1, STOPS)):
            p = float(self._thought.distributions[row, UNOBSERVED])
            draw_text(pen, (x, middle), name, 14, MUTED_TEXT)
            x += text_font(14).getlength(name) + 8
            draw_bar(pen, x, x + 92, middle, p, colour)
            draw_text(pen, (x + 100, middle), f"{p:.2f}", 15, TEXT)
            x += 148
