"""From bound variables to words: references, pronouns, agreement and claims."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from wayword.episodes.instructions import expand
from wayword.episodes.instructions.expand import Claim, Expansion, Memory, Token
from wayword.episodes.instructions.grammar import GrammarRule, parse_rules
from wayword.episodes.instructions.phrases import Phrase
from wayword.episodes.instructions.voices import find_voice
from wayword.errors import WaywordError

PLAIN = replace(find_voice("plain"), that=0.0, bare=1.0, no_article=0.0)


@pytest.fixture
def draft(monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """A draft under a small grammar of the test's own, about objects that have one name each."""

    def make(grammar: str, seed: int = 0, flags: tuple[str, ...] = (), **values: str) -> Expansion:
        rules: dict[str, GrammarRule] = {rule.name: rule for rule in parse_rules(grammar)}
        monkeypatch.setattr(expand, "rules", lambda: rules)
        expand._liked.cache_clear()
        memory = Memory(tuple(values.values()))
        return Expansion(PLAIN, np.random.default_rng(seed), memory, values, {"d": 90.0}, flags, 1)

    yield make
    expand._liked.cache_clear()


class Middling:
    """A generator that is never extreme."""

    def random(self) -> float:
        return 0.5


def text(tokens: list[Token]) -> str:
    return " ".join(token.text for token in tokens)


def test_words_values_and_the_other_side(draft) -> None:  # type: ignore[no-untyped-def]
    assert text(draft(":: go\nturn $s , not $-s , $s-hand\n", s="left").expand("go")) == (
        "turn left , not right , left-hand"
    )


def test_an_object_is_named_first_and_then_called_it(draft) -> None:  # type: ignore[no-untyped-def]
    made = draft(":: go\npass {o} , stop by {o.it} , {o.they} {o:stays} there , on {o.its} side\n", o="gizmo")
    assert text(made.expand("go")) == "pass the gizmo , stop by it , it stays there , on its side"
    assert [(m.name, m.form) for m in made.mentions] == [("gizmo", form) for form in ["phrase"] + ["pronoun"] * 3]


def test_two_objects_make_a_pronoun_unclear(draft) -> None:  # type: ignore[no-untyped-def]
    said = draft(":: go\npass {o} then {p} and stop by {o.it}\n", o="gizmo", p="widget").expand("go")
    assert text(said).endswith("and stop by the gizmo")


def test_after_a_pair_nobody_is_it(draft) -> None:  # type: ignore[no-untyped-def]
    grammar = ":: between(a b)\nfly between {a} and {b}\n:: go\n<between o p> and stop by {p.it}\n"
    assert text(draft(grammar, o="gizmo", p="widget").expand("go")).endswith("stop by the widget")


def test_contracted_verbs_agree(draft) -> None:  # type: ignore[no-untyped-def]
    assert text(draft(":: go\nuntil {o.they's} there\n", o="gizmo").expand("go")) == "until the gizmo's there"
    twice = draft(":: go\nby {o} until {o.they's} there\n", o="gizmo")
    assert text(twice.expand("go")) == "by the gizmo until it's there"
    many = draft(":: go\nuntil {o.they's} there , {o.they} {o:is}\n", o="gizmo")
    many.memory.here["gizmo"] = Phrase("gizmos", "name", 1.0, "they")
    many.rng = Middling()
    assert text(many.expand("go")) == "until the gizmos are there , they are"


def test_bare_names_have_no_article(draft) -> None:  # type: ignore[no-untyped-def]
    assert text(draft(":: go\n{o.bare} ahead\n", o="gizmo").expand("go")) == "gizmo ahead"


def test_parameters_are_bound_inside_a_call_only(draft) -> None:  # type: ignore[no-untyped-def]
    grammar = ":: past(o) = past o\npast {o}\n:: go\n<past p> , then $o\n"
    made = draft(grammar, o="gizmo", p="widget")
    assert text(made.expand("go")) == "past the widget , then gizmo"
    assert made.claims == [Claim("past", ("widget",), None, None, 1)]


def test_claims_take_sides_and_amounts(draft) -> None:  # type: ignore[no-untyped-def]
    made = draft(":: go = turn s d ; side o s\nturn $s past {o}\n", o="gizmo", s="left")
    made.expand("go")
    assert made.claims == [Claim("turn", (), "left", 90.0, 1), Claim("side", ("gizmo",), "left", None, 1)]


def test_an_alternative_needs_its_flags_and_values(draft) -> None:  # type: ignore[no-untyped-def]
    grammar = ":: go\n?far fly on\n!far ?s=left stop left\n!far ?s=right stop right\n"
    assert text(draft(grammar, flags=("far",), s="left").expand("go")) == "fly on"
    assert text(draft(grammar, s="right").expand("go")) == "stop right"
    with pytest.raises(WaywordError, match="the grammar has no way to say 'go'"):
        draft(grammar, s="ahead").expand("go")


def test_values_can_be_compared_with_each_other(draft) -> None:  # type: ignore[no-untyped-def]
    grammar = ":: go\n?s=u same\n!s=u other\n"
    assert text(draft(grammar, s="left", u="left").expand("go")) == "same"
    assert text(draft(grammar, s="left", u="right").expand("go")) == "other"


def test_ing_forms_take_the_verb_and_not_the_adverb(draft) -> None:  # type: ignore[no-untyped-def]
    grammar = ":: move\ngently stop here\n:: go\nby <move+ing>\n"
    assert text(draft(grammar).expand("go")) == "by gently stopping here"


def test_weights_and_chances_are_kept(draft) -> None:  # type: ignore[no-untyped-def]
    counts = sum(text(draft(":: go\n9 often\n1 rarely\n", seed=s).expand("go")) == "rarely" for s in range(400))
    assert 20 < counts < 65
    grammar = ":: extra\nplease\n:: go\n<extra?30> stop\n"
    polite = sum(text(draft(grammar, seed=s).expand("go")) == "please stop" for s in range(400))
    assert 85 < polite < 160


def test_a_name_is_repeated_and_a_new_text_begins_without_pronouns(draft) -> None:  # type: ignore[no-untyped-def]
    made = draft(":: go\npass {o}\n", o="gizmo")
    made.expand("go")
    assert made.memory.last == "gizmo"
    aside = made.memory.copy()
    made.memory.next_text()
    assert made.memory.last is None
    assert made.memory.here == {}
    assert set(made.memory.earlier) == {"gizmo"}
    assert aside.last == "gizmo"  # a copy does not change with the original
    assert aside.earlier == {}


def test_bases_are_the_words_up_to_the_noun(draft) -> None:  # type: ignore[no-untyped-def]
    made = draft(":: go\npass {o}\n", o="gizmo")
    made.memory.here["gizmo"] = Phrase("tower with blades", "look", 1.0)
    tokens = made.expand("go")
    assert text(tokens) == "pass the tower with blades"
    assert [token.base for token in tokens] == [False, True, True, False, False]
    assert {token.mention for token in tokens[1:]} == {0}
