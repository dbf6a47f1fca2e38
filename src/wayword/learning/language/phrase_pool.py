"""The phrase pool of every object, and the chunks that mean none, as the alignment gives them.

A chunk counts for an object if its alignment is sure enough; over all chunks of the same words, one more look:
"the gap" stands near every object by turns, so when a phrase is spread over many objects it means none of them.
The released code had the same two thresholds by other names (posterior 0.15 to 0.5, entropy 2.5 nats).
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wayword.errors import DataError
from wayword.io import write_json
from wayword.language.alignment import Aligned
from wayword.language.pronouns import is_pronoun

_PERSON = frozenset(
    {"you", "u", "your", "ur", "yourself", "we", "us", "i", "me", "they", "them", "both", "he", "she", "him", "her"}
)
"""Pronouns that mean no object, or more than one."""
_DETERMINER = re.compile(r"^(the|teh|an?|this|that|these|those|another)\s+")


@dataclass(frozen=True)
class PhrasePoolConfig:
    """When an alignment is believed.

    Attributes:
        sure: least probability of the object or of NULL.
        spread: a phrase that is spread over more than this many objects (the exponential of the entropy of its
            shares) means none.
        doubt: between this and ``spread`` it is left out.
    """

    sure: float = 0.6
    spread: float = 4.5
    doubt: float = 3.2


@dataclass(frozen=True)
class PhrasePool:
    """Phrases with counts: by object, and those that mean none."""

    objects: Mapping[str, Mapping[str, int]]
    null: Mapping[str, int]

    def save(self, path: Path) -> None:
        """Write the pool as JSON."""
        write_json(path, {"objects": self.objects, "null": self.null})

    @classmethod
    def load(cls, path: Path) -> PhrasePool:
        """Read what ``save`` wrote."""
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            return cls(values["objects"], values["null"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DataError(path, "not a phrase pool; train the alignment first") from error


def pool_phrases(aligned: Iterable[Sequence[Aligned]], config: PhrasePoolConfig | None = None) -> PhrasePool:
    """Collect the phrases of every object from aligned instructions."""
    config = config or PhrasePoolConfig()
    shares: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    null: Counter[str] = Counter()
    for row in aligned:
        for item in row:
            shares[item.phrase][item.object or ""] += item.probability
            if is_pronoun(item.phrase) or item.phrase in _PERSON or (item.object is None and item.null >= config.sure):
                null[item.phrase] += 1
            elif item.object is not None and item.probability >= config.sure:
                counts[item.object][item.phrase] += 1
    for phrase, by_object in shares.items():
        width = _width([share for name, share in by_object.items() if name])
        if width > config.doubt:
            count = sum(pool.pop(phrase, 0) for pool in counts.values())
            null[phrase] += count if width > config.spread else 0
    # A phrase on both sides goes where it was seen more.
    for name in list(counts):
        for phrase in list(counts[name]):
            if counts[name][phrase] <= null.get(phrase, 0):
                del counts[name][phrase]
            else:
                null.pop(phrase, None)
    objects = {name: dict(sorted(pool.items())) for name, pool in sorted(counts.items()) if pool}
    return PhrasePool(objects, {phrase: count for phrase, count in sorted(null.items()) if count})


def without_determiner(phrase: str) -> str:
    """ "the planter" -> "planter"."""
    return _DETERMINER.sub("", phrase)


def _width(shares: Sequence[float]) -> float:
    """The effective number of objects among the shares."""
    total = sum(shares)
    if total <= 0:
        return 0.0
    return math.exp(-sum(share / total * math.log(share / total) for share in shares if share > 0))
