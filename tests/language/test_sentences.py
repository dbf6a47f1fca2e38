"""Sentences as people type them, through the whole parse: which words refer, and to what."""

from __future__ import annotations

import pytest

from wayword.language.phrases_db import from_mapping
from wayword.language.pipeline import LanguageModel, ParseConfig

HALL = from_mapping(
    {
        "shoe": ["shoe", "brown shoe"],
        "flower pot": ["flower pot", "plant pot"],
        "melon": ["melon", "watermelon"],
        "strawberry": ["strawberry"],
        "clock": ["clock", "wall clock"],
        "table": ["table", "wooden table"],
        "bottle": ["bottle", "glass bottle"],
        "red brick": ["red brick"],
        "yellow brick": ["yellow brick", "brick"],
        "stack of dishes": ["stack of dishes", "dishes", "stack"],
        "drum": ["drum"],
        "horse": ["horse", "toy horse"],
        "robot": ["robot", "droid"],
    }
)
SENTENCES = [
    # Clipped style: sides are no part of names, and sentences end.
    ("Flower pot starboard, strawberry port. Halt short of melon.", "flower pot, strawberry, melon"),
    ("Bottle left. Clock right. Stop at shoe.", "bottle, clock, shoe"),
    ("keep horse port side? Then drum", "horse, drum"),
    # Them and they.
    ("pass between the drum and the horse and keep them both behind you", "drum, horse, drum+horse"),
    (
        "see the clock and the bottle? they are on your right as you go past the drum",
        "clock, bottle, clock+bottle, drum",
    ),
    ("go over to the dishes and stop next to them", "stack of dishes, stack of dishes"),
    ("approach the drum, they must stay on your left", "drum, drum"),
    # It, where nouns nest and where they do not.
    ("take the bottle from the table and use it", "bottle, table, bottle"),
    ("pass the drum on the left of the horse and then circle it", "drum, horse, drum"),
    ("fly from the table to the clock and keep it on your right", "table, clock, clock"),
    ("go past the shoe and head for the drum, stop before it", "shoe, drum, drum"),
    # Names with "of", and names said again.
    ("stop in front of the stack of dishes and wait", "stack of dishes"),
    ("go to the left of the table", "table"),
    ("pass the red brick, then stop just after the brick", "red brick, red brick"),
    ("approach the brick", "yellow brick"),
    ("pass the red brick and stop behind the brick next to it", "red brick, red brick, red brick"),
    # What is no object.
    ("the drum is at your ten o'clock, head for it", "drum, drum"),
    ("fly to the clock at 3 o'clock", "clock"),
    ("use the space between the drum and the horse", "drum, horse"),
    ("follow the wall across the room to the melon", "melon"),
    ("hang in the air over the melon, off the ground", "melon"),
    ("robot, fly to the robot", "robot"),
    ("ok drone, fly round the horse", "horse"),
    ("go to the shoe, robot", "shoe"),
    # Told apart by where they stand.
    ("fly to the left shoe", "shoe"),
    ("stop by the leftmost bottle", "bottle"),
    # Parts only tell a thing apart; another object stays one.
    ("go to the table with the crooked legs", "table"),
    ("fly past the drum with the horse on your left", "drum, horse"),
    # Short slips.
    ("turn irght at teh horse adn stop", "horse"),
    ("go lef of hte drum, then fly tot he melon", "drum, melon"),
]


@pytest.fixture(scope="module")
def model() -> LanguageModel:
    return LanguageModel.load()


@pytest.mark.parametrize(("text", "meant"), SENTENCES)
def test_what_a_sentence_refers_to(model: LanguageModel, text: str, meant: str) -> None:
    said = []
    for reference in model.parse(text, HALL).references:
        likely = [name for name, value in reference.probabilities.items() if value > 0.3]
        said.append("+".join(likely))
        assert sum(reference.probabilities.values()) + reference.none == pytest.approx(1.0)
    assert said == [part.strip() for part in meant.split(",")]


def test_them_is_one_placeholder_with_the_mean_of_what_it_stands_for(model: LanguageModel) -> None:
    parsed = model.parse("go to the drum and the horse and circle them", HALL)
    assert parsed.anonymised.text == "go to <obj> and <obj> and circle <obj>"
    drum, horse, them = parsed.references
    assert them.antecedents == (0, 1)
    for name in them.probabilities:
        assert them.probabilities[name] == pytest.approx((drum.probabilities[name] + horse.probabilities[name]) / 2)


def test_the_rules_can_be_switched_off(model: LanguageModel) -> None:
    plain = LanguageModel(
        model.encoder,
        model.chunker,
        model.objref,
        model.reference_model,
        ParseConfig(pronouns=False, compounds=False, phrases=False),
    )
    assert [r.best for r in plain.parse("pass the red brick, then the brick, circle it", HALL).references] == [
        "red brick",
        "yellow brick",
    ]
