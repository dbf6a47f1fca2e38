"""What an object and its phrases may be called, and the folder that a name gets.

A name is any short text that a person would write on a label, in any script, emoji included. It is kept as
written in ``object.json``; the folder gets a *slug* that is safe on every file system:

    "rubber duck"   rubber-duck               plain names keep a folder that reads like them
    "Rubber-Duck!"  rubber-duck_5f0c7a31      anything else carries eight digits of its hash, so that
    "小鸭"          object_a1c09be2           no two names share a folder
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

from wayword.errors import WaywordError

MAX_NAME = 80
"""Characters of a name."""
MAX_PHRASE = 200
"""Characters of a phrase, as everywhere in Wayword."""
MAX_PHRASES = 200
"""Phrases of one object; five are usual."""
_MAX_SLUG = 48
# Emoji of several parts are joined by these; every other invisible character is refused, since it can make
# two names look the same or turn the text around on the screen.
_JOINERS = "\u200d\ufe0e\ufe0f"
# Folders that Windows keeps for devices, whatever follows a dot.
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(-|$)")
_DETERMINER = re.compile(r"^(the|an?|this|that|these|those|my|your|its|their) (?=\S)")


def clean_name(name: str) -> str:
    """The name with its spaces and Unicode tidied; refuses what cannot be a name."""
    tidy = _tidy(name, "name", MAX_NAME)
    if "/" in tidy or "\\" in tidy or re.match(r"[A-Za-z]:", tidy):
        raise WaywordError(f"the name {short(tidy)} looks like a path; name the object without / \\ or a drive")
    if not any(unicodedata.category(character)[0] in "LNS" for character in tidy):
        raise WaywordError(f"the name {short(tidy)} must hold at least one letter, digit or symbol")
    return tidy


def clean_phrase(phrase: str) -> str:
    """The phrase with its spaces and Unicode tidied; refuses what nobody would say."""
    tidy = _tidy(phrase, "phrase", MAX_PHRASE)
    if not any(character.isalnum() for character in tidy):
        raise WaywordError(f"the phrase {short(tidy)} must hold at least one letter or digit")
    return tidy


def name_key(name: str) -> str:
    """Names with the same key are the same object: case and width do not matter."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def phrase_key(phrase: str) -> str:
    """Phrases with the same key say the same: case, spacing and the determiner do not matter."""
    return _DETERMINER.sub("", " ".join(name_key(phrase).split()))


def slug(name: str) -> str:
    """The folder of a (clean) name: lower-case ASCII letters, digits, hyphens, perhaps _ and a hash."""
    key = name_key(name)
    bare = "".join(c for c in unicodedata.normalize("NFKD", key) if not unicodedata.combining(c))
    readable = re.sub(r"[^a-z0-9]+", "-", bare).strip("-")[:_MAX_SLUG].rstrip("-")
    if readable and readable.replace("-", " ") == key and not _RESERVED.match(readable):
        return readable
    if _RESERVED.match(readable):
        readable = f"object-{readable}"
    return f"{readable or 'object'}_{hashlib.sha256(key.encode()).hexdigest()[:8]}"


def short(text: str) -> str:
    """The text in quotes for a message: printable, on one line, not longer than a line."""
    return repr(text if len(text) <= 40 else f"{text[:37]}...")


def _tidy(text: str, what: str, limit: int) -> str:
    if not isinstance(text, str):
        raise WaywordError(f"a {what} must be a text, not {type(text).__name__}")
    if len(text) > 4 * limit:  # before anything is computed from it
        raise WaywordError(f"the {what} {short(text)} has {len(text)} characters; give at most {limit}")
    for character in text:
        category = unicodedata.category(character)
        if category in ("Cc", "Cs", "Zl", "Zp") or (category == "Cf" and character not in _JOINERS):
            raise WaywordError(
                f"the {what} {short(text)} holds the invisible character U+{ord(character):04X}; write it without"
            )
    tidy = " ".join(unicodedata.normalize("NFC", text).split())
    if not tidy:
        raise WaywordError(f"a {what} is empty; write at least one word")
    if len(tidy) > limit:
        raise WaywordError(f"the {what} {short(tidy)} has {len(tidy)} characters; give at most {limit}")
    return tidy
