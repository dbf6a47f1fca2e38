"""How well the reader reads: commands of other writers about other objects, through the whole pipeline.

    commands              of dev, without those that a training command equals word for word
    steps exactly right   equal up to the forms that mean the same flight (``plain``), objects and rules included
    refusals right        texts that ask for nothing, refused
    false refusals        commands that were refused
    kinds                 commands taken for commands, natural descriptions for descriptions
    boundaries            F1 of where segments of natural paragraphs begin

Decisions may rest on these figures; who writes forms or data for training does not read the texts of ``dev``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wayword.episodes import load_natural
from wayword.episodes.commands import Command, FilledCommand, Step, families, fill, load_commands
from wayword.episodes.instructions.phrases import phrases
from wayword.intervals import bootstrap_mean, wilson
from wayword.language.phrases_db import Database, load_phrases
from wayword.language.pipeline import LanguageModel
from wayword.language.reader import Reader, Reading
from wayword.language.reader.forms import plain
from wayword.learning.language.matches import Matches
from wayword.learning.language.measured import SEED, Measured, MeasuredFigures, f1_figures


def reader_report(weights: Path, say: Callable[[str], None] = lambda _: None) -> MeasuredFigures:
    """Every figure of a reader on ``dev``, by key."""
    language, database, reader = LanguageModel.load(), load_phrases("dev"), Reader.load(weights)
    commands = unmet(load_commands("dev"), load_commands("train") + load_commands("more"))
    say("measuring: commands")
    judged = judge_commands(commands, database, language, reader)
    report = {"language.reader.commands.exact": _rate([each.right for each in judged])}
    for family in families(commands):
        right = [each.right for each in judged if each.filled.command.family == family]
        report[f"language.reader.commands.{family}.exact"] = _rate(right)
    requests = [each for each in judged if not each.filled.command.refuses]
    empty = [each for each in judged if each.filled.command.refuses]
    report["language.reader.refusals.right"] = _rate([each.refused for each in empty])
    report["language.reader.refusals.false"] = _rate([each.refused for each in requests])
    report["language.reader.commands.kept"] = _rate([each.reading.kind != "description" for each in judged])
    unlisted = judge_commands(commands[::3], database, language, reader, listed=False)
    report["language.reader.commands.unlisted_exact"] = _rate([each.right for each in unlisted])
    say("measuring: descriptions")
    boundaries, descriptions, total = judge_paragraphs("dev", database, language, reader)
    report["language.reader.descriptions.kept"] = Measured(wilson(descriptions, total))
    report |= f1_figures("language.reader.boundaries", boundaries)
    milliseconds = _read_times([each.filled.text for each in judged[:100]], database, reader)
    report["bench.language.read_ms"] = Measured(bootstrap_mean(milliseconds, np.random.default_rng(SEED)), "ms")
    return report


def unmet(commands: Sequence[Command], trained: Sequence[Command]) -> list[Command]:
    """Commands that no training command equals up to case and punctuation: short ones occur to several writers."""
    met = {_letters(command.text) for command in trained}
    return [command for command in commands if _letters(command.text) not in met]


def _letters(text: str) -> str:
    return "".join(character for character in text.lower() if character.isalnum() or character in "{}")


def _rate(hits: Sequence[bool]) -> Measured:
    return Measured(wilson(sum(hits), len(hits)))


def _read_times(texts: Sequence[str], database: Database, reader: Reader) -> np.ndarray:
    """Parsing and reading, in CPU milliseconds per text."""
    language, times = LanguageModel.load(), []
    for text in texts:
        begin = time.process_time()
        reader.read(language.parse(text, database), database)
        times.append(1000 * (time.process_time() - begin))
    return np.array(times[1:])


@dataclass(frozen=True)
class Judged:
    """One command as it was read."""

    filled: FilledCommand
    reading: Reading
    right: bool

    @property
    def refused(self) -> bool:
        """Whether it was not flown."""
        return self.reading.kind == "refusal"


def draw_fill(command: Command, database: Database, rng: np.random.Generator, listed: bool = True) -> FilledCommand:
    """Objects of the database in the slots, each called by one of its phrases, or by names it was not taught with."""
    order = rng.permutation(len(database))
    names, noun_phrases = {}, {}
    for number, slot in enumerate(command.slots):
        entry = database[int(order[number % len(order)])]
        other = [phrase.text for phrase in phrases(entry.name) if phrase.kind in ("name", "noun", "look")]
        choices = entry.phrases if listed else [each for each in other if each not in entry.phrases] or entry.phrases
        names[slot] = entry.name
        noun_phrases[slot] = f"the {choices[int(rng.integers(len(choices)))]}"
    return fill(command, names, noun_phrases)


def judge_commands(
    commands: Sequence[Command], database: Database, language: LanguageModel, reader: Reader, listed: bool = True
) -> list[Judged]:
    """Read every command once."""
    rng = np.random.default_rng(SEED)
    result = []
    for command in commands:
        filled = draw_fill(command, database, rng, listed)
        reading = reader.read(language.parse(filled.text, database), database)
        result.append(Judged(filled, reading, read_right(filled, reading)))
    return result


def read_right(filled: FilledCommand, reading: Reading) -> bool:
    """Whether ``reading`` is the flight that is meant."""
    command = filled.command
    if command.refuses or reading.kind != "steps":
        return command.refuses and reading.kind == "refusal"
    meant = {
        key: f"{rule.rule} {rule.rank} {filled.names.get(rule.of or '', '')}" for key, rule in command.select.items()
    }
    steps = [step.renamed(lambda key: meant.get(key) or filled.names[key]) for step in command.steps]
    return plain(steps) == plain(said_steps(reading))


def said_steps(reading: Reading) -> list[Step]:
    """The steps of a reading about objects by name."""
    names: dict[str, str] = {}
    for key, thing in reading.things.items():
        names[key] = thing.name or ""
    for key, thing in reading.things.items():
        if thing.select is not None:
            names[key] = f"{thing.select.rule} {thing.select.rank} {names.get(thing.select.of or '', '')}"
    return [step.renamed(lambda key: names[key]) for step in reading.steps]


def judge_paragraphs(
    split: str, database: Database, language: LanguageModel, reader: Reader
) -> tuple[Matches, int, int]:
    """Boundaries in whole paragraphs; two-segment texts and paragraphs taken for descriptions, of how many."""
    counts: list[tuple[int, int, int]] = []
    descriptions = total = 0
    for episode in load_natural(split):
        segments = [segment.instruction.strip() for segment in episode.segments]
        texts = [segments, *(segments[at : at + 2] for at in range(len(segments) - 1))]
        for number, parts in enumerate(texts):
            text = " ".join(parts)
            parsed = language.parse(text, database)
            reading = reader.read(parsed, database)
            total += 1
            descriptions += reading.kind == "description"
            if number == 0:
                begins = set(np.cumsum([len(part) + 1 for part in parts[:-1]]).tolist())
                places = {parsed_place(parsed.text, text, begin) for begin, _ in reading.legs[1:]}
                near = sum(any(abs(each - begin) <= 3 for each in places) for begin in begins)
                counts.append((near, len(places), len(begins)))
    return Matches.of(counts), descriptions, total


def parsed_place(corrected: str, original: str, place: int) -> int:
    """A place of the corrected text in the typed one, by the words before it."""
    words = len(corrected[:place].split())
    at = 0
    for _ in range(words):
        while at < len(original) and original[at].isspace():
            at += 1
        while at < len(original) and not original[at].isspace():
            at += 1
    while at < len(original) and original[at].isspace():
        at += 1
    return at
