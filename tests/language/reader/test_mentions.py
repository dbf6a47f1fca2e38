"""What a text mentions, and what the network sees of it."""

from __future__ import annotations

from wayword.language.minilm import MiniLM
from wayword.language.phrases_db import from_mapping, load_phrases
from wayword.language.pipeline import LanguageModel
from wayword.language.reader.marked import mark_text
from wayword.language.reader.mentions import Mentions, find_mentions

DATABASE = from_mapping({
    "globe": ["globe", "blue ball on a stand"], "flower pot": ["planter", "flower pot"], "house": ["house", "home"],
})  # fmt: skip


def found(text: str, language: LanguageModel) -> Mentions:
    return find_mentions(language.parse(text, DATABASE), DATABASE)


def said(mentions: Mentions) -> list[tuple[str, str, int]]:
    return [(mentions.text[each.start : each.end], each.mark, each.entity) for each in mentions.mentions]


def test_listed_phrases_are_found_word_for_word(language: LanguageModel) -> None:
    mentions = found("orbit the blue ball on a stand, then the globe", language)
    assert said(mentions) == [("blue ball on a stand", "exact", 0), ("globe", "exact", 0)]
    assert max(mentions.entities[0].probabilities, key=mentions.entities[0].probabilities.__getitem__) == "globe"


def test_clipped_style_keeps_its_side_words(language: LanguageModel) -> None:
    mentions = found("Flower pot starboard, globe port.", language)
    assert said(mentions)[0] == ("Flower pot", "exact", 0)
    assert ("globe", "exact", 1) in said(mentions)


def test_an_unknown_thing_is_marked_as_such(language: LanguageModel) -> None:
    mentions = found("fly to the submarine", language)
    assert [(phrase, mark) for phrase, mark, _ in said(mentions)] == [("submarine", "unknown")]
    assert not mentions.entities[0].known


def test_home_without_an_article_is_no_house(language: LanguageModel) -> None:
    assert not any(mark == "exact" for _, mark, _ in said(found("now fly home", language)))
    assert ("house", "exact", 0) in said(found("go to the house", language))


def test_pronouns_are_no_mentions(language: LanguageModel) -> None:
    assert said(found("go to the globe and circle it", language)) == [("globe", "exact", 0)]


def test_the_network_sees_placeholders_and_the_way_back(language: LanguageModel) -> None:
    mentions = found("go to the blue ball on a stand, then back up 30 cm", language)
    marked = mark_text(mentions, MiniLM(), ["box", "lamp"])
    assert len(marked.ids) == len(marked.marks) == len(marked.starts)
    assert marked.is_entity.tolist()[0] is True
    text = mentions.text
    place = text.index("then")
    assert place in marked.starts.tolist()  # behind a placeholder, offsets are those of the text again
    assert text[marked.starts[int(marked.targets[-1])] :].startswith("cm")


def test_a_long_text_is_cut(language: LanguageModel) -> None:
    mentions = found("go to the globe and " * 120, language)
    assert len(mark_text(mentions, MiniLM(), ["box", "lamp"]).ids) <= 256


def test_the_shipped_databases_can_be_looked_up(language: LanguageModel) -> None:
    database = load_phrases("dev")
    for entry in database:
        for phrase in entry.phrases:
            mentions = find_mentions(language.parse(f"circle the {phrase} twice", database), database)
            assert any(mention.mark == "exact" for mention in mentions.mentions), phrase


def test_a_colour_that_nothing_of_that_name_has_names_none_of_them(language: LanguageModel) -> None:
    bricks = from_mapping({
        "red brick": ["red brick", "brick"], "yellow brick": ["yellow brick"], "berry": ["red berry"],
        "silver barrel": ["silver barrel"], "oak barrel": ["brown barrel"],
    })  # fmt: skip

    def mark(text: str) -> str:
        return find_mentions(language.parse(text, bricks), bricks).mentions[0].mark

    assert mark("go to the green brick") == "unknown"
    assert mark("go to the brick") == mark("go to the red brick") == "exact"
    # Grey may be said of silver, and not of brown.
    (grey,) = find_mentions(language.parse("go to the grey barrel", bricks), bricks).entities
    assert (grey.mark, grey.probabilities["silver barrel"]) == ("known", 1.0)
    assert mark("go to the blue barrel") == "unknown"
    # There is one berry: whatever colour somebody sees in it, it is meant.
    assert mark("go to the pink berry") in ("known", "exact")
