"""How people type: what each habit does to a sentence, and what it leaves alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayword.episodes.instructions.expand import Token
from wayword.episodes.instructions.grammar import grammar_words
from wayword.episodes.instructions.phrases import vocabulary
from wayword.episodes.instructions.typing_habits import add_fillers, mistype, shorten, slip, type_out
from wayword.episodes.instructions.voices import VOICES, Voice, find_voice, voices
from wayword.errors import WaywordError

PLAIN = find_voice("plain")


def tokens(text: str, reference: str = "") -> list[Token]:
    """Words of a text; those of ``reference`` belong to mention 0."""
    inside = reference.split()
    return [Token(word, 0 if word in inside else -1, word in inside) for word in text.split()]


def words(typed: list[Token]) -> str:
    return " ".join(token.text for token in typed)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def always(**habits: object) -> Voice:
    return replace(PLAIN, **habits)  # type: ignore[arg-type]


def test_a_plain_voice_types_what_it_says() -> None:
    said = tokens("turn left , pass the globe , and stop .")
    assert type_out(said, always(commas=1.0), rng()) == said


def test_whoever_types_no_commas_types_no_marks_at_all() -> None:
    assert words(type_out(tokens("turn left , and stop ."), always(commas=0.0), rng())) == "turn left and stop"


def test_some_commas_are_left_out() -> None:
    said = tokens(", ".join(["go"] * 400).replace(",", " ,"))
    typed = type_out(said, always(commas=0.3), rng())
    assert 80 < sum(token.text == "," for token in typed) < 160


def test_pairs_are_contracted() -> None:
    voice = always(shortened={"contracted": 1.0})
    assert words(shorten(tokens("until you are past it"), voice, rng())) == "until you're past it"
    assert words(shorten(tokens("when It is behind"), voice, rng())) == "when it's behind"
    # The second word of a pair that begins a reference is not swallowed.
    kept = [Token("you"), Token("are", 0)]
    assert shorten(kept, voice, rng()) == kept


def test_who_texts_does_so_through_a_whole_message_or_not_at_all() -> None:
    voice = always(shortened={"texting": 0.5})
    sentence = tokens("until it is on your left and your right until your end")
    results = {words(shorten(sentence, voice, rng(seed))).replace(" n ", " and ") for seed in range(30)}
    assert results == {words(sentence), "til it is on ur left and ur right til ur end"}


def test_apostrophes_may_be_dropped_or_misheard() -> None:
    dropped, heard = always(shortened={"dropped": 1.0}), always(shortened={"phonetic": 1.0})
    assert words(shorten(tokens("when you're there it's done"), dropped, rng())) == "when youre there its done"
    assert words(shorten(tokens("when you're there it's done"), heard, rng())) == "when your there its done"


def test_fillers_come_at_pauses_and_never_inside_a_reference() -> None:
    said = tokens("fly on , then go past the red globe and a duck", "the red globe")
    typed = add_fillers(said, 1.0, rng(4))
    # Whatever was put in, what was said is still there in its order.
    rest = iter(typed)
    assert all(any(token == other for other in rest) for token in said)
    assert len(typed) > len(said)
    places = [k for k, token in enumerate(typed) if token.mention == 0]
    assert places == list(range(places[0], places[0] + 3))
    assert add_fillers(said, 0.0, rng()) == said


def test_common_misspellings_keep_the_sides_readable() -> None:
    typed = mistype(tokens("go between them until the end"), 1.0, 0.0, rng())
    assert typed[1].text in ("betwen", "bewteen")
    assert typed[3].text == "untill"
    # Three in a hundred: a wrong "right" is rare even for who misspells everything.
    changed = sum(mistype(tokens("right"), 1.0, 0.0, rng(seed))[0].text != "right" for seed in range(400))
    assert 2 <= changed <= 30


def test_two_words_run_together() -> None:
    assert words(mistype(tokens("stop in front of it"), 1.0, 0.0, rng())) == "stop infront of it"


def test_references_are_misspelt_less_often() -> None:
    inside = sum(mistype(tokens("barrel", "barrel"), 1.0, 0.0, rng(s))[0].text != "barrel" for s in range(300))
    outside = sum(mistype(tokens("barrel"), 1.0, 0.0, rng(s))[0].text != "barrel" for s in range(300))
    assert outside == 300
    assert 20 < inside < 80


@pytest.mark.parametrize("word", ["it", "the", "o'clock", "left", "right", "b4"])
def test_short_words_sides_and_what_is_no_word_do_not_slip(word: str) -> None:
    assert {slip(word, rng(seed)) for seed in range(50)} == {word}


@settings(max_examples=200, deadline=None)
@given(st.text("abcdefghijklmnopqrstuvwxyz", min_size=4, max_size=12), st.integers(0, 10_000))
def test_a_slip_is_one_letter_and_keeps_the_first(word: str, seed: int) -> None:
    typed = slip(word, rng(seed))
    assert typed[0] == word[0]
    assert abs(len(typed) - len(word)) <= 1
    assert typed == word or typed not in vocabulary() | grammar_words()
    if len(typed) == len(word):
        assert sum(a != b for a, b in zip(word, typed, strict=True)) <= 2


def test_voices_are_called_by_name() -> None:
    assert list(voices()) == [voice.name for voice in VOICES]
    assert all(find_voice(voice.name) is voice for voice in VOICES)
    with pytest.raises(WaywordError, match="there is no voice 'pirate'; choose one of plain, terse"):
        find_voice("pirate")


def test_how_much_a_voice_likes_an_alternative() -> None:
    voice = always(common=0.5, tags={"pilot": 1.0, "terse": 0.2})
    assert voice.share(frozenset()) == 0.5
    assert voice.share(frozenset({"terse"})) == 0.2
    assert voice.share(frozenset({"terse", "pilot"})) == 1.0
    assert voice.share(frozenset({"poetic"})) == 0.0


@pytest.mark.parametrize("voice", VOICES, ids=lambda voice: voice.name)
def test_settings_of_voices_make_sense(voice: Voice) -> None:
    low, high = voice.words
    assert 0 < low < high < 60
    for share in ("commas", "stop", "goal", "turn", "via", "place", "also", "clock", "no_article", "bare", "that"):
        assert 0 <= getattr(voice, share) <= 1, share
    assert 0 <= voice.slips < 0.1
    assert set(voice.shortened) <= {"texting", "dropped", "phonetic", "contracted"}
