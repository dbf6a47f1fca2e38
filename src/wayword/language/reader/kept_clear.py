"""Things to keep clear of, in words the network may miss: "mind you don't hit the duck", "the duck is off limits".

Whoever says so wants it kept during the whole flight, whatever else is read. The network knows many ways to say it, and
these rules only add what it leaves out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from wayword.episodes.commands import Step
from wayword.language.reader.mentions import Mentions

_ARTICLE = r"(?:(?:the|an?|this|that|these|those|my|your|our|its|his|her|their)\s+)?"
_NEVER = r"(?:do not|don['’]?t|dont|never|must not|mustn['’]?t|not to|without)"
_CLOSE = (
    r"(?:hit|hitting|touch|touching|bump(?:ing)?(?: into)?|crash(?:ing)?(?: into)?|clip(?:ping)?|graze|grazing"
    r"|run(?:ning)? into|knock(?:ing)?(?: over| into)?|collide with|colliding with"
    r"|(?:(?:get|go|come|fly|stray)(?:ing)? )?(?:any ?where )?(?:too )?(?:near|close)(?: to)?)"
)
_HIT = re.compile(rf"\b{_NEVER}\s+(?:(?:you|ever|to|dare|go and|even)\s+)*{_CLOSE}\s+{_ARTICLE}$", re.IGNORECASE)
_FORBIDDEN = r"(?:no-(?:fly|go)\b(?: (?:zone|area))?|no (?:fly|go) (?:zone|area)s?\b)"
_BEFORE = re.compile(rf"\b{_FORBIDDEN}(?: is| around|:|,)?\s+{_ARTICLE}$", re.IGNORECASE)
_AFTER = re.compile(
    r"(?:\s+(?:is|are)|['’]s)?(?:\s+an?)?[\s:,]+(?:strictly |completely |totally )?"
    rf"(?:{_FORBIDDEN}|off[- ]limits|out of bounds|forbidden|lava\b|mined\b|restricted)",
    re.IGNORECASE,
)
_LEAVE = re.compile(
    r"(?<!step )\b(?:back|backing|move|get|go|fly|walk|run|shift|retreat|pull|draw|drift)(?: right| straight| well)?"
    rf"(?: up)? away from\s+{_ARTICLE}$|\bback(?:ing)? off (?:from\s+)?{_ARTICLE}$",
    re.IGNORECASE,
)
_AT_LEAST = re.compile(
    rf"\b(?:keep|stay|remain)\s+at least\s+[\w.,]+(?:\s+a)?(?:\s+[a-z]+)?(?: away)? from\s+{_ARTICLE}$", re.IGNORECASE
)


def with_kept_clear(steps: Sequence[Step], mentions: Mentions) -> tuple[Step, ...]:
    """``steps`` about "e0", "e1", ... (entities), which keep away from what the text tells to keep clear of.

    A flight to a thing that is said to be forbidden is none, nor is one to what is to be left ("back away from the
    globe"). What is only not to be hit may be flown to.
    """
    text, result = mentions.text, list(steps)
    counts = Counter(each.entity for each in mentions.mentions)
    for each in mentions.mentions:
        key = f"e{each.entity}"
        if each.mark not in ("exact", "known") or Step("avoid", key) in result:
            continue
        if _BEFORE.search(text[: each.start]) or _AFTER.match(text, each.end):
            result = [Step("avoid", key), *(step for step in result if key not in step.mentioned)]
        elif _HIT.search(text[: each.start]) and not any(key in step.mentioned for step in result):
            result.insert(0, Step("avoid", key))
        elif _AT_LEAST.search(text[: each.start]) and counts[each.entity] == 1:
            result = [Step("avoid", key), *(step for step in result if key not in step.mentioned)]
        elif _LEAVE.search(text[: each.start]) and Step("goto", key) in result and counts[each.entity] == 1:
            result = [Step("avoid", key), *(step for step in result if step != Step("goto", key))]
    return tuple(result)
