"""What a text takes back: "to the globe, uh, make that the planter" is no flight to the globe."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from wayword.episodes.commands import Step
from wayword.language.reader.mentions import Mentions

_FILLERS = (
    r"(?:uh+|um+|er+m?|hm+|oh|ah|ooh|oops|whoops|ugh|wait|hold on|hang on|well|like|my (?:mistake|bad)"
    r"|i beg your pardon|you|please|dear|sir|apologies)"
)
_TAKES_BACK = (
    r"(?:no+|nope|nah|sorry|pardon(?: me)?|excuse me|actually|(?:or )?rather|correction|scratch that|strike that"
    r"|belay that|cancel that|forget (?:that|it)|i (?:mean|meant)|i (?:wanted|meant) to say|make (?:that|it))"
)
_AGAIN = r"(?:(?:go|fly|head|it'?s|i mean|i meant|make (?:that|it))(?: to)?|to|at|the|an?|that|this)"
RETRACTED = re.compile(
    rf"[\s,.;:!?…-]+(?:{_FILLERS}[\s,.;:!?…-]+)*{_TAKES_BACK}(?:[\s,.;:!?…-]+(?:{_FILLERS}|{_TAKES_BACK}))*"
    rf"(?:[\s,.;:!?…-]+{_AGAIN})*[\s,.;:!?…-]+",
    re.IGNORECASE,
)
"""What stands between two things of which the first is taken back."""


def taken_back(mentions: Mentions) -> dict[int, int]:
    """Entities that the text takes back, each with the known one said in its place; none that it speaks of again."""
    things = [each for each in mentions.mentions if each.mark != "other"]
    counts = Counter(each.entity for each in things)
    return {
        first.entity: second.entity
        for first, second in pairwise(things)
        if first.entity != second.entity
        and second.mark in ("exact", "known")  # "left of it... no, the light is better on the right"
        and counts[first.entity] == 1
        and RETRACTED.fullmatch(mentions.text[first.end : second.start])
    }


def without_taken_back(steps: Sequence[Step], mentions: Mentions) -> tuple[Step, ...]:
    """``steps`` about "e0", "e1", ... (entities) without what the text takes back.

    Where the thing said in its place has no step, the step is about that one.
    """
    instead = {f"e{old}": f"e{new}" for old, new in taken_back(mentions).items()}
    keys = {key for step in steps for key in step.mentioned}
    rest = [step for step in steps if step.object not in instead or instead[step.object] not in keys]
    renamed = {old: new for old, new in instead.items() if new not in keys}
    return tuple(step.renamed(lambda key: renamed.get(key, key)) for step in rest)
