"""The anonymised instruction: every object reference replaced by the placeholder token.

The text is cut at the references' character offsets and joined again, never searched for phrases, so that a
phrase that occurs twice or inside another word is replaced exactly where it stands.

    "past the globe to the globe"  +  [(5, 14), (18, 27)]  ->  "past <obj> to <obj>"
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wayword.errors import WaywordError

PLACEHOLDER = "<obj>"
"""Stands for any object; the policy reads what is said about it, not what it is."""

Span = tuple[int, int]


@dataclass(frozen=True)
class Anonymised:
    """A text with placeholders, and where they came from.

    Attributes:
        text: the anonymised text.
        spans: the replaced spans [start, end) of the original, in order and disjoint.
        placeholders: for each of them, where its placeholder stands in ``text``.
        phrases: for each of them, the characters it replaced.
    """

    text: str
    spans: tuple[Span, ...]
    placeholders: tuple[Span, ...]
    phrases: tuple[str, ...]

    def restore(self) -> str:
        """The original text, rebuilt from the parts."""
        parts, position = [], 0
        for (start, end), phrase in zip(self.placeholders, self.phrases, strict=True):
            parts += [self.text[position:start], phrase]
            position = end
        return "".join([*parts, self.text[position:]])


def anonymise(text: str, spans: Sequence[Span]) -> Anonymised:
    """Replace ``spans`` of ``text`` by the placeholder.

    Spans may come in any order and may nest: of two that overlap, the longer one is replaced and the other is
    part of it; of two equally long ones, the first.
    """
    outer = outermost(spans)
    if outer and (outer[0][0] < 0 or outer[-1][1] > len(text)):
        raise WaywordError(f"a reference lies outside the text of {len(text)} characters")
    parts: list[str] = []
    placeholders: list[Span] = []
    position = length = 0
    for start, end in outer:
        between = text[position:start]
        parts += [between, PLACEHOLDER]
        length += len(between)
        placeholders.append((length, length + len(PLACEHOLDER)))
        length += len(PLACEHOLDER)
        position = end
    parts.append(text[position:])
    return Anonymised("".join(parts), outer, tuple(placeholders), tuple(text[start:end] for start, end in outer))


def outermost(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Disjoint spans in text order: longer ones first, earlier before later among equals, the rest dropped."""
    result: list[Span] = []
    for start, end in sorted(set(spans), key=lambda span: (span[0] - span[1], span[0])):
        if start >= end:
            raise WaywordError(f"the span [{start}, {end}) is empty or reversed")
        if all(end <= other_start or start >= other_end for other_start, other_end in result):
            result.append((start, end))
    return tuple(sorted(result))
