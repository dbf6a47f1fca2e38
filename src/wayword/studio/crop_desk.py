"""Mending a crop by hand: a box drawn over the photo with mouse or finger, or four sliders for who has neither."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from wayword.errors import WaywordError
from wayword.objects.exemplars import photo_file
from wayword.studio.fly_tab import by_visitor
from wayword.studio.lesson import Lesson


class CropDesk:
    """One waiting photo at a time."""

    def __init__(
        self, gui: Any, lesson: Lesson, do: Callable[[Callable[[], None]], None], changed: Callable[[], None]
    ) -> None:
        self._lesson, self._changed = lesson, changed
        self._folder = gui.add_folder("Mend a crop: draw a box", visible=False, expand_by_default=True)
        with self._folder:
            self._which = gui.add_dropdown("Photo", ("1",))
            self._photo = gui.add_html("")
            self._edges = tuple(
                gui.add_slider(name, 0, 100, 1, edge, hint="Per cent of the photo")
                for name, edge in (("Left", 0), ("Top", 0), ("Right", 100), ("Bottom", 100))
            )
        self._which.on_update(by_visitor(lambda _: do(self._show_photo)))
        for slider in self._edges:
            slider.on_update(by_visitor(lambda _: do(self._slid)))

    @property
    def _number(self) -> int:
        return int(self._which.value) - 1

    def show(self) -> None:
        """Photos have come or gone."""
        count = len(self._lesson.exemplars)
        self._folder.visible = count > 0
        if count:
            self._which.options = tuple(str(number + 1) for number in range(count))
            self._which.value = str(count)  # the newest
            self._show_photo()

    def take_box(self, text: str) -> None:
        """A box came from the page: four shares of the photo's sides."""
        try:
            left, top, right, bottom = (float(part) for part in text.split())
        except ValueError:
            raise WaywordError("that box cannot be read; draw it again") from None
        self._crop((left, top, right, bottom))

    def _slid(self) -> None:
        left, top, right, bottom = (slider.value / 100 for slider in self._edges)
        self._crop((left, top, right, bottom))

    def _crop(self, shares: tuple[float, float, float, float]) -> None:
        self._lesson.recrop(self._number, shares)
        self._show_photo()
        self._changed()

    def _show_photo(self) -> None:
        number = self._number
        shares = self._lesson.shares(number)
        for slider, share in zip(self._edges, shares, strict=True):
            slider.value = min(max(round(100 * share), 0), 100)
        self._photo.content = crop_html(photo_file(self._lesson.exemplars[number]) or b"", number + 1, shares)


def crop_html(photo: bytes, number: int, shares: tuple[float, float, float, float]) -> str:
    """A photo with the box that is cut out; the page's script lets a new one be drawn."""
    left, top, right, bottom = (100 * share for share in shares)
    place = f"left:{left:.1f}%;top:{top:.1f}%;width:{right - left:.1f}%;height:{bottom - top:.1f}%"
    source = f"data:image/jpeg;base64,{base64.b64encode(photo).decode()}"
    return (
        '<div data-studio="crop" style="position:relative;margin:4px 8px;cursor:crosshair;touch-action:none">'
        f'<img src="{source}" alt="photo {number} with the box that is cut out" draggable="false" '
        'style="width:100%;display:block;user-select:none">'
        '<div data-studio="frame" style="position:absolute;box-sizing:border-box;border:2px solid #ffd84a;'
        f'box-shadow:0 0 0 1px #000;pointer-events:none;{place}"></div></div>'
    )
