"""A page of random failures: for each the map, the instruction as it was understood, and which stage lost it.

One HTML file that needs nothing beside it: pictures are inside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from wayword.episodes import Example
from wayword.evaluation.table.attribution import STAGES, BlameStage
from wayword.pictures.data_urls import data_url
from wayword.pictures.failure_map import failure_map
from wayword.pictures.thought_words import NONE_OF_THESE
from wayword.pilot.verdict import ENDED_WORDS
from wayword.sim.render.bank import MeshBank

BLAME: Mapping[BlameStage, str] = {
    "language": "a reference was missed, or taken for the wrong object",
    "grounding": "an object came into view and was not found, or something else was taken for it",
    "map": "an object was found and put more than 0.5 m from its place",
    "visitation": "all that was right, and d^g still was not where the demonstration ends",
    "control": "d^g was right, and the flight did not end there",
}
_STYLE = """\
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 1320px; padding: 0 1em; color: #1b2330 }
main { display: grid; grid-template-columns: repeat(auto-fill, minmax(380px, 1fr)); gap: 2em 1.5em }
img { width: 100%; border-radius: 6px; display: block } figure { margin: 0 } figcaption p { margin: .4em 0 }
.stage { padding: .1em .6em; border-radius: 1em; color: #fff; font-size: 13px; font-weight: 600 }
.language { background: #7b3fb8 } .grounding { background: #0a7d8c } .map { background: #8a6d00 }
.visitation { background: #c2185b } .control { background: #b34700 }
.small, sub { color: #5b6675; font-size: 13px } sub { vertical-align: baseline; margin-left: .25em }
mark { background: #d6f0ff; padding: 0 .15em; border-radius: 3px } td { padding: .15em 1em .15em 0 }
.key { display: inline-block; width: 1.3em; height: .75em; border-radius: 2px; margin: 0 .35em 0 1em }
"""
_LEGEND = """\
<p class="small"><span class="key" style="border: 2px dashed #8a93a0"></span>demonstration, and the circle of 0.47 m in
which a flight has arrived <span class="key" style="background: #ffce38"></span>flown, with the drone where it ended
<span class="key" style="background: #ff4081"></span>d^g at the end <span class="key" style="border-radius: 1em;
width: .75em; background: #12161e; border: 2px solid #40c4ff"></span>where a reference's mask is largest. In the text,
<mark>references</mark><sub>and the object each was taken for.</sub></p>"""


def failure_page(
    title: str,
    rows: Sequence[Mapping[str, Any]],
    examples: Sequence[Example],
    bank: MeshBank,
    seed: int = 0,
    count: int = 20,
) -> str:
    """The page of ``count`` random failures among ``rows``, the rows of a cell whose examples are given."""
    by_id = {example.id: example for example in examples}
    failed = [row for row in rows if not row["sr"] and "picture" in row]
    numbers = np.sort(np.random.default_rng(seed).permutation(len(failed))[:count])
    figures = [_figure(failed[i], by_id[failed[i]["example"]], bank) for i in numbers]
    heading = f"{len(failed)} of {len(rows)} flights failed; {len(figures)} of them, drawn at random, are shown."
    body = "\n".join(figures) if figures else "<p>No flight failed.</p>"
    return (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>\n'
        f"<style>\n{_STYLE}</style>\n<h1>{escape(title)}</h1>\n<p>{heading}</p>\n{_blame(failed)}\n"
        f"{_LEGEND}\n<main>\n{body}\n</main></html>\n"
    )


def _blame(failed: Sequence[Mapping[str, Any]]) -> str:
    """How many failures each stage has lost, and what that means."""
    counts = Counter(row["verdict"]["lost_by"] for row in failed)
    lines = [
        f'<tr><td>{_pill(stage)}</td><td>{counts[stage]}</td><td class="small">{escape(BLAME[stage])}</td></tr>'
        for stage in STAGES
    ]
    return f"<table>{''.join(lines)}</table>" if failed else ""


def _pill(stage: str) -> str:
    return f'<span class="stage {escape(stage)}">{escape(stage)}</span>'


def _figure(row: Mapping[str, Any], example: Example, bank: MeshBank) -> str:
    picture = data_url(failure_map(row["picture"], example, bank), "jpeg")
    verdict, name = row["verdict"], escape(row["example"])
    how = ENDED_WORDS[row["ended_by"]]
    numbers = f"{name}: {how} {row['ne']:.2f} m from the end after {row['steps']} decisions"
    unseen = f"P(goal not yet observed) {row['picture']['unobserved']:.2f}"
    return (
        f'<figure><img alt="map of {name}" src="{picture}">\n<figcaption>'
        f"<p>{_pill(verdict['lost_by'])} {escape(verdict['detail'])}</p>\n"
        f"<p>{_marked_instruction(example.instruction, row['picture']['marks'])}</p>\n"
        f'<p class="small">{numbers}; {unseen}</p></figcaption></figure>'
    )


def _marked_instruction(instruction: str, marks: Sequence[Mapping[str, Any]]) -> str:
    """The instruction with its references marked, each followed by the object it was taken for."""
    parts, done = [], 0
    for mark in sorted(marks, key=lambda mark: mark["span"]):
        start, end = mark["span"]
        if start < done:
            continue
        means = escape(mark["means"] or NONE_OF_THESE)
        parts += [escape(instruction[done:start]), f"<mark>{escape(instruction[start:end])}</mark><sub>{means}</sub>"]
        done = end
    return "".join([*parts, escape(instruction[done:])])
