"""The voices instructions are written in: what each tells, which words it likes, how it types.

They are modelled on the ways of speaking found in the training split of the natural corpus. Shares, lengths
and the rates of typos and abbreviations were measured there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Literal

from wayword.episodes.instructions.phrases import PhraseKind
from wayword.errors import WaywordError

LetterCase = Literal["sentence", "lower", "either"]

_NAMES: Mapping[PhraseKind, float] = {"name": 1.0, "noun": 0.45, "look": 0.12, "vague": 0.03, "part": 0.0}
_VARIED: Mapping[PhraseKind, float] = {"name": 1.0, "noun": 1.0, "look": 0.8, "vague": 0.5, "part": 0.0}
_LOOKS: Mapping[PhraseKind, float] = {"name": 0.02, "noun": 0.7, "look": 1.6, "vague": 1.4, "part": 0.0}


@dataclass(frozen=True, eq=False)
class Voice:
    """How one kind of speaker writes."""

    name: str
    tags: Mapping[str, float]
    """Groups of the grammar's alternatives this voice uses, with weights; the common ones have ``common``."""
    words: tuple[int, int]
    """Usual least and greatest number of words of an instruction."""
    common: float = 1.0
    kinds: Mapping[PhraseKind, float] = field(default_factory=lambda: _NAMES)
    """How much it likes names, synonyms, descriptions and hypernyms."""
    steepness: float = 1.0
    """Exponent on the weights of phrases: 1 follows them, 0 likes all phrases of a kind equally."""
    case: LetterCase = "sentence"
    commas: float = 1.0
    """Share of commas that are typed."""
    stop: float = 1.0
    """Share of instructions that end with a full stop."""
    fragments: bool = False
    """Whether turns may be told without a verb: "hard left, ..."."""
    goal: float = 0.0
    """How often the goal comes first."""
    turn: float = 0.9
    via: float = 0.68
    place: float = 0.95
    """How often a turn, an object passed on the way, and the end are told where there is one."""
    also: float = 0.4
    """How often a second thing is said about the end."""
    clock: float = 0.0
    ends: Mapping[str, float] = field(default_factory=dict)
    """Factors on how the end is told, by relation."""
    extras: float = 1.0
    """Factor on the frequency of openings and closings."""
    no_article: float = 0.0
    bare: float = 0.3
    that: float = 0.1
    repeat: float = 0.35
    """How often a name used in an earlier instruction is used again."""
    fillers: float = 0.0
    shortened: Mapping[str, float] = field(default_factory=dict)
    """How often it abbreviates, by group of abbreviations (see ``typing_habits``)."""
    slips: float = 0.0
    """Typing slips per word."""
    misspells: float = 0.0
    """Share of the commonly misspelt words that it misspells."""

    def share(self, tags: frozenset[str]) -> float:
        """How much it likes an alternative with these tags."""
        if not tags:
            return self.common
        return max(self.tags.get(tag, 0.0) for tag in tags)


_TEXTING = {"texting": 0.85, "dropped": 0.6}

VOICES: tuple[Voice, ...] = (
    Voice("plain", {}, (16, 24), fragments=False),
    Voice(
        "terse",
        {"terse": 1.0},
        (12, 19),
        case="lower",
        commas=0.0,
        stop=0.0,
        fragments=True,
        via=0.5,
        extras=0.1,
    ),
    Voice(
        "telegraphic",
        {"tele": 1.0, "terse": 0.5},
        (8, 14),
        case="lower",
        commas=1.0,
        stop=0.0,
        fragments=True,
        via=0.25,
        place=0.85,
        extras=0.0,
        no_article=0.12,
        bare=0.9,
        that=0.05,
    ),
    Voice(
        "hurried",
        {"hurry": 1.0, "casual": 0.15},
        (13, 22),
        case="lower",
        commas=0.75,
        stop=0.0,
        fragments=True,
        extras=0.4,
        no_article=0.06,
        bare=0.7,
        shortened={"texting": 0.16, "dropped": 0.6},
        slips=0.004,
        misspells=0.08,
    ),
    Voice(
        "texting",
        {"text": 1.0, "hurry": 0.5, "casual": 0.3},
        (15, 24),
        common=0.3,
        kinds=_VARIED,
        steepness=0.25,
        case="either",
        commas=0.8,
        stop=0.0,
        fragments=True,
        extras=0.4,
        shortened=_TEXTING,
        slips=0.002,
        misspells=0.02,
    ),
    Voice(
        "misspelt",
        {"misspelt": 1.0, "casual": 0.3, "nautical": 0.1},
        (16, 23),
        common=0.35,
        kinds=_VARIED,
        steepness=0.25,
        case="lower",
        commas=0.0,
        stop=0.0,
        fragments=True,
        extras=0.2,
        shortened={"phonetic": 0.9},
        slips=0.006,
        misspells=0.8,
    ),
    Voice(
        "pilot",
        {"pilot": 1.0, "degrees": 1.0},
        (16, 24),
        common=0.7,
        fragments=True,
        clock=1.0,
        ends={"clock": 2.5},
        extras=0.3,
    ),
    Voice("chatty", {"casual": 1.0}, (16, 25), common=0.6, shortened={"contracted": 0.9}, that=0.22, extras=1.4),
    Voice(
        "spoken",
        {"spoken": 1.2, "casual": 0.8},
        (15, 27),
        common=0.7,
        shortened={"contracted": 0.9},
        that=0.22,
        extras=2.2,
        fillers=0.10,
        case="either",
        stop=0.7,
    ),
    Voice("unnamed", {}, (16, 25), kinds=_LOOKS, steepness=0.6, that=0.08, repeat=0.25, extras=0.2),
    Voice(
        "foreign",
        {"foreign": 1.0},
        (13, 22),
        common=0.6,
        no_article=0.32,
        bare=0.85,
        extras=0.5,
        that=0.1,
    ),
    Voice("shapes", {"shapes": 1.0}, (16, 25), common=0.8, extras=0.1, ends={"far": 1.3}),
    Voice("goal", {"goal": 1.0}, (15, 25), goal=0.8, case="either", stop=0.8, extras=0.0, place=1.0),
    Voice(
        "nautical",
        {"nautical": 1.0, "poetic": 0.3, "guide": 0.15},
        (16, 24),
        common=0.22,
        kinds=_VARIED,
        steepness=0.25,
        that=0.14,
        extras=0.2,
    ),
    Voice(
        "poetic",
        {"poetic": 1.0, "pilot": 0.3, "nautical": 0.35},
        (16, 24),
        common=0.2,
        kinds=_VARIED,
        steepness=0.25,
        fragments=True,
        extras=0.1,
    ),
    Voice(
        "guide",
        {"guide": 1.0, "formal": 0.3, "poetic": 0.15},
        (17, 25),
        common=0.22,
        kinds=_VARIED,
        steepness=0.25,
        extras=0.6,
    ),
    Voice(
        "whimsical",
        {"whimsy": 1.0, "casual": 0.3, "poetic": 0.15},
        (17, 25),
        common=0.22,
        kinds=_VARIED,
        steepness=0.25,
        extras=0.8,
    ),
    Voice("formal", {"formal": 1.0, "degrees": 0.1}, (15, 24), common=0.7, extras=0.3),
)


@cache
def voices() -> Mapping[str, Voice]:
    """All voices by name."""
    return MappingProxyType({voice.name: voice for voice in VOICES})


def find_voice(name: str) -> Voice:
    """The voice of that name."""
    if name not in voices():
        raise WaywordError(f"there is no voice '{name}'; choose one of {', '.join(voices())}")
    return voices()[name]
