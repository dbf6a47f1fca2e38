"""Expanding the grammar: from bound variables to words, with the references and claims they contain."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from wayword.episodes.instructions.grammar import Alternative, Piece, first_verb, gerund, plural_verb, rules
from wayword.episodes.instructions.phrases import Phrase, Pronoun, parts, telling_phrases
from wayword.episodes.instructions.voices import Voice
from wayword.episodes.manoeuvres import Side
from wayword.errors import WaywordError

_OBJECT_CASE: dict[Pronoun, str] = {"it": "it", "they": "them", "he": "him"}
_POSSESSIVE: dict[Pronoun, str] = {"it": "its", "they": "their", "he": "his"}
_PAIR_RULES = frozenset({"between", "between.frag", "gate.with", "both"})  # after them, "it" could be either
_WITH_IS: dict[Pronoun, str] = {"it": "it's", "they": "they're", "he": "he's"}


@dataclass(frozen=True)
class Claim:
    """One thing an instruction says: ``kind`` about ``objects``, with a side or an amount where it has one."""

    kind: str
    objects: tuple[str, ...] = ()
    side: Side | None = None
    amount: float | None = None
    segment: int = 0


@dataclass(frozen=True)
class Token:
    """A word or a punctuation mark; ``mention`` is the index of the reference it belongs to, or -1."""

    text: str
    mention: int = -1
    base: bool = False

    @property
    def is_word(self) -> bool:
        """Whether it is a word rather than punctuation."""
        return self.text[0].isalnum() or self.text[0] == "'"


@dataclass(frozen=True)
class Mention:
    """A reference before its place in the final text is known."""

    name: str
    form: str  # "phrase", "pronoun" or "part"


@dataclass
class Memory:
    """What was said before: the phrase last used for each object, in this text and in earlier ones."""

    layout: tuple[str, ...]
    earlier: dict[str, Phrase] = field(default_factory=dict)
    here: dict[str, Phrase] = field(default_factory=dict)
    last: str | None = None

    def next_text(self) -> None:
        """Begin a new instruction: pronouns cannot reach back, but names can be repeated."""
        self.earlier.update(self.here)
        self.here, self.last = {}, None

    def copy(self) -> Memory:
        """An independent copy, for a draft that may be thrown away."""
        return Memory(self.layout, dict(self.earlier), dict(self.here), self.last)


@cache
def _liked(rule: str, voice: Voice) -> tuple[tuple[Alternative, float], ...]:
    """The alternatives of a rule that a voice uses at all, with their weights."""
    weighed = ((a, a.weight * voice.share(a.tags)) for a in rules()[rule].alternatives)
    return tuple((alternative, weight) for alternative, weight in weighed if weight > 0)


class Expansion:
    """One draft of an instruction: call ``expand`` with a rule, then read tokens, mentions and claims."""

    def __init__(
        self,
        voice: Voice,
        rng: np.random.Generator,
        memory: Memory,
        values: Mapping[str, str],
        amounts: Mapping[str, float],
        flags: Iterable[str],
        segment: int,
    ) -> None:
        self.voice, self.rng, self.memory = voice, rng, memory
        self.values, self.amounts, self.flags = dict(values), amounts, frozenset(flags)
        self.segment = segment
        self.mentions: list[Mention] = []
        self.claims: list[Claim] = []

    def expand(self, name: str, ing: bool = False) -> list[Token]:
        """The words of a rule under the present bindings."""
        rule = rules()[name]
        for kind, *arguments in rule.claims:
            self._claim(kind, arguments)
        tokens: list[Token] = []
        for piece in self._choose(name, ing).pieces:
            tokens += self._piece(piece)
        if name in _PAIR_RULES:
            self.memory.last = None
        if ing and tokens:
            k = first_verb([t.text for t in tokens])
            tokens[k] = replace(tokens[k], text=gerund(tokens[k].text))
        return tokens

    def _choose(self, name: str, ing: bool) -> Alternative:
        open_ones, limits, total = [], [], 0.0
        for alternative, weight in _liked(name, self.voice):
            if not (alternative.needs or alternative.forbids) or self._allowed(alternative, ing):
                total += weight
                open_ones.append(alternative)
                limits.append(total)
        if not open_ones:
            raise WaywordError(f"the grammar has no way to say '{name}' with {sorted(self.flags)}, {self.values}")
        return open_ones[min(bisect(limits, self.rng.random() * total), len(open_ones) - 1)]

    def _allowed(self, alternative: Alternative, ing: bool) -> bool:
        for condition in alternative.needs:
            if not self._true(condition, ing):
                return False
        return not any(self._true(condition, ing) for condition in alternative.forbids)

    def _true(self, condition: str, ing: bool) -> bool:
        name, equals, value = condition.partition("=")
        if not equals:
            return name in self.flags or (ing and name == "ing")
        return self.values.get(name) == self.values.get(value, value)

    def _piece(self, piece: Piece) -> list[Token]:
        match piece.kind:
            case "word":
                return [Token(piece.name)]
            case "value":
                value = self.values[piece.name]
                if piece.form[0] == "-":
                    value = "right" if value == "left" else "left"
                return [Token(word) for word in (value + piece.form[1:]).split()]
            case "verb":
                plural = self._pronoun(self.values[piece.name]) == "they"
                return [Token(plural_verb(piece.form) if plural else piece.form)]
            case "object":
                return self._refer(self.values[piece.name], piece.form)
        if piece.chance < 1 and self.rng.random() >= piece.chance * self.voice.extras:
            return []
        bound = dict(zip(rules()[piece.name].parameters, piece.arguments, strict=False))
        outer = {name: self.values.get(name) for name in bound}
        self.values.update({name: self.values[argument] for name, argument in bound.items()})
        tokens = self.expand(piece.name, ing=piece.form == "ing")
        self.values.update({name: value for name, value in outer.items() if value is not None})
        return tokens

    def _claim(self, kind: str, arguments: Sequence[str]) -> None:
        objects, side, amount = [], None, None
        for argument in arguments:
            if argument in self.amounts:
                amount = self.amounts[argument]
            elif (value := self.values[argument]) in ("left", "right"):
                side = value
            else:
                objects.append(value)
        self.claims.append(Claim(kind, tuple(objects), side, amount, self.segment))  # type: ignore[arg-type]

    # References -----------------------------------------------------------------------------------------

    def _pronoun(self, name: str) -> Pronoun:
        phrase = self.memory.here.get(name)
        return phrase.pronoun if phrase else "it"

    def _refer(self, name: str, form: str) -> list[Token]:
        if form in ("it", "they", "its", "they's") and self.memory.last == name:
            who = self._pronoun(name)
            cases = {"it": _OBJECT_CASE[who], "they": who, "its": _POSSESSIVE[who], "they's": _WITH_IS[who]}
            return self._mention(name, "pronoun", [cases[form]], 1)
        if form == "part" and self.memory.last == name and parts(name):
            part = self._draw(parts(name), [p.weight for p in parts(name)])
            words = part.text.split()
            return self._mention(name, "part", words, len(part.base.split()))
        if form == "" and self.memory.last == name and self._pronoun(name) == "it" and self.rng.random() < 0.85:
            return self._mention(name, "pronoun", ["it"], 1)
        phrase, repeated = self._phrase(name)
        words = phrase.text.split()
        article = self._article(phrase, form, repeated)
        tokens = self._mention(name, "phrase", [*article, *words], len(article) + len(phrase.base.split()))
        self.memory.here[name] = phrase
        self.memory.last = name
        if form == "its":
            tokens[-1] = replace(tokens[-1], text=tokens[-1].text + "'s")
        elif form == "they's":
            # Plurals and long phrases do not take a contracted verb.
            if phrase.pronoun == "they" or phrase.base != phrase.text:
                tokens.append(Token("are" if phrase.pronoun == "they" else "is"))
            else:
                tokens[-1] = replace(tokens[-1], text=tokens[-1].text + "'s")
        return tokens

    def _mention(self, name: str, form: str, words: Sequence[str], base: int) -> list[Token]:
        self.mentions.append(Mention(name, form))
        index = len(self.mentions) - 1
        return [Token(word, index, k < base) for k, word in enumerate(words)]

    def _phrase(self, name: str) -> tuple[Phrase, bool]:
        """The phrase to use now, and whether it repeats one that was used before."""
        known = self.memory.here.get(name)
        if known is not None and self.rng.random() < 0.9:
            return known, True
        before = self.memory.earlier.get(name)
        if before is not None and self.rng.random() < self.voice.repeat:
            return before, True
        choices = telling_phrases(name, self.memory.layout)
        weights = [p.weight**self.voice.steepness * self.voice.kinds[p.kind] for p in choices]
        if known is not None:  # a second name within one sentence should be a short one
            weights = [w if len(p.text.split()) < 3 else 0.2 * w for w, p in zip(weights, choices, strict=True)]
        return self._draw(choices, weights), known is not None or before is not None

    def _article(self, phrase: Phrase, form: str, repeated: bool) -> list[str]:
        if phrase.text == "Frosty":
            return []
        if form == "bare" and self.rng.random() < self.voice.bare:
            return []
        if self.rng.random() < self.voice.no_article:
            return []
        if repeated and self.rng.random() < self.voice.that:
            if phrase.pronoun == "they":
                return ["those"]
            return ["that", "same"] if self.rng.random() < 0.15 else ["that"]
        return ["the"]

    def _draw(self, choices: Sequence[Phrase], weights: Sequence[float]) -> Phrase:
        total = sum(weights)
        if total <= 0:
            return choices[0]
        draw = self.rng.random() * total
        for choice, weight in zip(choices, weights, strict=True):
            draw -= weight
            if draw < 0:
                return choice
        return choices[-1]
