"""What a text mentions: objects of the database, other things, quantities; how each is marked for the network.

    exact    word for word a phrase of the database, wherever it stands: the network sees a placeholder, so that reading
             does not depend on what the object is; another one for each object
    known    a reference that P(o | r) gives to an object of the database; its words stay
    unknown  a reference to none of these; its words stay
    other    a noun phrase that is no reference ("the left", "a circle"); its words stay
    m, deg, bare   quantities

Mentions of the same object are one entity. Pronouns are no mentions: what "it" means is for the network to say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from wayword.language.phrases_db import Database, PhraseList
from wayword.language.pipeline import Parsed, ParsedChunk
from wayword.language.reader.quantities import Measure, find_measures

GUESS = 0.15
"""Least P(o | r) of an object to ask whether that is meant, and twice that of any other."""
MARKS = ("none", "exact", "known", "unknown", "other", "m", "deg", "bare", "again")
_WORD = re.compile(r"[^\W_]+(?:['’](?!s\b)[^\W_]+)*")
_DETERMINER = re.compile(
    r"(?:the|an?|this|that|these|those|my|your|ur|its|their|our|his|her|da|teh|th)\s+", re.IGNORECASE
)
_PRONOUNS = frozenset({
    "i", "me", "my", "mine", "you", "u", "your", "ya", "yourself", "it", "its", "it's", "itself", "that", "this",
    "which", "him", "he", "she", "her", "they", "them", "these", "those", "both", "each", "us", "we", "what",
    "who", "something", "anything", "everything", "nothing", "someone", "somebody", "everyone", "nobody", "anyone",
    "there", "here", "one", "ones", "all", "that one", "this one", "the other one", "the other", "the others",
    "the former", "the latter", "the first one", "the second one", "the last one", "the same one", "the one",
    "both of them", "all of them",
})  # fmt: skip
_LIKECOLOURS = (
    {"red", "orange", "pink", "brown"}, {"yellow", "gold", "golden", "orange", "beige"}, {"green", "turquoise"},
    {"grey", "gray", "silver", "white", "beige"}, {"blue", "purple", "violet", "turquoise"}, {"black"},
)  # fmt: skip
"""Colours of one set may be called by each other's names."""
COLOURS = frozenset[str]().union(*_LIKECOLOURS)
_NEVER_BARE = frozenset({"home", "house", "bath", "plane", "jet", "bot", "robot", "droid", "drone"})
"""Names that mean something else without an article: "fly home", "ok robot, ..."."""


@dataclass(frozen=True)
class TextMention:
    """Characters [start, end) of the corrected text, without article, name an entity."""

    start: int
    end: int
    mark: str
    entity: int


@dataclass(frozen=True)
class Entity:
    """A thing the text mentions, once or several times.

    Attributes:
        phrase: its first mention as written.
        probabilities: P(o | r); empty if it is no reference.
        none: P(none of these | r).
        mark: of its first mention.
    """

    phrase: str
    probabilities: Mapping[str, float]
    none: float
    mark: str

    @property
    def known(self) -> bool:
        """Whether the database has it."""
        return self.mark in ("exact", "known")

    @property
    def guess(self) -> str | None:
        """The object it may mean though that is not likely enough to fly there: one worth asking about."""
        first, second = sorted([0.0, 0.0, *self.probabilities.values()])[:-3:-1]
        if self.known or first < GUESS or first < 2 * second:
            return None
        return max(self.probabilities, key=lambda name: self.probabilities[name])


@dataclass(frozen=True)
class Mentions:
    """Everything a text mentions, in the order of the text."""

    text: str
    mentions: tuple[TextMention, ...]
    entities: tuple[Entity, ...]
    measures: tuple[Measure, ...]


@dataclass
class _Span:
    start: int
    end: int
    mark: str
    key: str
    probabilities: Mapping[str, float] = field(default_factory=dict)
    none: float = 0.0


def find_mentions(parsed: Parsed, database: Database) -> Mentions:
    """What ``parsed`` mentions of ``database``, of other things, and of quantities."""
    text = parsed.text
    measures = tuple(find_measures(text))
    phrases = PhraseList.of(database)
    spans = _exact(parsed, phrases)
    for chunk in parsed.chunks:
        start = chunk.start + _article(chunk.text)
        if start >= chunk.end or " ".join(chunk.text.lower().split()) in _PRONOUNS:
            continue
        if any(start < each.end and each.start < chunk.end for each in spans):
            continue
        if any(start < each.end and each.start < chunk.end for each in measures):
            continue
        phrase = text[start : chunk.end]
        best = None if chunk.best is None else _by_colour(phrase, chunk.best, phrases)
        if best is not None:
            probabilities = chunk.probabilities if best == chunk.best else certainty(best, database)
            spans.append(_Span(start, chunk.end, "known", best, probabilities, chunk.none))
        else:
            mark = "unknown" if chunk.is_reference else "other"
            spans.append(_Span(start, chunk.end, mark, f"?{phrase.lower()}", chunk.probabilities, chunk.none))
    spans.sort(key=lambda each: each.start)
    numbers: dict[str, int] = {}
    entities: list[Entity] = []
    mentions = []
    for each in spans:
        if each.key not in numbers:
            numbers[each.key] = len(entities)
            entities.append(Entity(text[each.start : each.end], each.probabilities, each.none, each.mark))
        mentions.append(TextMention(each.start, each.end, each.mark, numbers[each.key]))
    return Mentions(text, tuple(mentions), tuple(entities), measures)


