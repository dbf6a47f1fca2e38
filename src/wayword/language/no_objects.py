"""Noun chunks that are no object, whatever the network says: the surroundings, hours of the clock, who is addressed.

- The space a drone flies in and what bounds it ("the room", "the wall", "the air") are no objects unless the database
  has one that is called so.
- "Your ten o'clock" is a direction, also where a clock was taught.
- "robot, go to ..." and "thanks, drone" name the one who is spoken to: a word for a machine or a mate, without an
  article, set off from the sentence. Where the database has a robot, "past the robot" still means that one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from wayword.language.chunker import Chunk
from wayword.language.listed import ListedPhrases

SURROUNDINGS = frozenset({
    "space", "room", "wall", "walls", "corner", "corners", "floor", "ground", "air", "ceiling", "sky", "hall", "arena",
    "area", "field", "world", "horizon", "surroundings", "perimeter", "boundary", "airspace", "altitude",
})  # fmt: skip
"""Heads of phrases for where everything else is."""
_ADDRESSED = frozenset({
    "robot", "drone", "bot", "droid", "machine", "computer", "quadcopter", "copter", "quadrotor", "quad", "uav",
    "pilot", "captain", "buddy", "mate", "pal", "dude", "friend", "boss", "man", "bro", "sir",
})  # fmt: skip
_CALLS = frozenset({
    "ok", "okay", "hey", "hi", "hello", "yo", "oi", "alright", "right", "well", "dear", "good", "listen", "please",
    "thanks", "thank", "so", "now", "my", "little", "come", "on",
})  # fmt: skip
"""Words that go before the one who is addressed."""
_HOUR = re.compile(r"(?:\b[^\W_]+[\s-]+)?\bo(?:\s?['’`´]\s?|[\s-]?)clock\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")
_SENTENCE_END = re.compile(r"\s*(?:[.;!?]|$)")
_IS_GOAL = re.compile(r"\s+(?:to|on|port|starboard|left|right)\b|\s*[.;!?]|\s*$", re.IGNORECASE)
_SET_OFF = re.compile(r"\s*[,:;!?.–-]|\s*$")


def surroundings(chunk: Chunk, listed: ListedPhrases) -> bool:
    """Whether ``chunk`` names the space around, and no object of the database is called so."""
    words = _WORD.findall(chunk.text.lower())
    return bool(words) and words[-1] in SURROUNDINGS and words[-1] not in listed.heads


def hour(text: str, chunk: Chunk, listed: ListedPhrases) -> bool:
    """Whether ``chunk`` ends in an hour that stands for a direction."""
    if chunk.text in listed:
        return False
    return any(match.start() < chunk.end <= match.end() for match in _HOUR.finditer(text))


def addressed(text: str, number: int, chunks: Sequence[Chunk], listed: ListedPhrases) -> bool:
    """Whether chunk ``number`` of ``text`` is the one who is spoken to."""
    chunk = chunks[number]
    words = _WORD.findall(chunk.text.lower())
    if not words or words[-1] not in _ADDRESSED or any(word not in _CALLS for word in words[:-1]):
        return False
    start, end = chunk.start, chunk.end
    before = _WORD.findall(re.split(r"[.;!?]", text[:start])[-1].lower())
    if start and re.search(r"[,:]\s*$", text[:start]) and _SENTENCE_END.match(text, end):
        return True  # "go to the shoe, robot"
    if any(word not in _CALLS for word in before):
        return False
    called = len(words) > 1 or bool(before)
    following = chunks[number + 1] if number + 1 < len(chunks) else None
    names_next = following is not None and not re.search(r"[^\W_]", text[end : following.start])
    if words[-1] in listed.heads and not called:
        # "Robot, duck, rocket" lists goals; "robot, fly to the duck" is a call, as is "robot fly to the duck".
        return not names_next and not _IS_GOAL.match(text, end)
    return called or not names_next or bool(_SET_OFF.match(text, end))


def no_objects(text: str, chunks: Sequence[Chunk], listed: ListedPhrases) -> list[bool]:
    """For each chunk of ``text``, whether it is ruled out as an object."""
    return [
        surroundings(chunk, listed) or hour(text, chunk, listed) or addressed(text, number, chunks, listed)
        for number, chunk in enumerate(chunks)
    ]
