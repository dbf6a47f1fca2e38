"""What a policy thinks, as pictures: masks stay on their objects, beliefs and colours are where they belong."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image, ImageDraw

from wayword.episodes import PlacedObject, Pose2
from wayword.evaluation.free_flight import free_example
from wayword.evaluation.recorder import Film, RecorderConfig
from wayword.language.phrases_db import load_phrases
from wayword.language.pipeline import LanguageModel, Parsed
from wayword.lettering import fitting, plain, text_font
from wayword.mapping.grid import CELL_M, PREDICTION_CELLS, UNOBSERVED, prediction_centres, to_world
from wayword.pilot import open_database
from wayword.policy.fspvn import FsPVN, Thought
from wayword.sim.arena import ArenaConfig
from wayword.sim.pictures.flight_card import MUTED, Box
from wayword.sim.pictures.thought_card import BARS, LAYOUT, ThoughtCard
from wayword.sim.pictures.thought_map import paint_beliefs
from wayword.sim.pictures.thought_masks import View, carry_masks, merged, paint_references
from wayword.sim.pictures.thought_words import (
    PALETTE,
    UNKNOWN,
    distinct,
    draw_bars,
    draw_instruction,
    reference_colours,
    split_words,
    wrap_words,
)
from wayword.sim.pictures.topdown import TopDown
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.camera import CameraConfig
from wayword.sim.render.look import Look
from wayword.sim.render.renderer import Renderer

INSTRUCTION = (
    "Go past the globe, then past the unicorn; circle the globe and stop with it on your left, by the fire truck."
)
OBJECTS = [PlacedObject("globe", 2.4, 2.0, 0.0), PlacedObject("strawberry", 1.6, 3.4, 0.0)]
START = np.array([1.0, 2.0, 0.7, 0.0, 0.0, 0.0])


@pytest.fixture(scope="module")
def read() -> Callable[[str], Parsed]:
    language, phrases = LanguageModel.load(), load_phrases("test")
    return lambda text: language.parse(text, phrases)


@pytest.fixture(scope="module")
def parsed(read: Callable[[str], Parsed]) -> Parsed:
    return read(INSTRUCTION)


# Words ---------------------------------------------------------------------------------------------------


def test_one_colour_for_one_object_and_grey_for_none(parsed: Parsed) -> None:
    said = [reference.text.lower() for reference in parsed.references]
    assert said == ["the globe", "the unicorn", "the globe", "it", "the fire truck"]
    assert reference_colours(parsed.references) == [PALETTE[0], UNKNOWN, PALETTE[0], PALETTE[0], PALETTE[1]]
    assert distinct(parsed.references) == [0, 1, 4]
    assert distinct([parsed.references[4], replace(parsed.references[4], text="fire truck")]) == [0]


def test_words_are_those_that_were_typed(parsed: Parsed) -> None:
    words = split_words(parsed)
    assert ["".join(piece.text for piece in word) for word in words] == INSTRUCTION.split()
    # "globe," is cut where the reference ends.
    assert [(piece.text, piece.reference) for piece in words[3]] == [("globe", 0), (",", None)]
    coloured = [piece.text for word in words for piece in word if piece.reference is not None]
    assert coloured == ["the", "globe", "the", "unicorn", "the", "globe", "it", "the", "fire", "truck"]


def test_lines_fit_and_lose_no_word(parsed: Parsed) -> None:
    words = split_words(parsed)
    lines = wrap_words(words, 300, 20)
    assert [word for line in lines for word in line] == words
    for line in lines:
        text = " ".join("".join(piece.text for piece in word) for word in line)
        assert text_font(20).getlength(text) <= 305
    assert len(lines) > 2


@pytest.mark.parametrize("text", [INSTRUCTION, "go to the globe " * 120, "x" * 9000, "", "🚁 à la globe 停"])
def test_any_instruction_stays_in_its_box(text: str, read: Callable[[str], Parsed]) -> None:
    page = Image.new("RGB", (1000, 200))
    draw_instruction(ImageDraw.Draw(page), Box(100, 60, 800, 80), read(text))
    rows, columns = np.nonzero(np.asarray(page).any(axis=2))
    if plain(text):
        assert 58 <= rows.min() <= rows.max() <= 142
        assert 98 <= columns.min() <= columns.max() <= 902
    else:
        assert not len(rows)


def test_bars_are_as_long_as_their_probabilities(parsed: Parsed) -> None:
    page = Image.new("RGB", (700, 200))
    cells = draw_bars(ImageDraw.Draw(page), Box(20, 20, 640, 120), parsed.references)
    assert [number for number, _ in cells] == [0, 1, 4]
    number, cell = cells[0]
    reference = parsed.references[number]
    pixels = np.asarray(page)[cell.top + 26 : cell.top + cell.height, cell.left + 100 : cell.left + cell.width]
    longest = (pixels == PALETTE[0]).all(axis=2).sum(axis=1).max()
    room = cell.width - min(round(cell.width * 0.53), 118) - 36
    assert longest == pytest.approx(room * max(reference.probabilities.values()), abs=3)
    for _, box in cells:
        assert 20 <= box.left <= box.left + box.width <= 660


def test_bars_of_none_and_of_many(read: Callable[[str], Parsed]) -> None:
    page = Image.new("RGB", (700, 200))
    assert draw_bars(ImageDraw.Draw(page), Box(20, 20, 640, 120), ()) == []
    assert (np.asarray(page) == MUTED).all(axis=2).any()  # it says so
    names = ("globe", "planter", "fire truck", "red brick", "plates", "strawberry", "melon", "yellow brick")
    many = read("go past " + " and ".join(f"the {name}" for name in names))
    assert len(draw_bars(ImageDraw.Draw(page), Box(20, 20, 640, 120), many.references)) == 6


def test_text_is_cut_with_dots() -> None:
    assert fitting("short", 90, 15) == "short"
    for text in ("a very long name of something", "i" * 5000):
        cut = fitting(text, 90, 15)
        assert cut.endswith("...")
        assert text_font(15).getlength(cut) <= 90


# Masks ---------------------------------------------------------------------------------------------------


def look_from(pose: np.ndarray) -> tuple[View, np.ndarray]:
    """A view of the globe, and which pixels are the globe."""
    renderer = Renderer(MeshBank.of_catalogue(["globe", "strawberry"]))
    frames = renderer.render([renderer.scene(OBJECTS, Look())], [pose])
    return View(pose, frames.depth[0]), (frames.ids[0] == 1).astype(np.float32)


@pytest.mark.parametrize("step", [(0.0, 0.0, 0.0), (0.3, 0.0, 0.0), (0.15, 0.1, -0.2), (0.0, 0.0, 0.3)])
def test_a_mask_stays_on_its_object_while_the_drone_moves(step: tuple[float, float, float]) -> None:
    then, mask = look_from(START)
    now, truth = look_from(START + np.array([step[0], step[1], 0, 0, 0, step[2]]))
    carried = carry_masks(mask[None], then, now, CameraConfig())[0] > 0.5
    common, either = (carried & (truth > 0.5)).sum(), (carried | (truth > 0.5)).sum()
    assert truth.sum() > 50
    assert common / either > 0.8


def test_what_was_hidden_has_no_mask() -> None:
    # A mask over the whole picture: the ground behind the globe was not seen, so a step aside shows it unmasked.
    then, mask = look_from(START)
    now, truth = look_from(START + np.array([0, 0.5, 0, 0, 0, -0.3]))
    carried = carry_masks(np.ones((1, *mask.shape), np.float32), then, now, CameraConfig())[0]
    assert carried[truth > 0.5].mean() > 0.9
    rows, columns = np.nonzero(truth)
    beside = carried[rows.min() : rows.max(), columns.max() + 2 : columns.max() + 8]
    other = carried[rows.min() : rows.max(), columns.min() - 8 : columns.min() - 2]
    assert min(beside.min(), other.min()) == 0
    behind = START + np.array([0, 0, 0, 0, 0, math.pi])
    assert carry_masks(mask[None], then, look_from(behind)[0], CameraConfig()).max() == 0


def test_masks_of_one_colour_are_painted_as_one() -> None:
    masks = np.zeros((3, 9, 16), np.float32)
    masks[0, :4], masks[1, 4:], masks[2, :, :2] = 0.9, 0.8, 0.7
    both = merged(masks, [PALETTE[0], PALETTE[0], PALETTE[1]])
    assert list(both) == [PALETTE[0], PALETTE[1]]
    np.testing.assert_array_equal(both[PALETTE[0]], np.maximum(masks[0], masks[1]))
    view = Image.new("RGB", (160, 90), (10, 10, 10))
    paint_references(view, {PALETTE[1]: masks[2], UNKNOWN: np.full((9, 16), 0.01, np.float32)})
    pixels = np.asarray(view).astype(int)
    assert (pixels[:, 100:] == 10).all()  # a faint mask is not drawn
    assert np.abs(pixels[45, 5] - PALETTE[1]).sum() < np.abs(np.array([10, 10, 10]) - PALETTE[1]).sum()


# The map and the whole card ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def film() -> Film:
    """Two decisions of the shipped policy."""
    bank = MeshBank.of_catalogue(["globe", "strawberry"])
    example = free_example("seed 0", INSTRUCTION, OBJECTS, Pose2(1.0, 2.0, 0.0))
    config = RecorderConfig(arena=ArenaConfig(horizon=2))
    return Film(FsPVN.load(), example, bank, config, open_database("test"), ["globe"])


@pytest.fixture(scope="module")
def frames(film: Film) -> list[np.ndarray]:
    return list(film)


@pytest.fixture(scope="module")
def thought(film: Film, frames: list[np.ndarray]) -> Thought:
    return film.policy.thought(0)  # type: ignore[attr-defined,no-any-return]


def believing(thought: Thought, **changes: np.ndarray) -> Thought:
    """The same thought with empty beliefs, but for the changes."""
    empty = {
        "references": np.zeros_like(thought.references),
        "coverage": np.ones_like(thought.coverage),
        "distributions": np.eye(UNOBSERVED + 1, dtype=np.float32)[[-1, -1]],
    }
    return Thought(**{**vars(thought), **empty, **changes})


def painted(thought: Thought, topdown: TopDown, colours: list[tuple[int, int, int]]) -> np.ndarray:
    picture = Image.new("RGB", (topdown.size_px, topdown.size_px), (90, 90, 90))
    paint_beliefs(picture, topdown, thought, colours)
    return np.asarray(picture).astype(int)


def test_beliefs_are_painted_where_they_belong(film: Film, thought: Thought) -> None:
    topdown = film.card.topdown
    cell = (40, 44)
    d = np.zeros((2, UNOBSERVED + 1), np.float32)
    d[0, -1], d[1, cell[0] * PREDICTION_CELLS + cell[1]] = 1.0, 1.0
    at = to_world(prediction_centres()[cell], thought.start)
    column, row = topdown.to_pixels(at)[0].astype(int)
    pixels = painted(believing(thought, distributions=d), topdown, [])
    assert pixels[row, column, 0] - pixels[row, column, 2] > 120  # red: it will stop here
    changed = np.argwhere((pixels != 90).any(axis=2))
    assert np.abs(changed - (row, column)).max() < 2.5 * CELL_M * topdown.px_per_m


def test_what_was_not_observed_is_dark_and_references_are_rings(film: Film, thought: Thought) -> None:
    topdown = film.card.topdown
    coverage = np.ones((32, 32), np.float32)
    coverage[:, 16:] = 0
    pixels = painted(believing(thought, coverage=coverage), topdown, [])
    left, right = (topdown.to_pixels([[x, 2.35]])[0].astype(int) for x in (1.0, 3.7))
    assert pixels[left[1], left[0]].tolist() == [90, 90, 90]
    assert pixels[right[1], right[0]].max() < 60
    references = np.zeros((1, 32, 32), np.float32)
    references[0, 10:14, 20:24] = 1.0
    pixels = painted(believing(thought, references=references), topdown, [PALETTE[0]])
    column, row = topdown.to_pixels([[22 * CELL_M, 12 * CELL_M]])[0].astype(int)
    assert pixels[row, column].tolist() == [90, 90, 90]  # the middle of the ring is free
    near = pixels[row - 40 : row + 40, column - 40 : column + 40]
    assert np.abs(near - PALETTE[0]).sum(axis=2).min() < 60


def test_a_film_of_thoughts(film: Film, frames: list[np.ndarray]) -> None:
    assert isinstance(film.card, ThoughtCard)
    assert len(frames) == 1 + 2 * 5 + 20  # before the first decision, five a decision, two seconds of rest
    assert {frame.shape for frame in frames} == {(720, 1280, 3)}
    last = film.recording
    assert last.outcome.startswith("ran out of time after 1.0 s")
    assert [decision.time_s for decision in last.decisions] == [0.0, 0.5]
    first = frames[0].astype(int)
    view = first[LAYOUT.view.top : LAYOUT.view.top + LAYOUT.view.height, LAYOUT.view.left :][:, : LAYOUT.view.width]
    pink = (np.abs(view - PALETTE[0]).sum(axis=2) < 60).sum()
    assert pink > 25  # the globe, which stands ahead, has its mask
    bars = first[BARS.top : BARS.top + BARS.height, BARS.left : BARS.left + BARS.width]
    assert (bars == PALETTE[0]).all(axis=2).sum() > 300


def test_frames_between_decisions_differ_and_the_last_one_rests(frames: list[np.ndarray]) -> None:
    assert all((one != two).any() for one, two in itertools.pairwise(frames[1:11]))
    assert all((frame == frames[-1]).all() for frame in frames[-20:])
