"""What the pipeline finds in the training texts, once per text, kept on disk.

Parsing costs as much as a step of training, and an augmented command has the same noun phrases as the one it came
from. So each command is parsed once, its slots filled; what is kept is which other phrases were found in it and how
they were marked ("the left": other; "the finishing line": unknown). Paragraphs of the natural corpus are kept with
all mentions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wayword.episodes import load_natural
from wayword.episodes.commands import Command
from wayword.io import write_text
from wayword.language.phrases_db import ObjectPhrases, load_phrases
from wayword.language.pipeline import LanguageModel
from wayword.language.reader.mentions import find_mentions
from wayword.language.spelling import CorrectedText
from wayword.learning.language.reader_forms import SLOT, slots

DATABASES, SIZE = 6, 12


@dataclass(frozen=True)
class Paragraph:
    """A natural paragraph after the parse.

    Attributes:
        text: corrected.
        begins: where its segments begin.
        mentions: start, end, mark, number of the entity.
    """

    text: str
    begins: tuple[int, ...]
    mentions: tuple[tuple[int, int, str, int], ...]


def filled(text: str, phrases: Mapping[str, str]) -> tuple[str, list[tuple[int, int, str]]]:
    """The text with phrases for slots, capitals at the head of sentences, and where each stands."""
    out, spans, at = "", [], 0
    for match in SLOT.finditer(text):
        out += text[at : match.start()]
        phrase = phrases[match[1]]
        if not out.strip() or out.rstrip()[-1:] in (".", "!", "?"):
            phrase = phrase[:1].upper() + phrase[1:]
        spans.append((len(out), len(out) + len(phrase), match[1]))
        out += phrase
        at = match.end()
    return out + text[at:], spans


def parse_commands(
    commands: Sequence[Command], path: Path, language: LanguageModel, progress: Callable[[int], None] = lambda _: None
) -> dict[str, list[tuple[str, str]]]:
    """By text of each command, the phrases found beside its slots with their marks; ``path`` keeps what is known."""
    known: dict[str, list[tuple[str, str]]] = {}
    if path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines():
            text, extras = json.loads(line)
            known[text] = [(phrase, mark) for phrase, mark in extras]
    rng = np.random.default_rng(3)
    objects = load_phrases("seen")
    databases = [tuple(objects[int(k)] for k in rng.permutation(len(objects))[:SIZE]) for _ in range(DATABASES)]
    fresh = [command for command in commands if command.text not in known]
    for number, command in enumerate(fresh):
        known[command.text] = _extras(command, databases[number * DATABASES // len(fresh)], language, rng)
        if number % 500 == 499:
            _keep(path, known)
        progress(number)
    _keep(path, known)
    return known


def _keep(path: Path, known: Mapping[str, Sequence[tuple[str, str]]]) -> None:
    write_text(path, "".join(json.dumps([text, extras]) + "\n" for text, extras in known.items()))


def _extras(
    command: Command, database: tuple[ObjectPhrases, ...], language: LanguageModel, rng: np.random.Generator
) -> list[tuple[str, str]]:
    order = rng.permutation(len(database))
    phrases = {
        slot: f"the {rng.choice(database[int(order[number])].phrases)}"
        for number, slot in enumerate(slots(command.text))
    }
    text, spans = filled(command.text, phrases)
    parsed = language.parse(text, database)
    mentions = find_mentions(parsed, database)
    corrected = CorrectedText(parsed.original, parsed.text, parsed.corrections)
    extras = []
    for each in mentions.mentions:
        start, end = corrected.to_original(each.start, each.end)
        if all(end <= first or start >= last for first, last, _ in spans):
            extras.append((text[start:end], each.mark))
    return extras


def parse_paragraphs(path: Path, language: LanguageModel) -> list[Paragraph]:
    """The natural training paragraphs with their mentions."""
    if not path.is_file():
        objects = load_phrases("seen")
        lines = []
        for episode in load_natural("train"):
            segments = [segment.instruction.strip() for segment in episode.segments]
            parsed = language.parse(" ".join(segments), objects)
            begins = np.cumsum([0, *(len(segment) + 1 for segment in segments)])[:-1]
            corrected = CorrectedText(parsed.original, parsed.text, parsed.corrections)
            moved = [_forward(corrected, int(begin)) for begin in begins]
            mentions = [(m.start, m.end, m.mark, m.entity) for m in find_mentions(parsed, objects).mentions]
            lines.append(json.dumps([parsed.text, moved, mentions]))
        write_text(path, "\n".join(lines) + "\n")
    return [_paragraph(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def _forward(corrected: CorrectedText, offset: int) -> int:
    """An offset of the typed text in the corrected one; at the head of a word, where segments begin."""
    return offset + sum(
        len(each.meant) - (each.end - each.start) for each in corrected.corrections if each.end <= offset
    )


def _paragraph(record: Iterable[object]) -> Paragraph:
    text, begins, mentions = record
    return Paragraph(str(text), tuple(begins), tuple((a, b, c, d) for a, b, c, d in mentions))  # type: ignore[arg-type, attr-defined]
