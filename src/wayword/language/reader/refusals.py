"""What is said when a text is not flown: one line, what was not understood, and what is known."""

from __future__ import annotations

import re
from collections.abc import Sequence

_BY_PLACE = re.compile(
    r"near|clos|next|besid|adjac|neighb|far\b|farth|furth|distan|remote|left|right|port|starboard|behind|back|ahead|front"
    r"|straight|opposite|first|last|second|third|other|one|thing|object|item|piece|contact|target|what|which|min|max"
    r"|side|edge|end|outer|flank|bow|astern|aft|nose|o'?\s?clock|by\b|\d",
    re.IGNORECASE,
)
"""Something of this stands in a text that means a thing by its place."""
MOST_NAMES = 16
MOST_CHARACTERS = 60


def nothing_to_do(text: str, names: Sequence[str]) -> str:
    """The text asks for nothing that a drone can do."""
    line = " ".join(text.split())
    if not line:
        return f"I was told nothing. Name where to fly; {_known(names)}"
    short = line if len(line) <= MOST_CHARACTERS else line[: MOST_CHARACTERS - 3].rstrip() + "..."
    return f'I see nothing to fly in "{short}". Say where to go, what to pass or to circle; {_known(names)}'


def means_by_place(text: str) -> bool:
    """Whether a text can mean a thing by where it stands: "halfway to the globe" does not."""
    return _BY_PLACE.search(text) is not None


def what_i_do(names: Sequence[str]) -> str:
    """For who asks."""
    first, last = (names[0], names[-1]) if len(names) > 1 else ("", "")
    say = f"pass the {first}, then stop at the {last}" if first else "go 2 metres ahead, turn left and come back"
    return (
        "I fly to things, past, around, behind and between them, ahead, back or aside by metres, turn, wait and come "
        f'back: say "{say}", for example; {_known(names)}'
    )


def one_height(names: Sequence[str], place: str = "") -> str:
    """For who speaks of taking off, landing or height, or of a ``place`` that is not at the drone's height."""
    if place:
        return (
            f'I keep one height and touch nothing: I cannot "{place}". I fly to things, past, around, behind and '
            f"between them; {_known(names)}"
        )
    return (
        "I take off and land by myself and keep one height between. Say where to go, what to pass or to circle; "
        f"{_known(names)}"
    )


def not_known(phrases: Sequence[str], names: Sequence[str], guesses: Sequence[str] = ()) -> str:
    """A step needs a thing that the database does not have; ``guesses`` are objects that may be meant all the same."""
    if not phrases:
        return f"I do not see which thing is meant; {_known(names)}"
    quoted = " and ".join(f'"{phrase}"' for phrase in dict.fromkeys(phrases))
    if guesses:
        meant = " and ".join(f"the {name}" for name in dict.fromkeys(guesses))
        return f"I do not know {quoted}. Do you mean {meant}? {_known(names)}"
    return f"I do not know {quoted}; {_known(names)}"


def beyond_me(what: str, names: Sequence[str]) -> str:
    """The text asks for something that no step can say (``beyond``)."""
    return f"{what}; {_known(names)}"


def _known(names: Sequence[str]) -> str:
    if not names:
        return "I know no objects yet: teach me one."
    listed = ", ".join(names[:MOST_NAMES])
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"I know {listed}{more}."
