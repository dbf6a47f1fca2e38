"""Changing where things stand: another layout, an example, something dragged."""

from __future__ import annotations

from collections.abc import Callable

from wayword.studio.fly_tab import FlyTab
from wayword.studio.layout import StudioLayout
from wayword.studio.session import Session

Say = Callable[[str], None]


class LayoutControls:
    """What a visitor does to the layout; ``changed`` hears of it, to show it."""

    def __init__(self, tab: FlyTab, session: Session, say: Say, changed: Callable[[], None]) -> None:
        self._tab, self._session, self._say, self._changed = tab, session, say, changed

    def draw(self) -> None:
        """Another layout for the sentence."""
        self._session.draw_layout(self._tab.instruction.value)
        self._say(f"layout: {self._session.layout.title}")
        self._changed()

    def take_example(self) -> None:
        """An example of the corpus with its sentence."""
        self._tab.instruction.value = self._session.take_example()
        self._say(f"layout: {self._session.layout.title}")
        self._changed()

    def next_seed(self) -> None:
        """Another one each time; a seed that was typed since the last one is taken as it is."""
        seed = self._tab.seed
        if int(seed.value) == self._session.choices.seed:
            seed.value = (int(seed.value) + 1) % 2**32

    def move(self, number: int, x: float, y: float) -> None:
        """An object was dragged."""
        name = self._session.layout.objects[number].name
        self._by_hand(lambda layout: layout.moved(number, x, y), f"{name}: moved")

    def start(self, x: float, y: float) -> None:
        """The drone was dragged."""
        self._by_hand(lambda layout: layout.started_at(x, y), "the drone: moved")

    def head(self, x: float, y: float) -> None:
        """The arrow at the drone was dragged."""
        self._by_hand(lambda layout: layout.headed_to(x, y), "the drone: turned")

    def _by_hand(self, change: Callable[[StudioLayout], StudioLayout], message: str) -> None:
        try:
            self._session.layout = change(self._session.layout)
            self._say(message)
        finally:  # what was refused goes back where it was
            self._changed()
