"""What an unknown name may be a slip of: "glob" of "globe". A word that is one is never put right, only asked about."""

from __future__ import annotations

import math
from collections import Counter

from wayword.language.edit_distance import DROPPED_G, typing_cost
from wayword.language.phrases_db import Database

_COST_PER_LETTER = 0.25
_SHORTEST = 4


def likely_name(phrase: str, database: Database) -> str | None:
    """The object with a phrase that ``phrase`` is a slip of; None if there is none, or several as near."""
    typed = " ".join(phrase.lower().split())
    if len(typed) < _SHORTEST:
        return None
    limit = _COST_PER_LETTER * len(typed)
    letters = Counter(typed)
    costs = {
        entry.name: min(_cost(typed, letters, each.lower(), limit) for each in (entry.name, *entry.phrases))
        for entry in database
    }
    best = min(costs, key=lambda name: costs[name], default=None)
    if best is None or costs[best] > limit or sum(cost == costs[best] for cost in costs.values()) > 1:
        return None
    return best


def _cost(typed: str, letters: Counter[str], meant: str, limit: float) -> float:
    """``typing_cost``, not worked out where letters alone say that it is too much: databases have 10,000 objects."""
    its_letters = Counter(meant)
    slips = max((letters - its_letters).total(), (its_letters - letters).total())
    return math.inf if slips * DROPPED_G > limit else typing_cost(typed, meant, limit)
