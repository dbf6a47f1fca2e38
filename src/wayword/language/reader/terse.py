"""Texts of a few plain words that a rule answers: directions alone, height, a plea for help, one word that is no move.

A network that must answer finds something to do in any word: without these rules it comes back for "exit" and flies two
metres ahead for "climb 2 metres". They hold for texts that name nothing known.
"""

from __future__ import annotations

import math
import re

from wayword.episodes.commands import Step
from wayword.language.reader.quantities import find_measures
from wayword.language.reader.turn_counts import BIT_TURNED_DEG
from wayword.language.reader.unfinished import FILLERS, START_PLACE, VERBS, typed_words

DIRECTIONS = {
    "left": Step("turn", degrees=90.0),
    "right": Step("turn", degrees=-90.0),
    "forward": Step("forward"),
    "backward": Step("back"),
}
_DIRECTION = rf"(?:to (?:the|your) )?({'|'.join(DIRECTIONS)})s?"
_SIDEWAYS = r"strafe|side ?step|slide|scoot"
_TURNING = r"turn|rotate|yaw|pivot|swivel"
_BIT = r"(?:just )?(?:slightly|a (?:tiny |little |small )?(?:bit|touch|tad|smidge)|a little)"
_TURN = rf"(?:{_TURNING}) (?:{_BIT} {_DIRECTION}|{_DIRECTION} {_BIT})"
_MOVE = rf"(?P<turn>{_TURN})|(?:(?P<side>{_SIDEWAYS}) )?(?:{_BIT} )?{_DIRECTION}(?: {_BIT})?"
_UNNAMED = re.sub(r"\?P<\w+>", "?:", _MOVE)  # a pattern may hold a name once only
_DIRECTED = re.compile(rf"(?:please )?(?:{_UNNAMED})(?:(?: and)?(?: then)? (?:{_UNNAMED}))*(?: please)?")
_ON_THE_SPOT = re.compile(
    r"(?:please )?(?:(?:do|make|turn|spin|rotate|perform) )?(?:an? )?(?:"
    r"(?P<full>360(?: degrees?)?(?: (?:turn|spin|rotation))?|(?:full|complete) (?:turn|spin|rotation|circle|twirl)"
    r"|look (?:all )?(?:around|round|about)|have a look (?:around|round))"
    r"|180(?: degrees?)?(?: (?:turn|spin|rotation))?)"
    r"(?: (?:on the spot|around|round|please))*"
)
_BACK_OFF = re.compile(r"(?:please )?back off(?: please)?")
_STEP_ASIDE_M, _BIT_ASIDE_M, _BIT_AHEAD_M = 0.5, 0.3, 0.5
"""Nobody says how far: aside a step; a bit is less than what is flown without that word."""

HEIGHTS = frozenset({
    "altitude", "ascend", "climb", "descend", "down", "downward", "downwards", "height", "higher", "land", "landing",
    "launch", "liftoff", "lower", "rise", "sink", "takeoff", "touchdown", "up", "upward", "upwards",
})  # fmt: skip
_TOGETHER = re.compile(r"\b(take|lift|touch)[ -](off|down)\b")
_BESIDE_HEIGHT = frozenset({"bit", "by", "come", "get", "here", "hover", "little", "safely", "slowly", "stop"})

_PLEAS = frozenset({
    "commands", "examples", "help", "info", "list", "manual", "menu", "objects", "options", "show", "things", "usage",
})  # fmt: skip
_QUESTIONS = frozenset({
    "are", "can", "could", "do", "does", "how", "is", "what", "when", "where", "which", "who", "why", "will", "would",
})  # fmt: skip

_MOVES = frozenset({
    *DIRECTIONS, "ahead", "around", "back", "backwards", "base", "closest", "farthest", "forwards", "freeze",
    "furthest", "halt", "hold", "home", "homeward", "hover", "idle", "leftmost", "nearest", "nothing", "onward",
    "onwards", "origin", "park", "pause", "recall", "rest", "return", "reverse", "rightmost", "rtb", "rth", "rtl",
    "sit", "spin", "stand", "stay", "steady", "still", "stop", "straight", "wait",
})  # fmt: skip
"""Words that ask for a flight, or for none, all alone."""


def directions_alone(text: str) -> tuple[Step, ...]:
    """A move for each direction of a text that holds nothing else: "left", "left then right", "strafe a bit right".

    And a turn on the spot that is nothing more: "do a 180", "look around".
    """
    line = " ".join(typed_words(text.replace("-", " ")))
    if on_the_spot := _ON_THE_SPOT.fullmatch(line):
        return (Step("turn", degrees=360.0 if on_the_spot["full"] else 180.0),)
    if _BACK_OFF.fullmatch(line):
        return (DIRECTIONS["backward"],)
    if not _DIRECTED.fullmatch(line):
        return ()
    steps, is_aside = [], False
    for move in re.finditer(_MOVE, line):
        is_aside = bool(move["side"]) or (is_aside and not move["turn"])  # "strafe left, then right"
        steps.append(_move(move[0], is_aside))
    return tuple(steps)


def _move(words: str, is_aside: bool) -> Step:
    way = re.findall("|".join(DIRECTIONS), words)[0]
    step, is_small = DIRECTIONS[way], re.search(_BIT, words) is not None
    if step.do != "turn":
        return Step(step.do, metres=_BIT_AHEAD_M) if is_small else step
    sign = math.copysign(1.0, step.degrees)
    if is_aside:
        return Step("sideways", metres=sign * (_BIT_ASIDE_M if is_small else _STEP_ASIDE_M))
    return Step("turn", degrees=sign * BIT_TURNED_DEG) if is_small else step


def is_height(text: str) -> bool:
    """Whether a text speaks of take-off, landing or height and of no other move: "land", "go up 1 m"."""
    for measure in reversed(find_measures(text)):
        text = f"{text[: measure.start]} {text[measure.end :]}"
    words = set(typed_words(_TOGETHER.sub(r"\1\2", text.lower())))
    return bool(words & HEIGHTS) and words <= HEIGHTS | VERBS | FILLERS | _BESIDE_HEIGHT


def is_plea(text: str) -> bool:
    """Whether a text asks what there is to say: "help", "list objects", "?"."""
    words = set(typed_words(text))
    return bool(words & _PLEAS) and words <= _PLEAS | FILLERS if words else "?" in text


def is_question(text: str) -> bool:
    """Whether a text that asks for no flight is a question: "what can you do"."""
    return text.rstrip().endswith("?") or next(iter(typed_words(text)), "") in _QUESTIONS


def is_no_move(text: str) -> bool:
    """Whether a text holds at most one word that says anything, and that word is no move: "exit", a picture."""
    words = [word for word in typed_words(text) if word not in FILLERS - {"to"}]
    is_place = START_PLACE.search(" ".join(typed_words(text))) is not None
    return len(words) <= 1 and not is_place and not _MOVES.intersection(words)