def _exact(parsed: Parsed, database: PhraseList) -> list[_Span]:
    """Phrases of the database as they stand in the text, the longest first."""
    names, longest = phrase_index(database)
    words = [(match.start(), match.end(), match[0].lower()) for match in _WORD.finditer(parsed.text)]
    spans: list[_Span] = []
    at = 0
    while at < len(words):
        for length in range(min(longest, len(words) - at), 0, -1):
            owners = names.get(tuple(word for _, _, word in words[at : at + length]))
            start, end = words[at][0], words[at + length - 1][1]
            if owners is None or re.search(r"[.;!?,]", parsed.text[start:end]):
                continue
            before = words[at - 1][2] if at else ""
            if length == 1 and words[at][2] in _NEVER_BARE and not _DETERMINER.fullmatch(f"{before} "):
                continue
            over = next((c for c in parsed.chunks if c.start < end and start < c.end and c.is_reference), None)
            # "orbit rocket" may be taken for one noun phrase; with an article in front, it is one.
            wider = over is not None and 0 < _article(over.text) < start - over.start
            if wider and over is not None and not _same(over, owners, database):
                continue  # "the red house" of a database that has a blue one, called "house"
            best = max(owners, key=lambda name: over.probabilities.get(name, 0.0) if over else 0.0)
            begin = over.start + _article(over.text) if wider and over is not None else start
            spans.append(_Span(begin, end, "exact", best, _sure(best, over, database), 0.0))
            at += length - 1
            break
        at += 1
    return spans


def _by_colour(phrase: str, best: str, database: PhraseList) -> str | None:
    """What ``phrase`` means if not every thing of its name can have its colour; None if none of them can.

    "The green brick" is neither the red nor the yellow one, and a grey barrel the silver one; where there is one brick,
    its colour may be any.
    """
    words = phrase_words(phrase)
    colours = COLOURS.intersection(words)
    if not colours:
        return best
    same_noun = {name: others for name, others in words_said(database).items() if words[-1] in others}
    may_be = frozenset[str]().union(*(like for like in _LIKECOLOURS if like & colours))
    own = same_noun.get(best, frozenset()) & COLOURS
    if len(same_noun) < 2 or not own or own & may_be:
        return best
    fitting = [name for name, others in same_noun.items() if others & may_be]
    return fitting[0] if len(fitting) == 1 else None


@lru_cache(maxsize=8)
def words_said(database: PhraseList) -> dict[str, frozenset[str]]:
    """All words of each object's phrases."""
    return {
        entry.name: frozenset(word for phrase in (entry.name, *entry.phrases) for word in phrase_words(phrase))
        for entry in database
    }


def _same(chunk: ParsedChunk, owners: tuple[str, ...], database: PhraseList) -> bool:
    if chunk.best is None:
        return False
    return _by_colour(chunk.text[_article(chunk.text) :], chunk.best, database) in owners


def _sure(best: str, chunk: ParsedChunk | None, database: PhraseList) -> dict[str, float]:
    """P(o | r) of a phrase that is listed: what the model says where it agrees, else certainty."""
    if chunk is not None and chunk.best == best:
        return dict(chunk.probabilities)
    return certainty(best, database)


def certainty(name: str, database: Database) -> dict[str, float]:
    """P(o | r) of what can mean ``name`` alone."""
    return {entry.name: float(entry.name == name) for entry in database}


def phrase_words(phrase: str) -> tuple[str, ...]:
    """The words of a phrase without its article, in small letters."""
    return tuple(_WORD.findall(phrase[_article(phrase) :].lower()))


def _article(phrase: str) -> int:
    """How many characters of ``phrase`` are its article."""
    match = _DETERMINER.match(phrase)
    return match.end() if match else 0


@lru_cache(maxsize=8)
def phrase_index(database: PhraseList) -> tuple[dict[tuple[str, ...], tuple[str, ...]], int]:
    """Objects by the words of their phrases, and the longest phrase in words."""
    names: dict[tuple[str, ...], tuple[str, ...]] = {}
    for entry in database:
        for phrase in (entry.name, *entry.phrases):
            key = phrase_words(phrase)
            if key and entry.name not in names.get(key, ()):
                names[key] = (*names.get(key, ()), entry.name)
    return names, max(map(len, names), default=0)
