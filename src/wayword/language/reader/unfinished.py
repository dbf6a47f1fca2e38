"""Texts that begin to say something and stop: "fly", "flyy now", "go there", "circle". No network is asked about them.

A network that must answer finds something to do in any text. Half a command is better asked about than guessed.
"""

from __future__ import annotations

import re

VERBS = frozenset({
    "approach", "begin", "circle", "climb", "descend", "down", "drive", "explore", "face", "find", "flew", "fly",
    "flying", "follow", "go", "going", "head", "look", "move", "moving", "navigate", "orbit", "pass", "proceed", "rise",
    "rotate", "scan", "search", "start", "travel", "turn", "up", "visit", "walk", "weave",
})  # fmt: skip
"""What needs a thing, a side or a number; height is not ours to change."""
FILLERS = frozenset({
    "a", "and", "can", "could", "dear", "do", "drone", "hey", "i", "it", "just", "let", "me", "now", "off", "ok",
    "over", "please", "s", "so", "some", "that", "the", "then", "there", "this", "to", "towards", "want",
    "will", "would", "you",
})  # fmt: skip
"""Words that add neither: "over there" is a place for who sees the finger that points."""
_WORD = re.compile(r"[^\W\d_]+|\d+")
START_PLACE = re.compile(r"\b(?:the|your|(?:go|fly|move|head) to) start\b")
"""Where the flight began, and no verb."""


def typed_words(text: str) -> list[str]:
    """Words and whole numbers, in small letters."""
    return _WORD.findall(text.lower())


def is_unfinished(text: str) -> bool:
    """Whether a text, its spelling put right, holds nothing but verbs of moving and fillers."""
    words = typed_words(text)
    if START_PLACE.search(" ".join(words)):
        return False
    return any(word in VERBS for word in words) and all(word in VERBS or word in FILLERS for word in words)
