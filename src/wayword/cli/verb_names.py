"""A verb that there is not is answered in one line with the one that was meant, or with all that there are."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from shlex import quote
from typing import Any, get_args, get_type_hints

from wayword.errors import WaywordError

_ALIKE = 0.7
"""From 0 to 1, how much a name must be like the word that was typed."""
_LONGEST = 40
"""Characters of that word that are said again."""


def refuse_unknown_verb(arguments: Sequence[str], verbs: Any, more: Mapping[str, Collection[str]]) -> None:
    """Raise ``WaywordError`` for a word that stands where a verb must; ``more`` has names that the union lacks."""
    before: list[str] = []
    for word in arguments:
        names = _classes(verbs)
        offered = list(names) or list(more.get(" ".join(before), ()))
        if not offered or word.startswith("-"):
            return
        if word not in offered:
            raise WaywordError(_way_out(word, before, offered, arguments))
        if word not in names:
            return
        before.append(word)
        verbs = get_type_hints(names[word], include_extras=True).get("what")


def quote_plainly(sentence: str) -> str:
    """In the double quotes that people type, if nothing in it means something to a shell."""
    return quote(sentence) if set(sentence) & set('"$`\\!') else f'"{sentence}"'


def _classes(verbs: Any) -> dict[str, Any]:
    """Names and classes of a union of subcommands; none for anything else."""
    classes = {}
    for option in get_args(verbs):
        kind, *remarks = get_args(option) or (option,)
        classes.update({remark.name: kind for remark in remarks if getattr(remark, "name", None)})
    return classes


def _way_out(word: str, before: list[str], offered: list[str], arguments: Sequence[str]) -> str:
    alike = get_close_matches(word, offered, 1, _ALIKE)
    command = " ".join(["wayword", *before])
    problem = f"there is no {command} {word[:_LONGEST]!r}"
    if alike:
        return f"{problem}; did you mean: {command} {alike[0]}"
    sentence = " ".join(arguments)
    if not before and " " in sentence and not any(one.startswith("-") for one in arguments):
        return f"{problem}; to fly a sentence: wayword fly {quote_plainly(sentence)}"
    return f"{problem}; there is {', '.join(offered)}; what they do: {command} --help"
