"""The words of the page as HTML: the instruction with its references in colour, and the probabilities as bars.

Everything a visitor typed or named is escaped; nothing here can become markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from wayword.language.pipeline import Parsed
from wayword.mapping.grid import UNOBSERVED
from wayword.policy.fspvn import Thought
from wayword.sim.pictures.thought_map import STOPS, VISITS
from wayword.sim.pictures.thought_words import distinct, reference_colours, split_words
from wayword.sim.pictures.topdown import Color

_SHOWN = 3
"""Objects per reference or box."""
_MOST = 6
"""References, and boxes."""
_NAME = "width:45%;overflow:hidden;text-overflow:ellipsis;white-space:nowrap"
_NOTE = "font-size:12px;opacity:.65"


def instruction_html(parsed: Parsed) -> str:
    """The instruction as typed, references in their colours."""
    colours = reference_colours(parsed.references)
    words = []
    for word in split_words(parsed):
        parts = []
        for piece in word:
            text = escape(piece.text)
            if piece.reference is not None:
                colour = _css(colours[piece.reference])
                text = f'<b style="color:{colour};border-bottom:2px solid {colour}">{text}</b>'
            parts.append(text)
        words.append("".join(parts))
    return (
        f'<div data-studio="instruction" style="font-size:16px;line-height:1.5;padding:0 8px">{" ".join(words)}</div>'
    )


def references_html(parsed: Parsed) -> str:
    """P(o | r) of each reference that says something new."""
    colours = reference_colours(parsed.references)
    rows = []
    for number in distinct(parsed.references)[:_MOST]:
        reference = parsed.references[number]
        outcomes = [*reference.probabilities.items(), ("none of these", reference.none)]
        outcomes.sort(key=lambda item: -item[1])
        rows.append(_heading(reference.text, colours[number]))
        rows += [_bar(name, p, colours[number]) for name, p in outcomes[:_SHOWN]]
    if not rows:
        return _panel("P(o | r)", f'<div style="{_NOTE}">The instruction refers to no object.</div>')
    return _panel("P(o | r): what each phrase means", "".join(rows))


def boxes_html(thought: Thought, names: Sequence[str], parsed: Parsed) -> str:
    """P(o | b) of the surest boxes and, for each, ALIGN with the references; then P(not yet observed)."""
    seen, colours = thought.grounding, reference_colours(parsed.references)
    columns = [*names, "none of these"]
    rows = []
    order = np.argsort(-seen.p_box)[:_MOST]
    for rank, box in enumerate(order.tolist(), start=1):
        likeliest = np.argsort(-seen.p_object_of_box[box])[:2].tolist()
        rows.append(_heading(f"box {rank}, object with {seen.p_box[box]:.2f}", None))
        rows += [_bar(columns[o], float(seen.p_object_of_box[box, o]), (148, 158, 172)) for o in likeliest]
        for number in distinct(parsed.references)[:_MOST]:
            if number < len(seen.alignment) and seen.alignment[number, box] >= 0.01:
                text = f"ALIGN with “{parsed.references[number].text}”"
                rows.append(_bar(text, float(seen.alignment[number, box]), colours[number]))
    if not rows:
        rows = [f'<div style="{_NOTE}">No object is in view.</div>']
    unseen = [
        _bar(title, float(thought.distributions[row, UNOBSERVED]), colour)
        for row, (title, colour) in enumerate((("the way", VISITS), ("the goal", STOPS)))
    ]
    boxes = _panel("P(o | b) and ALIGN(b, r): what is in view", "".join(rows))
    return boxes + _panel("P(not yet observed)", "".join(unseen))


def message_html(text: str, kind: str = "note") -> str:
    """A line for the visitor: a note, good news or a problem."""
    colour = {"note": "#8fa3bf", "good": "#3fbf74", "problem": "#ff6b57"}[kind]
    return (
        f'<div data-studio="message" data-kind="{kind}" style="border-left:3px solid {colour};'
        f'padding:4px 8px;font-size:13px">{escape(text)}</div>'
    )


def legend_html() -> str:
    """What the colours on the map mean."""
    entries = (("flown", (255, 206, 56)), ("will fly", VISITS), ("will stop", STOPS))
    marks = [f'<span style="color:{_css(colour)}">&#9679;</span> {name}' for name, colour in entries]
    return f'<div style="{_NOTE};padding:2px 8px">{" &nbsp; ".join(marks)} &nbsp; dark: not yet observed</div>'


def _panel(title: str, body: str) -> str:
    return f'<div style="padding:4px 8px"><div style="{_NOTE};margin-top:4px">{escape(title)}</div>{body}</div>'


def _heading(text: str, colour: Color | None) -> str:
    style = "" if colour is None else f"color:{_css(colour)};"
    return f'<div style="{style}font-weight:600;font-size:13px;margin-top:4px">{escape(_short(text))}</div>'


def _bar(name: str, p: float, colour: Color) -> str:
    width = 100 * min(max(p, 0.0), 1.0)
    track = f'<div style="height:8px;border-radius:4px;background:{_css(colour)};width:{width:.1f}%"></div>'
    return (
        '<div style="display:flex;align-items:center;font-size:12px;gap:6px">'
        f'<span style="{_NAME}">{escape(_short(name))}</span>'
        f'<div style="flex:1;background:rgba(128,128,128,.25);border-radius:4px">{track}</div>'
        f'<span style="width:32px;text-align:right">{p:.2f}</span></div>'
    )


def _short(text: str, most: int = 60) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _css(colour: Color) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)
