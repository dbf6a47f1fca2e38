"""The words of the page as HTML: the instruction with its references in colour, and the probabilities as bars.

Everything a visitor typed or named is escaped; nothing here can become markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from wayword.language.pipeline import Parsed
from wayword.mapping.grid import UNOBSERVED
from wayword.pictures.colours import FLIGHT, STOPS, VISITS, Rgb, reference_colours
from wayword.pictures.live_views import MOST_BOXES
from wayword.pictures.thought_words import NONE_OF_THESE, distinct_references, split_words
from wayword.policy.fspvn import Thought
from wayword.studio.understood import PlanPart

_MOST_OUTCOMES = 3
"""Objects per reference or box."""
_MOST = 6
"""References."""
_NAME = "width:45%;overflow:hidden;text-overflow:ellipsis;white-space:nowrap"
_NOTE = "font-size:12px;opacity:.75"
_SPEECH_ONLY = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)"
"""For screen readers only."""


def instruction_html(parsed: Parsed) -> str:
    """The instruction as typed: references in their colours, noun chunks that are none dotted."""
    colours = reference_colours(parsed.references)
    words, others = [], False
    for word in split_words(parsed):
        parts = []
        for piece in word:
            text = escape(piece.text)
            if piece.reference is not None:
                colour = _css(colours[piece.reference])
                text = f'<b style="color:{colour};border-bottom:2px solid {colour}">{text}</b>'
            elif piece.in_chunk:
                text, others = f'<i style="border-bottom:2px dotted #8fa3bf">{text}</i>', True
            parts.append(text)
        words.append("".join(parts))
    note = f'<div style="{_NOTE}">Dotted: noun chunks that stand for no object.</div>' if others else ""
    sentence = f'<div style="font-size:16px;line-height:1.5">{" ".join(words)}</div>'
    return f'<div data-studio="instruction" style="padding:0 8px">{sentence}{note}</div>'


def plan_html(parts: Sequence[PlanPart], title: str, doing: int | None = None) -> str:
    """What will be flown, part by part, or what was, each with its verdict; ``doing`` is the part in the air."""
    marks = {
        None: ("&#9675;", "#8fa3bf", ""),
        True: ("&#10003;", "#3fbf74", "done: "),
        False: ("&#10007;", "#ff8a7a", "not done: "),
    }
    rows = []
    for number, part in enumerate(parts):
        sign, colour, speech = marks[part.done]
        if number == doing:
            sign, colour, speech = "&#9654;", _css(FLIGHT), "now: "
        weight = "font-weight:600" if number == doing else ""
        rows.append(
            f'<li style="display:flex;gap:8px;{weight}" data-done="{part.done}">'
            f'<span aria-hidden="true" style="color:{colour}">{sign}</span>'
            f'<span><span style="{_SPEECH_ONLY}">{speech}</span>{escape(_short(part.words, 300))}</span></li>'
        )
    body = f'<ol style="list-style:none;margin:2px 0;padding:0;font-size:13px">{"".join(rows)}</ol>'
    return f'<div data-studio="plan">{_panel(title, body)}</div>' if rows else ""


def desk_html(key: str, query: str, opened: str, theme: str) -> str:
    """What the page's script reads: whose page it is, its address, which tab is opened, the theme. Shows nothing."""
    fields = {"key": key, "query": query, "opened": opened, "theme": theme}
    data = " ".join(f'data-{name}="{escape(value, quote=True)}"' for name, value in fields.items())
    return f'<div data-studio="desk" {data} hidden></div>'


def references_html(parsed: Parsed) -> str:
    """P(o | r) of each reference that says something new."""
    colours = reference_colours(parsed.references)
    rows = []
    for number in distinct_references(parsed.references)[:_MOST]:
        reference = parsed.references[number]
        outcomes = [*reference.probabilities.items(), (NONE_OF_THESE, reference.none)]
        outcomes.sort(key=lambda item: -item[1])
        rows.append(_heading(reference.text, colours[number]))
        rows += [_bar(name, p, colours[number]) for name, p in outcomes[:_MOST_OUTCOMES]]
    if not rows:
        return _panel("P(o | r)", f'<div style="{_NOTE}">The instruction refers to no object.</div>')
    return _panel("P(o | r): what each phrase means", "".join(rows))


def boxes_html(thought: Thought, names: Sequence[str], parsed: Parsed) -> str:
    """P(o | b) of the surest boxes and, for each, ALIGN with the references; then P(not yet observed)."""
    grounding, colours = thought.grounding, reference_colours(parsed.references)
    columns = [*(grounding.names or names), NONE_OF_THESE]
    rows = []
    order = np.argsort(-grounding.p_box)[:MOST_BOXES]  # numbered as in the view
    for rank, box in enumerate(order.tolist(), start=1):
        likeliest = np.argsort(-grounding.p_object_of_box[box])[:2].tolist()
        rows.append(_heading(f"box {rank}, object with {grounding.p_box[box]:.2f}", None))
        rows += [_bar(columns[o], float(grounding.p_object_of_box[box, o]), (148, 158, 172)) for o in likeliest]
        for number in distinct_references(parsed.references)[:_MOST]:
            if number < len(grounding.alignment) and grounding.alignment[number, box] >= 0.01:
                text = f"ALIGN with “{parsed.references[number].text}”"
                rows.append(_bar(text, float(grounding.alignment[number, box]), colours[number]))
    if not rows:
        rows = [f'<div style="{_NOTE}">No object is in view.</div>']
    unseen = [
        _bar(title, float(thought.distributions[row, UNOBSERVED]), colour)
        for row, (title, colour) in enumerate((("the way", VISITS), ("the goal", STOPS)))
    ]
    boxes = _panel("P(o | b) and ALIGN(b, r): what is in view", "".join(rows))
    arrived = thought.action[2] > 0.5 and (thought.distributions[:, UNOBSERVED] == 1).all()  # no way is left to plan
    return boxes if arrived else boxes + _panel("P(not yet observed)", "".join(unseen))


def message_html(text: str, kind: str = "note") -> str:
    """A line for the visitor: a note, good news or a problem."""
    colour = {"note": "#8fa3bf", "good": "#3fbf74", "problem": "#ff6b57"}[kind]
    role = "alert" if kind == "problem" else "status"
    return (
        f'<div data-studio="message" data-kind="{kind}" role="{role}" style="border-left:3px solid {colour};'
        f'padding:4px 8px;font-size:13px">{escape(text)}</div>'
    )


def legend_html() -> str:
    """What the colours on the map mean."""
    entries = (("flown", FLIGHT), ("will fly", VISITS), ("will stop", STOPS))
    marks = [f'<span aria-hidden="true" style="color:{_css(colour)}">&#9679;</span> {name}' for name, colour in entries]
    words = f"{' &nbsp; '.join(marks)} &nbsp; dark: not yet observed"
    return f'<div data-studio="legend" style="font-size:12px;padding:2px 8px">{words}</div>'


def _panel(title: str, body: str) -> str:
    head = f'<div style="{_NOTE};margin-top:4px">{escape(title)}</div>'
    return f'<div data-studio="panel" style="padding:4px 16px 4px 8px">{head}{body}</div>'


def _heading(text: str, colour: Rgb | None) -> str:
    style = "" if colour is None else f"color:{_css(colour)};"
    return f'<div style="{style}font-weight:600;font-size:13px;margin-top:4px">{escape(_short(text))}</div>'


def _bar(name: str, p: float, colour: Rgb) -> str:
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


def _css(colour: Rgb) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)
