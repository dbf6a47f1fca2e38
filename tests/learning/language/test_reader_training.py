"""Training of the reader: changed commands still mean what their steps say, and numpy computes what torch does."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from wayword.episodes.commands import Command, Step, load_commands
from wayword.episodes.commands.corpus import DATA
from wayword.errors import WaywordError
from wayword.language.minilm import MiniLM
from wayword.language.reader.marked import MARK
from wayword.language.reader.network import ReaderConfig, ReaderNetwork, load_network, save_network
from wayword.language.reader.program import NUMBER, VOCABULARY
from wayword.learning.language.reader_augment import join_commands, mirror, renumber
from wayword.learning.language.reader_examples import ENTITY
from wayword.learning.language.reader_forms import angle, length, number_in_words, slots
from wayword.learning.language.reader_grammar import Speaker
from wayword.learning.language.reader_pool import Pool, ReaderPoolConfig, ReaderSources

torch = pytest.importorskip("torch")

from wayword.learning.common.loop import NO_LIMIT, LoopConfig, Run  # noqa: E402
from wayword.learning.language.train_reader import (  # noqa: E402
    ReaderInputs,
    ReaderTraining,
    reader_batches,
    train_reader,
)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def command(text: str, *steps: Step) -> Command:
    return Command(text, steps, "test")


def test_mirrored() -> None:
    given = command(
        "Turn left, pass {A} clockwise on its right", Step("turn", degrees=90.0), Step("pass", "A", on="left")
    )
    other = mirror(given)
    assert other is not None
    assert other.text == "Turn right, pass {A} counterclockwise on its left"
    assert other.steps == (Step("turn", degrees=-90.0), Step("pass", "A", on="right"))


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("orbit {A} clockwise", "orbit {A} counterclockwise"),
        ("orbit {A} anti-clockwise", "orbit {A} clockwise"),
        ("Counter clockwise round {A}", "clockwise round {A}"),
        ("{A}, ccw", "{A}, cw"),
        ("keep {A} to PORT", "keep {A} to STARBOARD"),
    ],
)
def test_every_word_for_a_side_is_exchanged(text: str, other: str) -> None:
    mirrored = mirror(command(text, Step("circle", "A", direction="cw")))
    assert mirrored is not None
    assert (mirrored.text, mirrored.steps[0].direction) == (other, "ccw")


@pytest.mark.parametrize("text", ["turn left right now", "right, turn left", "go to {A}"])
def test_what_cannot_be_mirrored_is_left_alone(text: str) -> None:
    assert mirror(command(text, Step("turn", degrees=90.0) if "turn" in text else Step("goto", "A"))) is None


def test_other_numbers_in_text_and_steps(rng: np.random.Generator) -> None:
    from wayword.language.reader.quantities import find_measures

    for _ in range(50):
        other = renumber(command("back up 40 cm and wait", Step("back", metres=0.4)), rng)
        assert other is not None
        (measure,) = find_measures(other.text)
        assert other.steps[0].metres == pytest.approx(measure.value, abs=0.011), other.text


def test_joined_commands_have_slots_of_their_own(rng: np.random.Generator) -> None:
    first = command("Go to {A}.", Step("goto", "A"))
    second = command("Circle {A} and pass {B}.", Step("circle", "A"), Step("pass", "B"))
    for _ in range(30):
        both = join_commands(first, second, rng)
        assert [step.do for step in both.steps] == ["goto", "circle", "pass"]
        assert {key for step in both.steps for key in step.mentioned} <= set(slots(both.text))
        assert both.steps[1].object != both.steps[2].object


def test_words_for_numbers(rng: np.random.Generator) -> None:
    assert [number_in_words(number) for number in (7, 45, 90, 120)] == [
        "seven",
        "forty-five",
        "ninety",
        "a hundred and twenty",
    ]
    from wayword.language.reader.quantities import find_measures

    for say in (angle, length):
        for _ in range(100):
            value, words = say(rng)
            assert find_measures(f"go {words}")[0].value == pytest.approx(value, abs=0.006), words


def test_the_grammar_speaks_of_what_it_names(rng: np.random.Generator) -> None:
    speaker = Speaker()
    for _ in range(500):
        said = speaker.say(rng)
        assert not any(mark in said.text for mark in ("[", "]", "|", "MM", "TT", "TN", "DD", "GG", "LL", "UU", "WW")), (
            said.text
        )
        named = {*slots(said.text), *said.select}
        assert {key for step in said.steps for key in step.mentioned} <= named
        for step in said.steps:
            assert Step.from_json(step.to_json()) == step


@pytest.fixture(scope="module")
def pool() -> Pool:
    commands = load_commands("train")[::7]
    return Pool(ReaderPoolConfig(described=0.0), ReaderSources.of(commands, {}, [], []), MiniLM())


def test_examples_point_to_what_the_text_mentions(pool: Pool, rng: np.random.Generator) -> None:
    for _ in range(100):
        example = pool.draw(rng)
        assert example.line[-1] == NUMBER["end"]
        pointed = {number - ENTITY for number in example.line if ENTITY <= number < 2 * ENTITY}
        owners = {owner for owner, entity in zip(example.owners, example.is_entity, strict=True) if entity}
        assert pointed <= owners
        assert max(example.targets, default=0) < len(example.ids)


def test_numpy_computes_what_torch_does(pool: Pool, rng: np.random.Generator, tmp_path: Path) -> None:
    from wayword.language.reader.network import BELOW
    from wayword.learning.language.reader_net import ReaderNet, collate_reader, reader_losses

    config = ReaderConfig(words=len(VOCABULARY) + 1)
    torch.manual_seed(0)
    net = ReaderNet(config).eval()
    example = pool.draw(rng)
    below = pool.encoder.hidden([example.ids], BELOW)
    batch = collate_reader([example], [below[0]])
    with torch.no_grad():
        states = net.encode(batch.below, batch.marks, batch.present)
        kind, cuts = net.heads(states, batch.present)
        words, pieces = net.decode(states, batch.present, batch.tokens, batch.pieces)
        assert all(torch.isfinite(loss) for loss in reader_losses(net, batch))
    ours = ReaderNetwork(config, {name: value.numpy() for name, value in net.state_dict().items()})
    encoded = ours.encode(below[0], np.array(example.marks))
    np.testing.assert_allclose(encoded.kind, kind[0].numpy(), atol=2e-4)
    np.testing.assert_allclose(encoded.boundary, cuts[0].numpy(), atol=2e-4)
    for place in range(len(example.line)):
        piece = int(batch.pieces[0, place])
        given = ours.piece(encoded, piece) if piece >= 0 else ours.word(int(batch.tokens[0, place]))
        said, pointed = ours.step(encoded, given, place)
        np.testing.assert_allclose(said, words[0, place].numpy(), atol=5e-4)
        np.testing.assert_allclose(pointed, pieces[0, place].numpy(), atol=5e-4)
    save_network(config, {name: value.numpy() for name, value in net.state_dict().items()}, tmp_path)
    again = load_network(tmp_path).encode(below[0], np.array(example.marks))
    np.testing.assert_allclose(again.kind, encoded.kind, atol=0.1)  # int8


def miniature(steps: int, **changes: object) -> ReaderTraining:
    shape = replace(ReaderTraining().shape, layers=1, width=16, heads=2, blocks=1, inner=16)
    loop = replace(ReaderTraining().loop, steps=steps, **changes)  # type: ignore[arg-type]
    return ReaderTraining(shape, ReaderPoolConfig(described=0.0, grammar=0.5), loop, batch=4)


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> ReaderInputs:
    path = tmp_path_factory.mktemp("few") / "commands.jsonl"
    lines = (DATA / "train.jsonl").read_text(encoding="utf-8").splitlines()
    empty = next(line for line in lines if json.loads(line)["steps"] == [])
    path.write_text("\n".join([*lines[:12], empty]) + "\n", encoding="utf-8")
    return ReaderInputs(path)


def test_the_same_seed_makes_the_same_weights_also_after_a_stop(few: ReaderInputs, tmp_path: Path) -> None:
    """Four steps in one go, and four that were stopped after the second."""
    whole = train_reader(miniature(4), few, tmp_path / "whole")

    class SecondStep(threading.Event):
        asked = 0

        def is_set(self) -> bool:
            self.asked += 1
            return self.asked > 2

    train_reader(miniature(4), few, tmp_path / "parts", SecondStep())
    half = (tmp_path / "parts" / "reader" / "model.safetensors").read_bytes()
    parts = train_reader(miniature(4), few, tmp_path / "parts")
    assert (parts / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes() != half
    assert json.loads((parts / "train_config.json").read_text())["repeatable"] is True
    assert load_network(parts).config.placeholders.split()[:2] == ["box", "lamp"]


def test_a_run_goes_on_with_its_own_settings_only(few: ReaderInputs, tmp_path: Path) -> None:
    train_reader(miniature(1), few, tmp_path)
    with pytest.raises(WaywordError, match=r"loop\.steps 1, now 2"):
        train_reader(miniature(2), few, tmp_path)
    with pytest.raises(WaywordError, match=r"loop\.seed 0, now 7"):
        train_reader(miniature(1, seed=7), few, tmp_path)


def test_the_mean_with_the_weights_it_went_on_from(few: ReaderInputs, tmp_path: Path) -> None:
    """A share of a quarter: every weight is 0.25 x before + 0.75 x learned, but for the rounding to int8."""
    before = train_reader(miniature(1), few, tmp_path / "before")
    on = replace(few, start=before)
    learned = load_network(train_reader(miniature(3), on, tmp_path / "learned")).weights
    mean = load_network(train_reader(replace(miniature(3), start_share=0.25), on, tmp_path / "mean")).weights
    for name, first in load_network(before).weights.items():
        np.testing.assert_allclose(mean[name], 0.25 * first + 0.75 * learned[name], atol=0.02 * np.abs(first).max())
    assert any(np.abs(mean[name] - learned[name]).max() > 1e-4 for name in mean)
    with pytest.raises(WaywordError, match="only where --start names them"):
        train_reader(replace(miniature(1), start_share=0.25), few, tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()


def test_batches_depend_on_seed_and_step_alone(pool: Pool) -> None:
    config = miniature(500)
    from_start = reader_batches(pool, config, 0)
    third = [next(from_start) for _ in range(3)][2]
    again = next(reader_batches(pool, config, 2))
    assert torch.equal(third.below, again.below)
    assert torch.equal(third.right, again.right)


def test_each_object_of_a_text_has_a_word_of_its_own(pool: Pool, rng: np.random.Generator) -> None:
    """Which word it is changes from example to example, so that it cannot matter."""
    given = command("not {A}, {B}", Step("goto", "B"))
    texts = set()
    for _ in range(40):
        example = pool.command(given, (), rng)
        assert example is not None
        objects = [example.ids[place] for place in example.targets]
        if len(objects) == 2 and example.marks.count(MARK["exact"]) == 2:
            assert objects[0] != objects[1]
            texts.add(tuple(objects))
    assert len(texts) > 10


def test_a_part_can_learn_more_slowly(tmp_path: Path) -> None:
    """Adam's first step is the learning rate, whatever the gradient: 0.5 x 0.1 for "slow", 0.1 for the rest."""
    net = torch.nn.ModuleDict({"slow": torch.nn.Linear(1, 1, bias=False), "fast": torch.nn.Linear(1, 1, bias=False)})
    loop = LoopConfig(10, NO_LIMIT, learning_rate=0.1, weight_decay=0.0, warm_up=0.1)
    run = Run(tmp_path, net, loop, slower={"slow.": 0.5})
    before = {name: value.clone() for name, value in net.state_dict().items()}
    run.update(net["slow"].weight.sum() + 3 * net["fast"].weight.sum(), {})
    moved = {name: float(before[name] - value) for name, value in net.state_dict().items()}
    assert moved["slow.weight"] == pytest.approx(0.5 * moved["fast.weight"], rel=1e-4)
    assert moved["fast.weight"] > 0
