"""``wayword parse``: what the language side makes of one instruction."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from wayword.cli.common import console, visible
from wayword.errors import WaywordError

if TYPE_CHECKING:
    from rich.text import Text

    from wayword.language.pipeline import Parsed, ParsedChunk

SHOWN = 3
"""Objects shown per reference."""


@dataclass(frozen=True)
class Parse:
    """Show the noun chunks of an instruction, which of them refer to objects, and the anonymised text."""

    instruction: Annotated[str, tyro.conf.Positional]
    """What to read, in quotes; "-" reads it from standard input."""
    objects: str = "all"
    """The object database: a JSON file {name: [phrases]}, a folder with an object.json per object, or seen, dev,
    test or all for the objects of Wayword's own world."""
    json: bool = False
    """Print JSON instead of a table."""
    pronouns: bool = True
    """Let "it" refer to the object named last."""
    spelling: bool = True
    """Correct misspelt words first."""

    def run(self) -> None:
        """Parse and print."""
        from wayword.language.phrases_db import load_phrases
        from wayword.language.pipeline import LanguageModel, ParseConfig

        text = sys.stdin.read() if self.instruction == "-" else self.instruction
        if not text.strip():
            raise WaywordError('the instruction is empty; try: wayword parse "go past the planter on its left"')
        database = load_phrases(self.objects)
        parsed = LanguageModel.load(ParseConfig(self.spelling, self.pronouns)).parse(text, database)
        if self.json:
            print(json.dumps(to_json(parsed), indent=2, ensure_ascii=False))
        else:
            show(parsed)


def to_json(parsed: Parsed) -> dict[str, Any]:
    """Plain values. Offsets count in ``text``, the corrected instruction; ``original`` ones in what was typed."""
    return {
        "original": parsed.original,
        "text": parsed.text,
        "corrections": [asdict(correction) for correction in parsed.corrections],
        "chunks": [_chunk_json(chunk) for chunk in parsed.chunks],
        "anonymised": parsed.anonymised.text,
        "placeholders": [list(span) for span in parsed.anonymised.placeholders],
    }


def _chunk_json(chunk: ParsedChunk) -> dict[str, Any]:
    values: dict[str, Any] = {
        "text": chunk.text,
        "start": chunk.start,
        "end": chunk.end,
        "original": list(chunk.original),
        "objref": round(chunk.objref, 6),
        "is_reference": chunk.is_reference,
    }
    if chunk.is_reference:
        values |= {
            "antecedent": chunk.antecedent,
            "object": chunk.best,
            "probabilities": {name: round(value, 6) for name, value in chunk.probabilities.items()},
            "none": round(chunk.none, 6),
        }
    return values


def show(parsed: Parsed) -> None:
    """The table and the anonymised sentence."""
    from rich.table import Table
    from rich.text import Text

    table = Table("chunk", "reference", "P(o | r)", title=visible("wayword parse", "bold"), title_justify="left")
    for chunk in parsed.chunks:
        if not chunk.is_reference:
            table.add_row(visible(chunk.text, "dim"), Text("no", "dim"), "")
            continue
        kind = Text("object", "green")
        if chunk.antecedent is not None:
            kind = Text("= ", "cyan") + visible(parsed.chunks[chunk.antecedent].text, "cyan")
        table.add_row(visible(chunk.text, "bold"), kind, _ranking(chunk))
    if parsed.chunks:
        console.print(table)
    else:
        console.print("no noun chunks found", style="yellow")
    for correction in parsed.corrections:
        console.print(Text("read ") + visible(correction.typed) + Text(" as ") + visible(correction.meant, "bold"))
    marked = visible(parsed.anonymised.text)
    marked.highlight_words(["<obj>"], "bold magenta")
    console.print(marked, highlight=False, soft_wrap=True)


def _ranking(chunk: ParsedChunk) -> Text:
    """The most probable outcomes, "none of these" among them."""
    from rich.text import Text

    outcomes = [(value, name, "green" if name == chunk.best else "") for name, value in chunk.probabilities.items()]
    outcomes.append((chunk.none, "none of these", "red" if chunk.best is None else ""))
    outcomes.sort(key=lambda item: -item[0])
    parts = [visible(f"{name} {value:.2f}", style) for value, name, style in outcomes[:SHOWN] if value >= 0.005]
    return Text(", ").join(parts)
