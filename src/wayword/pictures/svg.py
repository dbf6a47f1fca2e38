"""SVG written by hand: no drawing library, sharp at any size, with words for those who cannot see it."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

Attribute = str | float


def element(name: str, content: str = "", /, **attributes: Attribute) -> str:
    """``<name ...>content</name>``; the content is SVG already.

    In the names of attributes an underscore stands for a hyphen, and one at the end is left out: ``class_``.
    """
    words = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_value(value))}"' for key, value in attributes.items()
    )
    return f"<{name}{words}>{content}</{name}>" if content else f"<{name}{words}/>"


def text(x: float, y: float, words: str, anchor: str = "start", /, **attributes: Attribute) -> str:
    """One line of words."""
    return element("text", escape(words), x=x, y=y, text_anchor=anchor, **attributes)


def polyline(points: Iterable[tuple[float, float]], /, *, closed: bool = False, **attributes: Attribute) -> str:
    """A line through points, or the polygon they enclose."""
    places = " ".join(f"{_value(x)},{_value(y)}" for x, y in points)
    return element("polygon" if closed else "polyline", points=places, **attributes)


def line(x0: float, y0: float, x1: float, y1: float, /, **attributes: Attribute) -> str:
    """A straight line."""
    return element("path", d=f"M{_value(x0)} {_value(y0)}L{_value(x1)} {_value(y1)}", **attributes)


def whisker(low: float, high: float, y: float, half: float, /, **attributes: Attribute) -> str:
    """An interval along x, with strokes of ``half`` up and down at its ends."""
    ends = "".join(f"M{_value(x)} {_value(y - half)}v{_value(2 * half)}" for x in (low, high))
    return element("path", d=f"M{_value(low)} {_value(y)}H{_value(high)}{ends}", **attributes)


def image(
    title: str, description: str, width: float, height: float, parts: Iterable[str], /, **attributes: Attribute
) -> str:
    """The whole picture around its parts."""
    words = element("title", escape(title)) + element("desc", escape(description))
    view = f"0 0 {_value(width)} {_value(height)}"
    return element("svg", words + "\n".join(parts), viewBox=view, role="img", **attributes)


def _value(value: Attribute) -> str:
    """Numbers to a tenth of a pixel."""
    return value if isinstance(value, str) else f"{round(value, 1):.10g}"
