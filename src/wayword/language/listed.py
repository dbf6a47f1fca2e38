"""Phrases of the database, word for word, in a text: chunks that the chunker cut short or did not find.

A phrase that was taught needs no guessing. Three places where the chunker, which does not know the database, goes
wrong are put right by it:

    "the left shoe"        the chunk is "the left": what follows it is listed, so they are one phrase
    "Clock right. Stop"    no chunk: a listed phrase with a side after it, and nothing else in its clause
    "the charging port"    the chunk was cut before "port", which is listed with it
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from wayword.language.chunker import Chunk
from wayword.language.phrases_db import Database

DETERMINER = re.compile(r"\A(?:the|an?|this|that|these|those|my|your|ur|its|their|our|his|her)(?:\s+|$)", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SIDE_ALONE = re.compile(r"(?:the|that|this)\s+(?:far\s+)?(?:left|right)(?:[\s-]hand)?(?:most)?$", re.IGNORECASE)
_ADVERBIAL = re.compile(r"\b(?:on|onto|turn|bank|veer|swing|bear|yaw|steer|slide|drift|keep)\s+(?:to\s+)?$", re.I)
"""Before "the left": then it says whither, and does not tell things apart. "fly to the left shoe" names a shoe."""
_CLAUSE_BEGINS = re.compile(r"(?:^|[.,;:!?]|\b(?:and|then|next|now|past|keep|leave|pass))\s*$", re.IGNORECASE)
_SIDE_AND_END = re.compile(r"\s+(?:to\s+)?(?:port|starboard|left|right)(?:[\s-]side)?\s*(?:[.,;!?]|$)", re.IGNORECASE)
_POSITIONS = re.compile(
    r"(?:(?:left|right)(?:[\s-]hand|most)?|nearest|closest|nearer|closer|farthest|furthest|first|second|third|last|"
    r"middle|cent(?:er|re)|front|rear)\s+",
    re.IGNORECASE,
)


class ListedPhrases:
    """The phrases and names of a database, to be found word for word."""

    def __init__(self, database: Database) -> None:
        phrases = {_key(phrase) for entry in database for phrase in (entry.name, *entry.phrases)}
        self._phrases = phrases - {()}
        self.heads = frozenset(phrase[-1] for phrase in self._phrases)
        self._longest = max(map(len, self._phrases), default=0)

    def __contains__(self, phrase: str) -> bool:
        """Whether ``phrase``, with or without its article, is listed."""
        return _key(phrase) in self._phrases

    def at(self, text: str, start: int) -> int | None:
        """One past the end of the longest listed phrase that begins at ``start``; None if none does."""
        words: list[str] = []
        ends: list[int] = []
        for match in _WORD.finditer(text, start):
            gap = text[ends[-1] if ends else start : match.start()]
            if len(words) == self._longest or gap.strip(" -") or (gap and not ends):
                break
            words.append(_plain(match[0]))
            ends.append(match.end())
        for length in range(len(words), 0, -1):
            if tuple(words[:length]) in self._phrases:
                return ends[length - 1]
        return None

    def looked_up(self, phrase: str) -> str:
        """What to look up for ``phrase``: "the left shoe" is a "shoe" that is told apart by where it stands."""
        if phrase in self:
            return phrase
        bare = _POSITIONS.sub("", DETERMINER.sub("", phrase, count=1), count=1)
        return bare if bare in self else phrase


def find_listed(text: str, chunks: Sequence[Chunk], listed: ListedPhrases) -> list[Chunk]:
    """``chunks`` with those made whole or added that the head of this module names; in order and disjoint."""
    result: list[Chunk] = []
    for number, chunk in enumerate(chunks):
        after = chunks[number + 1].start if number + 1 < len(chunks) else len(text)
        if result and chunk.start < result[-1].end:
            continue  # it became part of the one before
        end = _whole(text, chunk, listed)
        if end is not None and (end <= after or _covers(chunks[number + 1 :], end)):
            chunk = Chunk(chunk.start, end, text[chunk.start : end])
        result.append(chunk)
    spans = [(chunk.start, chunk.end) for chunk in result]
    result += [chunk for chunk in _clipped(text, listed) if not _overlaps(chunk, spans)]
    return sorted(result, key=lambda chunk: chunk.start)


def _whole(text: str, chunk: Chunk, listed: ListedPhrases) -> int | None:
    """Where ``chunk`` ends if the words after it belong to it."""
    match = re.match(r"\s+(?=[^\W\d_])", text[chunk.end :])
    if match is None:
        return None
    if _SIDE_ALONE.match(chunk.text) and not _ADVERBIAL.search(text[: chunk.start]):
        return listed.at(text, chunk.end + match.end())
    article = DETERMINER.match(chunk.text)
    end = listed.at(text, chunk.start + (article.end() if article else 0))
    return end if end is not None and re.fullmatch(r"\s+(?:port|left|right|starboard)", text[chunk.end : end]) else None


def _covers(later: Sequence[Chunk], end: int) -> bool:
    """Whether no later chunk would be cut in two by an ``end``."""
    return all(chunk.end <= end or chunk.start >= end for chunk in later)


def _clipped(text: str, listed: ListedPhrases) -> Iterable[Chunk]:
    """Listed phrases that are a clause with nothing but a side: "Clock right."."""
    for match in _WORD.finditer(text):
        if _CLAUSE_BEGINS.search(text[: match.start()]):
            end = listed.at(text, match.start())
            if end is not None and _SIDE_AND_END.match(text, end):
                yield Chunk(match.start(), end, text[match.start() : end])


def _overlaps(chunk: Chunk, spans: Sequence[tuple[int, int]]) -> bool:
    return any(chunk.start < end and start < chunk.end for start, end in spans)


def _key(phrase: str) -> tuple[str, ...]:
    return tuple(_plain(word) for word in _WORD.findall(DETERMINER.sub("", phrase.strip(), count=1)))


def _plain(word: str) -> str:
    return word.lower().replace("’", "'")
