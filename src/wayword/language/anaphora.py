"""Names said again with fewer words: after "the red brick", "the brick" is the red one.

A definite phrase of a noun alone takes up the last reference that named it with more words. A phrase that was already
said in just these words keeps what it meant then, and "a brick" or "the other brick" is a new one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_DEFINITE = re.compile(r"(?:the|this|that|said)\s+([^\W\d_]+)$", re.IGNORECASE)
_AFTER_HEAD = re.compile(r"\s+(?:of|with|without|in|on|at|from|for|to)\s+", re.IGNORECASE)


def taken_up(phrases: Sequence[str], is_named: Sequence[bool]) -> list[int | None]:
    """For each chunk, the number of the earlier and longer one that it says again; None if there is none.

    Args:
        phrases: the chunks of an instruction, in order.
        is_named: whether each names an object of the database.
    """
    result: list[int | None] = []
    for number, phrase in enumerate(phrases):
        noun = _noun_alone(phrase)
        earlier = [k for k in range(number) if is_named[k] and noun is not None and head_noun(phrases[k]) == noun]
        said_before = any(_noun_alone(phrases[k]) == noun and result[k] is None for k in earlier)
        longer = [k for k in earlier if _noun_alone(phrases[k]) is None]
        result.append(longer[-1] if is_named[number] and longer and not said_before else None)
    return result


def head_noun(phrase: str) -> str:
    """The last word before what follows the noun: "stack" of "the stack of dishes"."""
    words = _AFTER_HEAD.split(phrase.strip().lower())[0].split()
    return words[-1] if words else ""


def _noun_alone(phrase: str) -> str | None:
    match = _DEFINITE.match(phrase.strip())
    return match[1].lower() if match else None
