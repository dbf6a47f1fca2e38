"""Training examples of the reader: commands and descriptions as the pipeline would hand them over.

A drawn command is changed (``reader_augment``), its slots are filled with phrases of training objects or of things
outside the database, and marked as the pipeline marks them: mostly exact, sometimes by the model of what objects are
called, now and then unknown or missed. What else was found in the command is known from its parse (``reader_parses``).
What becomes of it for the network is ``reader_examples``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from wayword.episodes.commands import Command
from wayword.episodes.instructions.phrases import phrases
from wayword.language.minilm import MiniLM
from wayword.language.phrases_db import load_phrases
from wayword.language.reader.mentions import Entity, Mentions, TextMention
from wayword.language.reader.quantities import find_measures
from wayword.learning.language.reader_augment import chat, join_commands, mirror, renumber, repeat, rough, synonyms
from wayword.learning.language.reader_examples import PLACEHOLDERS, ReaderExample, as_numbers, meaning
from wayword.learning.language.reader_forms import Rng, slots
from wayword.learning.language.reader_grammar import Speaker
from wayword.learning.language.reader_parses import Paragraph, filled
from wayword.learning.language.treebank import AnnotatedText

FAMILIES = {
    "goto": 0.6, "stay": 0.5, "until": 0.8, "side": 0.9, "pass": 1.8, "circle": 1.5, "negation": 1.5, "sequence": 1.5,
    "between": 1.3, "weave": 1.3, "compound": 1.3, "spatial": 1.2,
}  # fmt: skip
"""How often commands of a family are drawn, where not 1: more of what depends on the order and the side of words."""

_MORE = (1, 1, 1, 1, 1, 2, 2, 3)
"""Commands that are joined to a first one."""

Extras = Mapping[str, Sequence[tuple[str, str]]]


@dataclass(frozen=True)
class ReaderPoolConfig:
    """Shares of what examples are drawn from, and how often they are changed."""

    joined: float = 0.18
    refused: float = 0.12
    described: float = 0.025
    grammar: float = 0.12
    runs: float = 0.03
    repeated: float = 0.25
    mirrored: float = 0.35
    renumbered: float = 0.4
    synonyms: float = 0.2
    chatted: float = 0.2
    rough: float = 0.2
    listed: float = 0.84
    unknown: float = 0.05
    missed: float = 0.01


@dataclass(frozen=True)
class ReaderSources:
    """What is drawn from."""

    commands: Sequence[Command]
    refusals: Sequence[Command]
    extras: Extras
    paragraphs: Sequence[Paragraph]
    sentences: Sequence[AnnotatedText]
    things: Sequence[str]

    @staticmethod
    def of(
        commands: Sequence[Command], extras: Extras, paragraphs: Sequence[Paragraph], treebank: Sequence[AnnotatedText]
    ) -> ReaderSources:
        """Commands and refusals apart; of the treebank, what is no command, and names of things."""
        things = {
            sentence.text[start + 4 : end]
            for sentence in treebank
            for start, end in sentence.chunks
            if sentence.text[start:end].lower().startswith("the ") and 7 <= end - start <= 24
        }
        return ReaderSources(
            [each for each in commands if each.steps],
            [each for each in commands if not each.steps],
            extras,
            paragraphs,
            [each for each in treebank if not each.imperative and 12 <= len(each.text) <= 160],
            sorted(things) or ["spaceship"],
        )


class Pool:
    """Draws examples."""

    def __init__(
        self,
        config: ReaderPoolConfig,
        sources: ReaderSources,
        encoder: MiniLM,
        placeholders: Sequence[str] = PLACEHOLDERS,
    ) -> None:
        self.config = config
        self.placeholders = list(placeholders)
        self.sources = sources
        self.encoder = encoder
        self.database = load_phrases("seen")
        self.speaker = Speaker()
        self._shares = np.cumsum([FAMILIES.get(command.family, 1.0) for command in sources.commands])

    def draw(self, rng: Rng) -> ReaderExample:
        """One example."""
        while True:
            example = self._one(rng)
            if example is not None:
                return example

    def _one(self, rng: Rng) -> ReaderExample | None:
        config, what = self.config, rng.random()
        if what < config.described:
            return self._description(rng)
        what -= config.described
        if what < config.refused:
            command, extras = self._refusal(rng)
            return self.command(command, extras, rng)
        what -= config.refused
        if what < config.joined:
            command, extras = self._changed(rng)
            for _ in range(int(rng.choice(_MORE))):
                second, more = self._changed(rng)
                command, extras = join_commands(command, second, rng), [*extras, *more]
        else:
            command, extras = self._changed(rng)
        if rng.random() < config.chatted:
            command = chat(command, rng)
        return self.command(command, extras, rng)

    def _changed(self, rng: Rng) -> tuple[Command, Sequence[tuple[str, str]]]:
        what = rng.random()
        if what < self.config.grammar + self.config.runs:
            command = self.speaker.say(rng) if what < self.config.grammar else self.speaker.run(rng)
            return self._repeated(command, rng), self.speaker.extras
        command = self.sources.commands[int(np.searchsorted(self._shares, rng.random() * self._shares[-1]))]
        extras = self.sources.extras.get(command.text, ())
        if rng.random() < self.config.mirrored:
            command = mirror(command) or command
            extras = [(_mirrored(phrase), mark) for phrase, mark in extras] + list(extras)
        if rng.random() < self.config.renumbered:
            command = renumber(command, rng) or command
        if rng.random() < self.config.synonyms:
            command = synonyms(command, rng)
        return self._repeated(command, rng), extras

    def _repeated(self, command: Command, rng: Rng) -> Command:
        """Now and then several times what was said; only moves can be."""
        return (repeat(command, rng) if rng.random() < self.config.repeated else None) or command

    def _refusal(self, rng: Rng) -> tuple[Command, Sequence[tuple[str, str]]]:
        sources = self.sources
        if not sources.sentences or rng.random() < 0.75:
            command = sources.refusals[int(rng.integers(len(sources.refusals)))]
            extras = sources.extras.get(command.text, ())
            return (chat(command, rng) if rng.random() < 0.1 else command), extras
        sentence = sources.sentences[int(rng.integers(len(sources.sentences)))]
        text = sentence.text.replace("{", "(").replace("}", ")")
        marks = [
            "unknown" if text[a:b].lower().startswith(("the ", "a ", "this ")) else "other" for a, b in sentence.chunks
        ]
        phrases = [(_bare(text[a:b]), mark) for (a, b), mark in zip(sentence.chunks, marks, strict=True) if b - a > 3]
        for (start, end), mark in reversed(list(zip(sentence.chunks, marks, strict=True))):
            if mark == "unknown" and rng.random() < 0.4:
                text = f"{text[:start]}{{A}}{text[end:]}"
                break
        return Command(text, (), "refuse"), phrases

    def _description(self, rng: Rng) -> ReaderExample | None:
        paragraph = self.sources.paragraphs[int(rng.integers(len(self.sources.paragraphs)))]
        total = len(paragraph.begins)
        count = min(total, int(rng.choice([1, 1, 1, 2, 2, total])))
        first = int(rng.integers(total - count + 1))
        begin = paragraph.begins[first]
        end = paragraph.begins[first + count] - 1 if first + count < total else len(paragraph.text)
        inside = [m for m in paragraph.mentions if begin <= m[0] and m[1] <= end]
        numbers = {entity: number for number, entity in enumerate(dict.fromkeys(m[3] for m in inside))}
        text = paragraph.text[begin:end]
        mentions = tuple(TextMention(m[0] - begin, m[1] - begin, m[2], numbers[m[3]]) for m in inside)
        measures = tuple(m for m in find_measures(text) if all(m.end <= x.start or m.start >= x.end for x in mentions))
        entities = tuple(Entity("", {}, 0.0, "exact") for _ in numbers)
        cuts = [place - begin for place in paragraph.begins[first + 1 : first + count]]
        return as_numbers(Mentions(text, mentions, entities, measures), [], cuts, True, self.encoder, self._words(rng))

    def command(self, command: Command, extras: Sequence[tuple[str, str]], rng: Rng) -> ReaderExample | None:
        """A command with its slots filled and everything marked."""
        if rng.random() < self.config.rough:
            command = replace(command, text=rough(command.text, rng))
        names = slots(command.text)
        objects = rng.permutation(len(self.database))
        phrases: dict[str, tuple[str, str]] = {
            slot: self._phrase(int(objects[number % len(objects)]), rng) for number, slot in enumerate(names)
        }
        article = {slot: str(rng.choice(_ARTICLES)) for slot in names}
        text, spans = filled(command.text, {slot: article[slot] + phrases[slot][0] for slot in names})
        places: list[tuple[int, int, str, str]] = []
        for _, end, slot in spans:
            phrase, mark = phrases[slot]
            places.append((end - len(phrase), end, mark, slot))
        measures = [m for m in find_measures(text) if all(m.end <= a or m.start >= b for a, b, _, _ in places)]
        intervals = [(a, b) for a, b, _, _ in places] + [(m.start, m.end) for m in measures]
        for phrase, mark in extras:
            at = re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text) if len(phrase) > 1 else None
            if at and all(at.end() <= a or at.start() >= b for a, b in intervals):
                mark = "known" if mark in ("exact", "known") else mark
                places.append((at.start(), at.end(), mark, f"?{phrase.lower()}"))
                intervals.append(at.span())
        places.sort()
        numbers = {key: number for number, key in enumerate(dict.fromkeys(each[3] for each in places))}
        mentions = Mentions(
            text,
            tuple(TextMention(a, b, mark, numbers[key]) for a, b, mark, key in places),
            tuple(Entity(key, {}, 0.0, "exact") for key in numbers),
            tuple(measures),
        )
        line = meaning(command, numbers, mentions)
        return None if line is None else as_numbers(mentions, line, [], False, self.encoder, self._words(rng))

    def _words(self, rng: Rng) -> list[str]:
        """Placeholders in any order: which word stands for an object must not matter."""
        return [str(word) for word in rng.permutation(self.placeholders)]

    def _phrase(self, number: int, rng: Rng) -> tuple[str, str]:
        """A phrase for a slot, and how the pipeline would mark it."""
        entry, draw = self.database[number], rng.random()
        if draw < self.config.unknown:
            if rng.random() < 0.5:
                return str(rng.choice(self.sources.things)), str(rng.choice(["unknown", "unknown", "other"]))
            return str(rng.choice(entry.phrases)), "unknown"
        if draw < self.config.unknown + self.config.missed:
            return str(rng.choice(entry.phrases)), "other"
        if draw < self.config.listed:
            return str(rng.choice(entry.phrases)), "exact"
        choices = [phrase.text for phrase in phrases(entry.name) if phrase.kind != "vague"]
        return str(rng.choice(choices)), "known"


_ARTICLES = ("the ", "the ", "the ", "the ", "the ", "the ", "the ", "that ", "a ", "", "", "this ", "our ")
_LEFT_RIGHT = {"left": "right", "right": "left", "leftmost": "rightmost", "rightmost": "leftmost", "port": "starboard",
               "starboard": "port"}  # fmt: skip


def _mirrored(phrase: str) -> str:
    return re.sub(r"\w+", lambda match: _LEFT_RIGHT.get(match[0].lower(), match[0]), phrase)


def _bare(phrase: str) -> str:
    return re.sub(r"^(?:the|an?|this|that|these|those|my|your|its|their|our|his|her) ", "", phrase, flags=re.IGNORECASE)
