"""What the address of the page holds: sentence, layout, seed and choices, so that a link shows the same to everybody.

?say=stop+in+front+of+the+globe&seed=3&for=globe              drawn with a seed, for what is mentioned
?say=...&seed=3&example=1                                     an example of the corpus
?say=...&seed=3&objects=globe,2,1.5,0.3;...&start=1,1,0.5     changed by hand
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from urllib.parse import parse_qs, urlencode

from wayword.episodes import PlacedObject, Pose2
from wayword.errors import WaywordError
from wayword.studio.layout import StudioLayout, corpus_example, draw_layout
from wayword.task import ARENA_M

_MOST_OBJECTS = 20
_DEFAULTS = {"policy": "wayword", "masks": "predicted", "knows": "test"}


@dataclass(frozen=True)
class PageAddress:
    """What is written in the address bar after the question mark."""

    say: str
    seed: int = 0
    policy: str = "wayword"
    masks: str = "predicted"
    knows: str = "test"
    drawn_for: tuple[str, ...] = ()
    example: bool = False
    objects: tuple[PlacedObject, ...] = ()
    """Of a layout that was changed by hand; with ``start``."""
    start: Pose2 | None = None

    def showing(self, layout: StudioLayout, drawn_for: Collection[str]) -> PageAddress:
        """The same with a layout: by hand it is written down, else it can be drawn anew."""
        if layout.by_hand:
            return replace(self, objects=layout.objects, start=layout.start)
        return replace(self, drawn_for=tuple(drawn_for), example=layout.path is not None)

    @property
    def query(self) -> str:
        """As it is written."""
        fields: dict[str, str] = {"say": self.say, "seed": str(self.seed)}
        fields |= {key: value for key, value in self._choices().items() if value != _DEFAULTS[key]}
        if self.start is not None:
            fields["objects"] = ";".join(f"{o.name},{o.x:g},{o.y:g},{o.yaw:.4g}" for o in self.objects)
            fields["start"] = f"{self.start.x:g},{self.start.y:g},{self.start.yaw:.4g}"
        elif self.example:
            fields["example"] = "1"
        elif self.drawn_for:
            fields["for"] = ",".join(self.drawn_for)
        return urlencode(fields)

    def _choices(self) -> dict[str, str]:
        return {"policy": self.policy, "masks": self.masks, "knows": self.knows}

    @staticmethod
    def read(query: str) -> PageAddress:
        """What somebody typed, or was sent; what cannot be read is refused in one line."""
        fields = {key: values[0] for key, values in parse_qs(query).items()}
        choices = {key: fields.get(key, default) for key, default in _DEFAULTS.items()}
        try:
            seed = int(fields.get("seed", "0"))
            objects = tuple(_placed(part) for part in fields.get("objects", "").split(";") if part)
            start = Pose2(*_numbers(fields["start"].split(","), 3)) if "start" in fields else None
        except ValueError as error:
            raise WaywordError(f"the address of this page cannot be read: {error}") from None
        if len(objects) > _MOST_OBJECTS or bool(objects) != (start is not None):
            raise WaywordError("the address of this page cannot be read: objects and start belong together")
        names = tuple(name for name in fields.get("for", "").split(",") if name)
        return PageAddress(
            fields.get("say", ""), seed, choices["policy"], choices["masks"], choices["knows"], names,
            fields.get("example") == "1", objects, start,
        )  # fmt: skip

    def layout(self, known: Collection[str], meshes: Collection[str]) -> StudioLayout:
        """The layout it stands for; ``known`` can be mentioned, ``meshes`` can be drawn."""
        if self.start is not None:
            if strange := [item.name for item in self.objects if item.name not in meshes]:
                raise WaywordError(f"the address names {strange[0]!r}, which this page has no model of")
            return StudioLayout(f"seed {self.seed}, changed by hand", self.objects, self.start, by_hand=True)
        if self.example and self.knows in ("test", "dev"):
            return corpus_example(self.knows, self.seed)
        return draw_layout(self.seed, [name for name in self.drawn_for if name in known], known)


def _placed(part: str) -> PlacedObject:
    name, *numbers = part.split(",")
    return PlacedObject(name, *_numbers(numbers, 3))


def _numbers(parts: list[str], count: int) -> list[float]:
    values = [float(part) for part in parts]
    if len(values) != count or not all(map(math.isfinite, values)):
        raise ValueError(f"{','.join(parts)} is not {count} numbers")
    if not all(0 <= value <= ARENA_M for value in values[:2]):
        raise ValueError(f"{values[0]:g}, {values[1]:g} lies outside the {ARENA_M:g} m arena")
    return values
