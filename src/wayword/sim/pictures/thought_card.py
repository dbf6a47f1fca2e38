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

from wayword.lettering import plain, text_font
from wayword.mapping.grid import UNOBSERVED
from wayword.policy.interface import STOP_THRESHOLD
from wayword.sim.pictures.flight_card import BAD, GOOD, MUTED, PANEL, TEXT, Box, FlightCard, Layout, shrink, write
from wayword.sim.pictures.thought_map import STOPS, VISITS, calm, paint_beliefs
from wayword.sim.pictures.thought_masks import LEAST_MASK, View, carry_masks, merged, paint_references
from wayword.sim.pictures.thought_words import draw_bar, draw_bars, draw_instruction, reference_colours
from wayword.sim.pictures.topdown import FLOWN, SHOWN, Color, TopDown
from wayword.sim.render.camera import CameraConfig
from wayword.sim.render.renderer import Placed

if TYPE_CHECKING:
    from wayword.language.pipeline import Parsed
    from wayword.policy.fspvn import Thought

LAYOUT = Layout(
    header=Box(32, 14, 1216, 24),
    caption=Box(32, 46, 1216, 84),
    view=Box(32, 142, 672, 378),
    map=Box(728, 142, 520, 520),
    status=Box(32, 674, 1216, 34),
)
BARS = Box(32, 532, 672, 130)
_COARSE_PX = 336
"""Masks are carried along on a view of about this width: they are smooth."""


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
        camera: CameraConfig | None = None,
    ) -> None:
        self.parsed, self.camera = parsed, camera or CameraConfig()
        self.colours = reference_colours(parsed.references)
        self._thought: Thought | None = None
        self._seen: View | None = None
        self._masks: dict[Color, NDArray[np.float32]] = {}
        self._cells: list[tuple[int, Box]] = []
        super().__init__(
            title, parsed.original, topdown, objects, demonstration=demonstration, policy=policy,
            hfov_deg=self.camera.hfov_deg, layout=LAYOUT,
        )  # fmt: skip
        self._calm = calm(self._map)
        self._believed = self._calm

    def think(self, thought: Thought, seen: View) -> None:
        """A new decision, and from where the picture was taken that it is about."""
        self._thought, self._seen = thought, seen
        found = merged(thought.grounding.masks, self.colours)
        self._masks = {color: mask for color, mask in found.items() if mask.max() >= LEAST_MASK}
        self._believed = self._calm.copy()
        paint_beliefs(self._believed, self.topdown, thought, self.colours)

    # What this card draws differently -------------------------------------------------------------------

    def _background(self, title: str, policy: str, instruction: str, legend: bool) -> Image.Image:
        page = super()._background(title, policy, instruction, legend)
        pen = ImageDraw.Draw(page)
        pen.rounded_rectangle(BARS.bounds, 10, PANEL)
        inner = Box(BARS.left + 18, BARS.top + 12, BARS.width - 36, BARS.height - 22)
        self._cells = draw_bars(pen, inner, self.parsed.references)
        return page

    def _draw_header(self, pen: ImageDraw.ImageDraw, title: str, policy: str, legend: bool) -> None:
        box = self.layout.header
        middle, right = box.top + box.height // 2, box.left + box.width
        write(pen, (box.left, middle), title, 17, MUTED, "lm")
        if policy:
            write(pen, (box.left + text_font(17).getlength(plain(title)) + 16, middle), policy, 17, TEXT, "lm")
        entries = [("flown", FLOWN, "line"), ("will fly", VISITS, "disc"), ("will stop", STOPS, "disc")]
        if legend:
            entries.insert(0, ("demonstration", SHOWN, "dash"))
        for name, color, mark in reversed(entries):
            right -= round(text_font(15).getlength(name))
            write(pen, (right, middle), name, 15, MUTED, "lm")
            right -= 22 if mark == "disc" else 34
            if mark == "disc":
                pen.ellipse((right, middle - 7, right + 14, middle + 7), color)
            else:
                for start in (0, 10, 20) if mark == "dash" else (0,):
                    pen.line((right + start, middle, right + start + (5 if mark == "dash" else 26), middle), color, 4)
            right -= 20

    def _draw_caption(self, pen: ImageDraw.ImageDraw, instruction: str) -> None:
        box = self.layout.caption
        pen.rounded_rectangle(box.bounds, 10, PANEL)
        draw_instruction(pen, Box(box.left + 20, box.top + 6, box.width - 40, box.height - 12), self.parsed)

    def _draw_view(
        self, page: Image.Image, rgb: NDArray[np.uint8], pose: ArrayLike, depth: NDArray[np.float32] | None
    ) -> None:
        box = self.layout.view
        view = Image.fromarray(rgb)
        if view.size != (box.width, box.height):
            view = view.resize((box.width, box.height), Image.Resampling.BICUBIC)
        thought = self._thought
        if self._masks:
            masks = np.stack(list(self._masks.values()))
            if self._seen is not None and depth is not None:
                coarse = max(1, depth.shape[1] // _COARSE_PX)
                now = View(np.asarray(pose, np.float64), depth[::coarse, ::coarse])
                masks = carry_masks(masks, self._seen, now, self.camera)
            paint_references(view, dict(zip(self._masks, masks, strict=True)))
        page.paste(view, box.corner, self._rounded[box])
        if thought is not None:
            self._draw_found(ImageDraw.Draw(page), thought)

    def _draw_found(self, pen: ImageDraw.ImageDraw, thought: Thought) -> None:
        """Beside each reference's phrase: how surely it is in view now."""
        for number, box in self._cells:
            if number < len(thought.grounding.alignment):
                found = float(thought.grounding.alignment[number].max(initial=0.0))
                text, color = (f"seen {found:.2f}", TEXT) if found >= 0.05 else ("not in view", MUTED)
                write(pen, (box.left + box.width, box.top + 9), text, 13, color, "rm")

    def _base_map(self) -> Image.Image:
        return self._believed.copy()

    def _draw_status(
        self, page: Image.Image, telemetry: Mapping[str, str], outcome: str | None, success: bool | None
    ) -> None:
        box, pen = self.layout.status, ImageDraw.Draw(page)
        middle = box.top + box.height // 2
        stop = self._thought is not None and self._thought.action[2] > STOP_THRESHOLD
        values = {**telemetry, "stop": "yes" if stop else "no"}
        step = self.layout.view.width / len(values)
        for i, (name, value) in enumerate(values.items()):
            x = box.left + i * step
            write(pen, (x, middle), name, 14, MUTED, "lm")
            write(pen, (x + text_font(14).getlength(name) + 7, middle), value, 17, TEXT, "lm")
        left = self.layout.map.left
        if outcome:
            color = TEXT if success is None else GOOD if success else BAD
            size = shrink(plain(outcome), self.layout.map.width, 20)
            write(pen, (left, middle), outcome, size, color, "lm", bold=True)
        elif self._thought is not None:
            self._draw_unobserved(pen, left, middle)

    def _draw_unobserved(self, pen: ImageDraw.ImageDraw, left: float, middle: float) -> None:
        """P(not yet observed) of both distributions, as two bars."""
        assert self._thought is not None
        write(pen, (left, middle), "P(not yet observed)", 14, MUTED, "lm")
        x = left + 148
        for name, row, color in (("way", 0, VISITS), ("goal", 1, STOPS)):
            p = float(self._thought.distributions[row, UNOBSERVED])
            write(pen, (x, middle), name, 14, MUTED, "lm")
            x += text_font(14).getlength(name) + 8
            draw_bar(pen, x, x + 92, middle, p, color)
            write(pen, (x + 100, middle), f"{p:.2f}", 15, TEXT, "lm")
            x += 148
