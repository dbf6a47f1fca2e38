"""How people type: abbreviations, missing commas, fillers, typos. Each works on words, not on meaning.

A slip changes letters inside one word. It is undone if it makes another word of the objects or of the
grammar, so that "left" never becomes "lift", nor one object's name another's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from wayword.episodes.instructions.expand import Token
from wayword.episodes.instructions.grammar import grammar_words
from wayword.episodes.instructions.phrases import vocabulary
from wayword.episodes.instructions.voices import Voice

_SHORT: dict[str, dict[str, str]] = {
    "texting": {
        "your": "ur",
        "you": "u",
        "you're": "ur",
        "and": "n",
        "with": "w",
        "until": "til",
        "till": "til",
        "through": "thru",
        "before": "b4",
        "straight": "str8",
        "little": "lil",
    },
    "dropped": {"it's": "its", "you're": "youre", "you've": "youve", "that's": "thats", "they're": "theyre"},
    "phonetic": {"it's": "its", "you're": "your", "you've": "youve", "that's": "thats", "they're": "their"},
    "contracted": {},
}
_RARELY = {"before", "straight", "through", "little", "and", "with", "you"}
_PAIRS = {("you", "are"): "you're", ("you", "have"): "you've", ("it", "is"): "it's", ("they", "are"): "they're"}

_MISSPELLINGS: dict[str, tuple[str, ...]] = {
    "between": ("betwen", "beetween", "bewteen"),
    "before": ("befor", "befroe"),
    "around": ("arround", "aroud"),
    "until": ("untill",),
    "straight": ("strait", "straigt", "stright"),
    "behind": ("behide", "behnd"),
    "forward": ("foward", "forword"),
    "little": ("litle", "littel"),
    "beyond": ("beyound", "beyon"),
    "just": ("jsut",),
    "with": ("wiht",),
    "again": ("agian",),
    "continue": ("contine", "continu"),
    "right": ("rigth", "rihgt"),
    "another": ("anohter",),
    "further": ("futher",),
    "circle": ("circel",),
    "halt": ("hault",),
    "passing": ("pasing",),
    "stopping": ("stoping",),
    "squeeze": ("sqeeze",),
    "opposite": ("oposite",),
    "immediately": ("imediately",),
    "approach": ("aproach",),
    "which": ("wich",),
    "towards": ("towrds", "tords"),
    "toward": ("tward", "towrd"),
    "across": ("acros",),
    "almost": ("almsot", "allmost"),
    "beside": ("besde", "besid"),
    "alongside": ("alonside",),
    "leave": ("leav", "leve"),
    "turn": ("trun", "tunr"),
    "keeping": ("keping",),
    "through": ("throught", "thru"),
    "counterclockwise": ("counterclokwise", "counter clockwise"),
    "clockwise": ("clockwize", "clokwise"),
    "present": ("presnt",),
    "pumpkin": ("pumkin", "pumpkn"),
    "mushroom": ("mushrom", "mushrrom"),
    "vegetable": ("vegtable",),
    "treasure": ("tresure",),
    "coffee": ("coffe",),
    "acoustic": ("acustic",),
    "colourful": ("colourfull",),
    "umbrella": ("umbrela", "unbrella"),
    "lighthouse": ("lighthose", "lighthous"),
    "windmill": ("windmil", "wind mill"),
    "suitcase": ("suitecase", "suitcas"),
    "cauldron": ("cauldren", "coldron"),
    "hydrant": ("hydrent", "hydrint"),
    "pyramid": ("piramid", "pyramind"),
    "guitar": ("guitr", "gitar"),
    "bookshelf": ("bookshlef", "bookself"),
    "container": ("contaner", "continer"),
    "ladder": ("lader",),
    "tombstone": ("tombston", "toomstone"),
    "banana": ("bannana", "bananna"),
    "carrot": ("carot", "carrott"),
    "silver": ("sliver",),
    "barrel": ("barell", "barrle"),
    "spotted": ("spoted",),
    "snowman": ("snowmn",),
    "basketball": ("basketbal", "baskteball"),
}
_SELDOM = {"right": 0.03, "with": 0.2, "turn": 0.1, "towards": 0.5, "leave": 0.3, "halt": 0.5, "keeping": 0.2}
_IN_REFERENCES = 0.15
_INFRONT = {("in", "front"): "infront", ("a", "lot"): "alot", ("in", "between"): "inbetween"}
_UNTOUCHED = frozenset({"left", "right", "clock", "shift"})  # sides matter; the others slip into rude words
_FILLERS = ("uh", "um", "like", "you know")
_NEAR = {
    **dict(zip("qwertyuiop", ("wa", "qe", "wr", "et", "ry", "tu", "yi", "uo", "ip", "ol"), strict=True)),
    **dict(zip("asdfghjkl", ("sq", "ad", "sf", "dg", "fh", "gj", "hk", "jl", "ko"), strict=True)),
    **dict(zip("zxcvbnm", ("xa", "zc", "xv", "cb", "vn", "bm", "nj"), strict=True)),
}


def type_out(tokens: Sequence[Token], voice: Voice, rng: np.random.Generator) -> list[Token]:
    """The tokens as this voice types them."""
    typed = [t for t in tokens if t.text != "," or rng.random() < voice.commas]
    if voice.commas == 0:
        typed = [t for t in typed if t.is_word]
    typed = shorten(typed, voice, rng)
    if voice.fillers:
        typed = add_fillers(typed, voice.fillers, rng)
    if voice.misspells or voice.slips:
        typed = mistype(typed, voice.misspells, voice.slips, rng)
    return typed


def shorten(tokens: Sequence[Token], voice: Voice, rng: np.random.Generator) -> list[Token]:
    """Contract pairs of words and abbreviate single ones, as often as the voice does."""
    typed = list(tokens)
    contracted = voice.shortened.get("contracted", 0.0)
    if contracted:
        typed = _join_pairs(typed, _PAIRS, contracted, rng)
    for group, rate in voice.shortened.items():
        table = _SHORT[group]
        # A person who texts "ur" does so all through a message.
        on = rng.random() < rate
        for k, token in enumerate(typed):
            short = table.get(token.text.lower())
            if short is not None and on and (token.text.lower() not in _RARELY or rng.random() < 0.45):
                typed[k] = replace(token, text=short)
    return typed


def add_fillers(tokens: Sequence[Token], rate: float, rng: np.random.Generator) -> list[Token]:
    """Put "uh" and the like after commas and before articles, never inside a reference."""
    typed: list[Token] = []
    for k, token in enumerate(tokens):
        typed.append(token)
        following = tokens[k + 1] if k + 1 < len(tokens) else None
        if following is None or not following.is_word or k == 0:
            continue
        at_pause = token.text in (",", "and", "then") or (following.text == "the" and token.mention < 0)
        if at_pause and rng.random() < rate:
            filler = _FILLERS[int(rng.integers(len(_FILLERS)))]
            typed += [Token(word) for word in filler.split()] + [Token(",")] * (token.text != "the")
    return typed


def mistype(tokens: Sequence[Token], common: float, slips: float, rng: np.random.Generator) -> list[Token]:
    """Common misspellings at the rate ``common`` and slips of the finger at ``slips``, per word."""
    typed = _join_pairs(list(tokens), _INFRONT, common, rng)
    for k, token in enumerate(typed):
        word = token.text
        options = _MISSPELLINGS.get(word.lower())
        factor = _IN_REFERENCES if token.mention >= 0 else _SELDOM.get(word.lower(), 1.0)
        if options and common and rng.random() < common * factor:
            # The first is the usual one.
            other = rng.random() < 0.3
            typed[k] = replace(token, text=options[-1] if other else options[0])
        elif token.is_word and slips and rng.random() < slips:
            typed[k] = replace(token, text=slip(word, rng))
    return typed


def slip(word: str, rng: np.random.Generator) -> str:
    """One slip of the finger in a word of four letters or more; a slip that makes another word is undone."""
    if len(word) < 4 or not word.isalpha() or word.lower() in _UNTOUCHED:
        return word
    slips: tuple[Callable[[str, int], str], ...] = (
        lambda w, k: w[:k] + w[k + 1] + w[k] + w[k + 2 :],  # transposed
        lambda w, k: w[:k] + w[k + 1 :],  # left out
        lambda w, k: w[:k] + w[k] + w[k:],  # doubled
        lambda w, k: w[:k] + _NEAR[w[k].lower()][int(rng.integers(2))] + w[k + 1 :],  # the key beside it
    )
    k = int(rng.integers(1, len(word) - 1))
    typo = slips[int(rng.choice(4, p=(0.4, 0.35, 0.1, 0.15)))](word, k)
    return word if typo.lower() in vocabulary() | grammar_words() else typo


def _join_pairs(
    tokens: list[Token], pairs: dict[tuple[str, str], str], rate: float, rng: np.random.Generator
) -> list[Token]:
    typed: list[Token] = []
    for token in tokens:
        before = typed[-1] if typed else None
        joined = pairs.get((before.text.lower(), token.text.lower())) if before else None
        if before and joined and token.mention < 0 and rng.random() < rate:
            typed[-1] = replace(before, text=joined)
        else:
            typed.append(token)
    return typed
