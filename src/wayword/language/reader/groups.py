"""Things that are meant together: "both bricks" are two of them, "everything but the globe" is not the globe.

The network points to one thing at a time. A plural that names no single object ("the bricks", where a red and a yellow
one were taught) stands for all of them, one after the other; "between the bricks" for the gap between two. What is
taken out of a group that nobody can list ("everything except the globe") is not flown to.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from wayword.episodes.commands import Step
from wayword.language.phrases_db import Database, ObjectPhrases, PhraseList
from wayword.language.reader.mentions import Entity, Mentions, TextMention, certainty, phrase_index, phrase_words

_EVERY = (
    r"(?:(?:both|all|each|every)(?:\s+(?:one\s+)?of)?(?:\s+(?:the|these|those|my|our))?(?:\s+(?:two|three|four|five))?"
    r"|(?:the\s+)?(?:two|three|four|five))"
)
_BEFORE = re.compile(rf"\b{_EVERY}\s+$", re.IGNORECASE)
_WITHIN = re.compile(rf"{_EVERY}\s+", re.IGNORECASE)
_ANY = (
    r"(?:every(?:thing|where| ?one)|any(?:thing|where| ?one)|(?:every|each|any|all)(?: of)?(?: the)?(?: other)?"
    r"(?: (?:things?|objects?|items?|ones?|of them|them|rest))?)"
)
_EXCEPT = (
    r"(?:except(?:ing)?(?: for)?|but(?: for| not)?|excluding|apart from|other than|save(?: for)?|besides|bar(?:ring)?)"
)
_ARTICLE = r"(?:(?:the|an?|this|that|my|your|our)\s+)?"
_TAKEN_OUT = re.compile(rf"\b{_ANY},?\s+{_EXCEPT}\s+{_ARTICLE}$", re.IGNORECASE)
_NEGATED = re.compile(
    r"\b(?:ignore|disregard|forget|skip|leave|avoid|away|clear|mind|nothing|not|don'?t|never|no)\b[^.;!?]*$",
    re.IGNORECASE,
)
_ONLY_NOT = re.compile(rf"\W*(?:no\W+)?not\s+{_ARTICLE}$", re.IGNORECASE)
_EACH = frozenset({"goto", "circle", "pass", "search", "avoid"})
"""Steps that are made once for every member of a group."""


def without_taken_out(steps: Sequence[Step], mentions: Mentions) -> tuple[Step, ...]:
    """``steps`` about "e0", "e1", ... (entities) without flights to what is excepted from things nobody listed."""
    out = {f"e{each.entity}" for each in mentions.mentions if _is_taken_out(mentions, each)}
    return tuple(step for step in steps if step.do == "avoid" or out.isdisjoint(step.mentioned))


def _is_taken_out(mentions: Mentions, mention: TextMention) -> bool:
    if sum(each.entity == mention.entity for each in mentions.mentions) > 1:
        return False
    before, after = mentions.text[: mention.start], mentions.text[mention.end :]
    if _ONLY_NOT.fullmatch(before) and not re.search(r"\w", after):  # "not the globe"
        return True
    group = _TAKEN_OUT.search(before)
    return group is not None and not _NEGATED.search(before[: group.start()])


def with_groups(
    steps: Sequence[Step], mentions: Mentions, database: Database
) -> tuple[tuple[Step, ...], tuple[Entity, ...]]:
    """``steps`` about each member of what is named as several; and the entities, with those members behind the rest."""
    entities = list(mentions.entities)
    result = tuple(steps)
    for mention in mentions.mentions:
        key = f"e{mention.entity}"
        members = _members(mentions, mention, database) if any(key in step.mentioned for step in result) else []
        if len(members) < 2:
            continue
        keys = [f"e{len(entities) + number}" for number in range(len(members))]
        entities += [Entity(name, certainty(name, database), 0.0, "exact") for name in members]
        result = tuple(part for step in result for part in _about_each(step, key, keys))
    return result, tuple(entities)


def _members(mentions: Mentions, mention: TextMention, database: Database) -> list[str]:
    """The objects that a mention names together; none if it names one."""
    phrase = mentions.text[mention.start : mention.end]
    within = _WITHIN.match(phrase)
    words = phrase_words(phrase[within.end() :] if within else phrase)
    if not words:
        return []
    nouns, looks = _singular(words[-1]), set(words[:-1])
    if words[-1] in nouns and not (within or _BEFORE.search(mentions.text[: mention.start])):
        return []
    listed, _ = phrase_index(PhraseList.of(database))
    if words in listed and words[-1] not in nouns:
        return []  # "the dishes" are one stack
    owners = {name for phrase, names in listed.items() if phrase[-1] in nouns for name in names}
    return [each.name for each in database if each.name in owners and looks <= _vocabulary(each)]


def _vocabulary(thing: ObjectPhrases) -> set[str]:
    return {word for phrase in (thing.name, *thing.phrases) for word in phrase_words(phrase)}


def _singular(noun: str) -> frozenset[str]:
    """What ``noun`` may be the plural of; itself if it does not look like one."""
    if not noun.endswith("s") or noun.endswith("ss"):
        return frozenset({noun})
    forms = {noun[:-1]}
    if noun.endswith("es"):
        forms.add(noun[:-2])
    if noun.endswith("ies"):
        forms.add(f"{noun[:-3]}y")
    return frozenset(forms)


def _about_each(step: Step, key: str, keys: Sequence[str]) -> tuple[Step, ...]:
    """The steps for members ``keys`` in place of one step about ``key``."""
    if step.do in _EACH and step.object == key:
        return tuple(replace(step, object=each) for each in keys)
    if step.do == "weave" and key in step.objects:
        at = step.objects.index(key)
        return (replace(step, objects=(*step.objects[:at], *keys, *step.objects[at + 1 :])),)
    if step.do == "between" and key in step.objects and len(keys) == 2:
        return (replace(step, objects=tuple(keys)),)
    return (step,)
