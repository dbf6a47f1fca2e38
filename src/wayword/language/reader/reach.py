"""Where no drone gets that keeps one height and touches nothing: over, under, on top of, inside, into a thing.

The network learned from commands that can be flown, and takes "hover above the globe" for a way to say "to the globe".
Who asks to be above a thing is not helped by a flight to its side. "Land on the globe" is left to the network: a camera
that lands on something looks at it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from wayword.language.reader.mentions import TextMention

_MOVE = (
    r"(?:fly|flying|go|going|get|pass|passing|hover|hovering|jump|hop|leap|climb|climbing|soar|glide|drift|float|hang|zoom"
    r"|swoop|stop|stay|wait|halt|land|landing|sit|stand|perch|park|rest|touch down|set down|put down|descend|crawl)"
)
_RUN = r"(?:fly|flying|run|running|bump|bumping|crash|crashing|smash|slam|bang|drive|ram|dive)"
_JUST = r"(?: (?:right|directly|straight|just|high|low|up and|a (?:bit|little)))*"
_BEFORE = re.compile(
    rf"\b(?:{_MOVE}{_JUST} (?:over(?: the top of)?|above|on top of|onto(?: the top of)?|atop|under|underneath"
    rf"|beneath|below|inside(?: of)?)|{_RUN}{_JUST} into|collid(?:e|ing) with)\s+$",
    re.IGNORECASE,
)
"""How the words before a thing end, its article left out."""
_ARTICLE = re.compile(r"(?:the|an?|this|that|these|those|my|your|our|its|his|her|their)\s+$", re.IGNORECASE)
_NEGATED = re.compile(
    r"\b(?:no|not|dont|never|without|avoid|careful|instead|than|mind)\b[^.;!?]*$|n['’]t\b[^.;!?]*$", re.IGNORECASE
)
_PART = re.compile(r"['’]?s\b", re.IGNORECASE)
_AND = re.compile(r"\s+(?:and|&)\s", re.IGNORECASE)
"""What follows on "the globe" in "the globe's left" and in "inside the globe and the planter", which is a gap."""


def out_of_reach(text: str, mentions: Iterable[TextMention]) -> str | None:
    """The words of the first place that cannot be flown to ("hover above the globe"), if there is one."""
    for mention in mentions:
        before = _ARTICLE.sub("", text[: mention.start])
        place = _BEFORE.search(before)
        if place is None or _NEGATED.search(before[: place.start()]) or _PART.match(text, mention.end):
            continue
        if "inside" not in place[0].lower() or not _AND.match(text, mention.end):
            return text[place.start() : mention.end]
    return None
