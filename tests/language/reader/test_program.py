"""Steps as tokens and back; a grammar that always ends in something that can be flown."""

from __future__ import annotations

import numpy as np
import pytest

from wayword.episodes.commands import Command, Select, Step, Until, load_commands
from wayword.language.reader.program import CHOICES, VOCABULARY, Grammar, Pointer, ProgramToken, read_program, write


def there_and_back(command: Command) -> tuple[tuple[Step, ...], dict[str, Select]]:
    """Written with every number as a quantity of the text, and read again; objects are "e0", "e1", ..."""
    keys = [*command.slots]
    values: list[float] = []

    def quantity(value: float, kind: str) -> int:
        values.append(value)
        return len(values) - 1

    line = write(command.steps, command.select, keys.index, quantity)
    grammar = Grammar()
    for token in line:
        assert isinstance(token, Pointer) or token in grammar.choices()
        grammar.push(token)
    assert grammar.now is None
    return read_program(line, values)


def test_a_worked_line() -> None:
    steps = (Step("pass", "A", on="left"), Step("goto", "B", stop="front", distance_m=0.5), Step("turn", degrees=-90.0))
    line = write(steps, {}, lambda key: "AB".index(key), lambda value, kind: None)
    assert line == [
        "pass", Pointer("entity", 0), "on:left", "goto", Pointer("entity", 1), "stop:front", "m:0.5",
        "turn", "side:right", "deg:90", "end",
    ]  # fmt: skip
    assert read_program(line, []) == (tuple(step.renamed(lambda key: f"e{'AB'.index(key)}") for step in steps), {})


def test_an_object_meant_by_its_place_is_named_once_and_then_again() -> None:
    steps = (Step("goto", "Z"), Step("circle", "Z", turns=2.0, direction="cw"))
    line = write(steps, {"Z": Select("beside", "A", 2)}, lambda key: 3, lambda value, kind: None)
    assert line[1:4] == ["rule:beside", "rank:2", Pointer("entity", 3)]
    assert "again:1" in line
    read_steps, rules = read_program(line, [])
    assert [step.object for step in read_steps] == ["s1", "s1"]
    assert rules == {"s1": Select("beside", "e3", 2)}


def test_what_is_to_be_avoided_comes_first() -> None:
    line = write((Step("goto", "A"), Step("avoid", "B")), {}, lambda key: "AB".index(key), lambda value, kind: None)
    assert line[:2] == ["avoid", Pointer("entity", 1)]


def test_until_and_sides_come_back() -> None:
    steps = (Step("forward", until=Until("A", "right")), Step("sideways", metres=-0.3), Step("forward"))
    line = write(steps, {}, lambda key: 0, lambda value, kind: None)
    assert read_program(line, [])[0] == (
        Step("forward", until=Until("e0", "right")),
        Step("sideways", metres=-0.3),
        Step("forward"),
    )


@pytest.mark.parametrize("split", ["train", "more", "dev"])
def test_every_written_command_survives(split: str) -> None:
    for command in load_commands(split)[::5]:
        keys = {slot: f"e{number}" for number, slot in enumerate(command.slots)}
        steps, rules = there_and_back(command)
        order = [step for step in command.steps if step.do == "avoid"]
        order += [step for step in command.steps if step.do != "avoid"]
        found = [rules.get(key, key) for step in steps for key in step.mentioned]
        meant = []
        for key in (key for step in order for key in step.mentioned):
            rule = command.select.get(key)
            meant.append(keys[key] if rule is None else Select(rule.rule, keys.get(rule.of or ""), rule.rank))
        assert found == meant, command.text
        assert [step.renamed(lambda key: "") for step in steps] == [step.renamed(lambda key: "") for step in order]


def test_any_choice_ends_in_steps() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        grammar, line = Grammar(), list[ProgramToken]()
        while grammar.now is not None:
            choices: list[ProgramToken] = [*grammar.choices()]
            if grammar.now in ("object", "named", "more"):
                choices.append(Pointer("entity", 0))
            token = choices[int(rng.integers(len(choices)))]
            grammar.push(token)
            line.append(token)
        steps, _ = read_program(line, [])
        for step in steps:
            assert Step.from_json(step.to_json()) == step


def test_every_choice_is_a_word() -> None:
    assert {token for choices in CHOICES.values() for token in choices} == set(VOCABULARY)
