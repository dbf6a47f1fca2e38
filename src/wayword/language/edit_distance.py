"""How far a typed word is from a meant one: Damerau-Levenshtein with costs that know about typing.

The cheap slips are the common ones: two letters swapped, a letter doubled or halved, a key beside the right
one, one vowel for another, a missing final g ("keepin"). The first letter is rarely wrong, so errors there
cost more.
"""

from __future__ import annotations

KEY_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
ROW_SHIFT = (0.0, 0.25, 0.75)
VOWELS = frozenset("aeiouy")

SWAP = 0.7
DOUBLED = 0.5
DROPPED_G = 0.4
DROPPED = 0.85
ADDED = 0.9
BESIDE = 0.8
VOWEL = 0.8
OTHER = 1.2
FIRST_LETTER = 0.6


def _places() -> dict[str, tuple[float, int]]:
    return {
        letter: (column + ROW_SHIFT[row], row)
        for row, letters in enumerate(KEY_ROWS)
        for column, letter in enumerate(letters)
    }


_PLACE = _places()


def are_neighbours(a: str, b: str) -> bool:
    """Whether two letters lie side by side on a QWERTY keyboard."""
    if a not in _PLACE or b not in _PLACE:
        return False
    (x, row), (u, line) = _PLACE[a], _PLACE[b]
    return a != b and abs(row - line) <= 1 and abs(x - u) <= 1.0


def typing_cost(typed: str, meant: str, limit: float) -> float:
    """Cost of the cheapest way to type ``typed`` while meaning ``meant``; infinity once above ``limit``."""
    rows, columns = len(typed) + 1, len(meant) + 1
    infinity = float("inf")
    before: list[float] = []
    last = [0.0]
    for column in range(1, columns):
        last.append(last[-1] + _dropped(typed, meant, 0, column))
    for row in range(1, rows):
        now = [last[0] + _added(typed, meant, row)]
        for column in range(1, columns):
            best = last[column - 1] + _replaced(typed, meant, row, column)
            best = min(best, last[column] + _added(typed, meant, row))
            best = min(best, now[column - 1] + _dropped(typed, meant, row, column))
            if row > 1 and column > 1 and typed[row - 1] == meant[column - 2] and typed[row - 2] == meant[column - 1]:
                first = FIRST_LETTER if row == 2 else 0.0
                best = min(best, before[column - 2] + SWAP + first)
            now.append(best)
        if min(now) > limit and min(last) > limit:
            return infinity
        before, last = last, now
    return last[-1] if last[-1] <= limit else infinity


def _replaced(typed: str, meant: str, row: int, column: int) -> float:
    a, b = typed[row - 1], meant[column - 1]
    if a == b:
        return 0.0
    first = FIRST_LETTER if row == 1 else 0.0
    if are_neighbours(a, b):
        return BESIDE + first
    return (VOWEL if a in VOWELS and b in VOWELS else OTHER) + first


def _added(typed: str, meant: str, row: int) -> float:
    """A letter typed that was not meant."""
    letter = typed[row - 1]
    if row > 1 and typed[row - 2] == letter:
        return DOUBLED
    return ADDED + (FIRST_LETTER if row == 1 else 0.0)


def _dropped(typed: str, meant: str, row: int, column: int) -> float:
    """A letter meant that was not typed; ``row`` letters have been typed before it."""
    letter = meant[column - 1]
    if column > 1 and meant[column - 2] == letter:
        return DOUBLED
    if letter == "g" and column == len(meant) and row == len(typed) and meant.endswith("ing"):
        return DROPPED_G
    return DROPPED + (FIRST_LETTER if column == 1 else 0.0)
