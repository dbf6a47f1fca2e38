"""The grammar files and how their rules become words.

A rule ``:: name(parameters) = claims`` is followed by its alternatives, one per line::

    [weight] [@tag,tag] [?flag] [!flag] [?variable=value] text

``:+ name`` adds alternatives to a rule that exists, ``== @tag,tag`` gives tags to all lines below it.

An alternative with tags belongs to the voices that have one of them. Its text is made of words and

* ``{o}`` the object bound to o; ``{o.bare}`` without an article; ``{o.it}`` and ``{o.they}`` a pronoun where it
  is clear, as object and as subject; ``{o.they's}`` with "is"; ``{o.its}``; ``{o.part}`` a part of it;
  ``{o:stays}`` a verb that agrees with it;
* ``$s`` the value of s; ``$-s`` the other side;
* ``<rule>``, ``<rule p u>`` with its parameters bound, ``<rule+ing>`` with its first verb in -ing form,
  ``<rule?30>`` in 30 of 100 cases.

Every alternative of a rule states exactly the rule's claims: that is what makes the text checkable.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from wayword.errors import WaywordError

_FILES = ("words.txt", "turns.txt", "clauses.txt", "places.txt", "sentences.txt", "registers.txt")
_HEADER = re.compile(r":([:+]) ([\w.]+)(?:\(([\w ]+)\))?(?: = (.+))?")
_PIECE = re.compile(r"\{[^}]+\}|<[^>]+>|\$-?\w+(?:-\w+)*|[\w'-]+|[,;:.!?]")
_IRREGULAR = {"be": "being", "die": "dying", "lie": "lying", "arc": "arcing"}
_DOUBLED = re.compile(r"(?:side)?(?:qu|[^aeiou])*[aeiou][^aeiouwxy]")  # one short vowel, one consonant: stop, spin
_ADVERBS = frozenset({"just", "gently", "slowly", "softly", "smartly"})


@dataclass(frozen=True)
class Piece:
    """One piece of a template: a word, a reference, a variable or a call of a rule."""

    kind: str  # "word", "object", "verb", "value", "call"
    name: str
    form: str = ""
    arguments: tuple[str, ...] = ()
    chance: float = 1.0


@dataclass(frozen=True)
class Alternative:
    """One line of a rule."""

    weight: float
    tags: frozenset[str]
    needs: tuple[str, ...]
    forbids: tuple[str, ...]
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class GrammarRule:
    """A named set of alternatives; ``claims`` are words: the kind, then variables."""

    name: str
    parameters: tuple[str, ...]
    claims: tuple[tuple[str, ...], ...]
    alternatives: tuple[Alternative, ...]


@cache
def rules() -> dict[str, GrammarRule]:
    """All rules by name."""
    folder = files("wayword.episodes.instructions") / "rules"
    by_name: dict[str, GrammarRule] = {}
    for file in _FILES:
        for rule in parse_rules((folder / file).read_text(encoding="utf-8"), by_name):
            by_name[rule.name] = rule
    for rule in by_name.values():
        for piece in (p for alternative in rule.alternatives for p in alternative.pieces):
            if piece.kind == "call" and piece.name not in by_name:
                raise WaywordError(f"the rule '{rule.name}' calls '{piece.name}', which does not exist")
    return by_name


@cache
def grammar_words() -> frozenset[str]:
    """Every literal word of the grammar, in lower case."""
    pieces = (p for rule in rules().values() for a in rule.alternatives for p in a.pieces)
    return frozenset(p.name.lower() for p in pieces if p.kind == "word" and p.name[0].isalpha())


def parse_rules(text: str, known: Mapping[str, GrammarRule] | None = None) -> list[GrammarRule]:
    """Read the rules of one file; those it adds to (":+") are among ``known`` and come back longer."""
    by_name = dict(known or {})
    changed: dict[str, None] = {}
    current, tags = "", frozenset[str]()
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("== @"):
            tags = frozenset(line[4:].split(","))
            continue
        match = _HEADER.fullmatch(line)
        if match is not None:
            mark, current, parameters, claims = match.groups()
            if (mark == "+") != (current in by_name):
                problem = "is not defined yet" if mark == "+" else "is defined twice"
                raise WaywordError(f"line {number} of the grammar: the rule '{current}' {problem}")
            if mark == ":":
                claimed = tuple(tuple(c.split()) for c in claims.split(";")) if claims else ()
                by_name[current] = GrammarRule(current, tuple((parameters or "").split()), claimed, ())
            changed[current] = None
        elif line.startswith(":") or not current:
            raise WaywordError(f"line {number} of the grammar is not a rule: {line}")
        else:
            rule = by_name[current]
            by_name[current] = replace(rule, alternatives=(*rule.alternatives, _alternative(line, tags)))
    return [by_name[name] for name in changed]


def _alternative(line: str, tags: frozenset[str]) -> Alternative:
    weight = 1.0
    needs, forbids = list[str](), list[str]()
    words = line.split(" ")
    while words:
        word = words[0]
        if re.fullmatch(r"\d+(\.\d+)?", word):
            weight = float(word)
        elif word.startswith("@"):
            tags = frozenset(word[1:].split(","))
        elif word.startswith("?"):
            needs.append(word[1:])
        elif word.startswith("!") and len(word) > 1:
            forbids.append(word[1:])
        else:
            break
        words.pop(0)
    pieces = tuple(_piece(p) for p in _PIECE.findall(" ".join(words)))
    return Alternative(weight, tags, tuple(needs), tuple(forbids), pieces)


def _piece(text: str) -> Piece:
    if text.startswith("{"):
        inner = text[1:-1]
        if ":" in inner:
            name, verb = inner.split(":")
            return Piece("verb", name, verb)
        name, _, form = inner.partition(".")
        return Piece("object", name, form)
    if text.startswith("$"):
        name, _, tail = text[1:].lstrip("-").partition("-")
        return Piece("value", name, ("-" if text[1] == "-" else "+") + ("-" + tail if tail else ""))
    if text.startswith("<"):
        head, *arguments = text[1:-1].split()
        head, _, chance = head.partition("?")
        name, _, form = head.partition("+")
        return Piece("call", name, form, tuple(arguments), float(chance) / 100 if chance else 1.0)
    return Piece("word", text)


def gerund(verb: str) -> str:
    """The -ing form of a verb: stop, stopping; ease, easing."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if _DOUBLED.fullmatch(verb):
        return verb + verb[-1] + "ing"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")):
        return verb[:-1] + "ing"
    return verb + "ing"


def first_verb(words: list[str]) -> int:
    """Index of the verb of an imperative clause: an adverb may come before it."""
    return 1 if len(words) > 1 and words[0] in _ADVERBS else 0


def plural_verb(verb: str) -> str:
    """The plural of a third person: "goes", "go"."""
    known = {"is": "are", "has": "have", "goes": "go", "passes": "pass", "whizzes": "whizz"}
    return known.get(verb) or verb.removesuffix("s")
