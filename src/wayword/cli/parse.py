"""``wayword parse``: what the language side makes of one instruction."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import tyro

from wayword.cli.common import console, visible
from wayword.errors import WaywordError

if TYPE_CHECKING:
    from rich.text import Text

    from wayword.language.pipeline import Parsed, ParsedChunk

MOST_OUTCOMES = 3
"""Objects shown per reference."""


@dataclass(frozen=True)
class Parse:
    """Show the noun chunks of an instruction, which of them refer to objects, and the anonymised text."""

    instruction: Annotated[str, tyro.conf.Positional]
    """What to read, in quotes; "-" reads it from standard input."""
    objects: Annotated[str, tyro.conf.arg(aliases=("--db",))] = "all"
    """The object database: a JSON file {name: [phrases]}, a folder with an object.json per object, or seen, dev,
    test or all for the objects of Wayword's own world."""
    json: bool = False
    """Print JSON instead of a table."""
    pronouns: bool = True
    """Let "it" refer to the object named last."""
    spelling: bool = True
    """Correct misspelt words first."""
    chunker: str = "shipped"
    """Who finds the noun phrases: shipped, spacy, or one of your own as module:Class (docs/extending.md)."""

    def run(self) -> None:
        """Parse and print."""
        from wayword.language.parsed_record import parsed_record
        from wayword.language.phrases_db import load_phrases
        from wayword.language.pipeline import LanguageModel, ParseConfig

        text = sys.stdin.read() if self.instruction == "-" else self.instruction
        if not text.strip():
            raise WaywordError('the instruction is empty; try: wayword parse "go past the planter on its left"')
        database = load_phrases(self.objects)
        parsed = LanguageModel.load(ParseConfig(self.spelling, self.pronouns), self.chunker).parse(text, database)
        if self.json:
            print(json.dumps(parsed_record(parsed), indent=2, ensure_ascii=False))
        else:
            show(parsed)


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
    parts = [visible(f"{name} {value:.2f}", style) for value, name, style in outcomes[:MOST_OUTCOMES] if value >= 0.005]
    return Text(", ").join(parts)
