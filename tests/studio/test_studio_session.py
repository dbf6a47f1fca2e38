"""The studio without a browser: layouts, legs, playing, and what is written on the page."""

from __future__ import annotations

import itertools
import math
import re
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import ImageColor

from wayword.camera import Camera
from wayword.episodes import PlacedObject, Pose2
from wayword.errors import WaywordError
from wayword.grounding import Grounder
from wayword.mapping import WorldMap
from wayword.mapping.grid import UNOBSERVED
from wayword.objects import ObjectDatabase, TaughtObject
from wayword.pictures import live_views
from wayword.pictures.colours import PALETTE, UNKNOWN_OBJECT
from wayword.pictures.live_views import MAP_PX, VIEW_PX, LiveViews
from wayword.shipped import DEFAULT_GROUNDER
from wayword.sim.render.look import Look
from wayword.sim.render.renderer import Renderer
from wayword.studio import words as studio_words
from wayword.studio.kept_flight import StudioStep
from wayword.studio.layout import StudioLayout, corpus_example, draw_layout
from wayword.studio.painter import Painter
from wayword.studio.player import Player, pose_at
from wayword.studio.session import FIRST_INSTRUCTION, Choices, Session
from wayword.studio.stage import Drone
from wayword.studio.words import boxes_html, instruction_html, message_html, references_html
from wayword.studio.workshop import Workshop, merged

LAYOUT = StudioLayout(
    "mine", (PlacedObject("globe", 2.0, 2.0, 0.0), PlacedObject("strawberry", 3.5, 2.0, 0.0)), Pose2(1.0, 1.0, 0.5)
)


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop(tmp_path_factory.mktemp("studio") / "objects")


# Layouts -------------------------------------------------------------------------------------------------


def test_an_object_goes_where_it_is_dragged_and_stays_on_the_field() -> None:
    moved = LAYOUT.moved(0, 2.5, 9.0)
    assert (moved.objects[0].x, moved.objects[0].y) == (2.5, 4.5)
    assert moved.objects[1] == LAYOUT.objects[1]
    assert moved.by_hand
    assert moved.title == "mine, changed by hand" == moved.moved(1, 3.0, 1.0).title


@pytest.mark.parametrize(("x", "y", "why"), [(3.4, 2.1, "strawberry"), (1.1, 1.1, "drone"), (math.nan, 1.0, "number")])
def test_an_object_cannot_be_dragged_into_something(x: float, y: float, why: str) -> None:
    with pytest.raises(WaywordError, match=why):
        LAYOUT.moved(0, x, y)


def test_a_seed_draws_the_same_layout_with_what_is_wanted() -> None:
    first, second = (draw_layout(5, ["globe"], ["globe", "strawberry"]) for _ in range(2))
    assert first.objects == second.objects
    assert first.start == second.start
    assert "globe" in first.names
    with pytest.raises(WaywordError, match="seed -1"):
        draw_layout(-1, [], [])


# Sessions ------------------------------------------------------------------------------------------------


def test_a_flight_is_a_sequence_of_legs_with_thoughts(workshop: Workshop) -> None:
    session = Session(workshop)
    session.begin(FIRST_INSTRUCTION)
    assert {"watermelon", "globe"} <= set(session.layout.names)
    assert session.understood is not None
    assert [part.words for part in session.understood.parts] == ["pass the watermelon", "go to the front of the globe"]
    legs = [session.next_leg()]
    while not legs[-1].ended:
        legs.append(session.next_leg())
    assert [leg.number for leg in legs] == list(range(len(legs)))
    assert len(legs) > 3
    for before, after in itertools.pairwise(legs):  # no jump from one to the next
        np.testing.assert_allclose(before.poses[-1], after.poses[0], atol=1e-9)
    assert legs[0].thought is not None
    assert legs[0].thought.parsed == session.parsed
    outcome = legs[-1].outcome
    assert outcome is not None
    assert outcome.startswith("done in ")
    assert "stopped before the globe: yes" in outcome
    assert legs[-1].success is True
    with pytest.raises(WaywordError, match="press Fly"):
        session.next_leg()


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
def test_the_first_sentence_is_done_in_whatever_layout_is_drawn_for_it(workshop: Workshop, seed: int) -> None:
    """Seeds 0 to 39 were flown once: 40 of 40."""
    session = Session(workshop, Choices(seed=seed))
    layout = session.layout
    session.begin(FIRST_INSTRUCTION)
    assert session.layout is layout  # what the page opens with is drawn for the sentence it opens with
    leg = session.next_leg()
    while not leg.ended:
        leg = session.next_leg()
    assert leg.success, leg.outcome


def test_the_oracle_flies_examples_and_nothing_else(workshop: Workshop) -> None:
    session = Session(workshop, Choices(policy="oracle", database="dev", seed=3))
    with pytest.raises(WaywordError, match="press Next example"):
        session.begin("stop at the robot")
    instruction = session.take_example()
    session.begin(instruction)
    leg = session.next_leg()
    while not leg.ended:
        leg = session.next_leg()
    assert leg.success
    assert leg.outcome is not None
    assert leg.outcome.startswith("arrived: ")
    # Something was moved: the demonstration no longer counts.
    session.layout = session.layout.moved(0, *_free_place(session.layout))
    with pytest.raises(WaywordError, match="press Next example"):
        session.begin(instruction)


def _free_place(layout: StudioLayout) -> tuple[float, float]:
    places = [(x, y) for x in np.arange(0.5, 4.3, 0.2) for y in np.arange(0.5, 4.3, 0.2)]
    taken = [(item.x, item.y) for item in layout.objects] + [(layout.start.x, layout.start.y)]
    return max(places, key=lambda place: min(math.dist(place, other) for other in taken))


def test_the_next_example_is_another_one_each_time() -> None:
    titles = [corpus_example("test", seed).title for seed in range(217)]
    assert len(set(titles)) == 217
    assert corpus_example("test", 217).title == titles[0]


def test_another_camera_flies_and_is_shown(tmp_path: Path, workshop: Workshop) -> None:
    camera = Camera(hfov_deg=60.0, mount_pitch_deg=40.0)
    other = Workshop(tmp_path / "none", camera=camera)
    session = Session(other)
    session.begin(FIRST_INSTRUCTION)
    leg = session.next_leg()
    assert leg.thought is not None
    world = WorldMap(0, camera)
    world.update(np.zeros((0, 4), np.float32), [], np.zeros((0, 0)), leg.thought.pose)
    np.testing.assert_array_equal(leg.thought.coverage, world.coverage)
    view, usual = (
        LiveViews(session.bank, session.situation, each.camera).view(leg.view.pose).astype(int)
        for each in (other, workshop)
    )
    assert abs(view - usual).mean() > 5
    # Its picture is the one the policy decided about, only sharper.
    renderer = Renderer(session.bank, camera)
    seen = renderer.render([renderer.scene(session.layout.objects, Look())], [leg.view.pose]).rgb[0].astype(int)
    assert abs(view.reshape(72, 4, 128, 4, 3).mean(axis=(1, 3)) - seen).mean() < 5
    with pytest.raises(WaywordError, match="the networks take 16:9"):
        Workshop(tmp_path / "none", camera=Camera(640, 480))


def test_other_segmentation_weights_see_on_the_page(tmp_path: Path, workshop: Workshop) -> None:
    other = Workshop(tmp_path / "none", grounder="lab")
    assert (other.grounder.config, workshop.grounder.config) == (
        Grounder.load("lab").config,
        Grounder.load(DEFAULT_GROUNDER).config,
    )
    assert other.grounder.config != workshop.grounder.config


def test_true_masks_show_every_object_in_view(workshop: Workshop) -> None:
    session = Session(workshop, Choices(masks="true"))
    session.begin(FIRST_INSTRUCTION)
    thought = session.next_leg().thought
    assert thought is not None
    assert set(np.unique(thought.grounding.p_object_of_box)) <= {0.0, 1.0}
    with pytest.raises(WaywordError, match="true masks are for Wayword and FsPVN themselves"):
        workshop.policy("fspvn_noi", "true")
    assert "fspvn_bc" not in workshop.policies or workshop.policy("fspvn_bc", "predicted")


def test_a_layout_by_hand_is_kept_and_what_it_lacks_is_said(workshop: Workshop) -> None:
    session = Session(workshop)
    session.layout = LAYOUT.moved(0, 2.2, 2.0)
    session.begin("go to the fire truck")
    assert session.layout.names == LAYOUT.names
    assert any("not in this layout: fire truck" in note for note in session.notes)
    with pytest.raises(WaywordError, match='I do not know "unicorn"; I know fire truck'):
        session.begin("go to the fire truck and the unicorn")
    session.layout = replace(session.layout, by_hand=False)
    session.begin("go to the fire truck")
    assert "fire truck" in session.layout.names


@pytest.mark.parametrize(("text", "why"), [("  ", "has no words"), ("go " * 500, "1500 characters")])
def test_instructions_that_cannot_be_flown_are_refused(workshop: Workshop, text: str, why: str) -> None:
    with pytest.raises(WaywordError, match=why):
        Session(workshop).begin(text)


def test_two_visitors_do_not_disturb_each_other(workshop: Workshop) -> None:
    alone = Session(workshop, Choices(seed=1))
    alone.begin(FIRST_INSTRUCTION)
    expected = [alone.next_leg().poses for _ in range(4)]
    first, second = Session(workshop, Choices(seed=1)), Session(workshop, Choices(seed=2))
    first.begin(FIRST_INSTRUCTION)
    second.begin("stop at the strawberry")
    for wanted in expected:
        np.testing.assert_array_equal(first.next_leg().poses, wanted)
        second.next_leg()


def test_what_was_taught_from_photos_alone_stands_in_the_arena(workshop: Workshop) -> None:
    photo = np.zeros((40, 40, 3), np.uint8)
    photo[:20] = (250, 20, 20)
    own = ObjectDatabase((TaughtObject("odd thing", (photo,), ("the odd thing",)),))
    bank, models = workshop.bank(merged(own, workshop.database("test")))
    assert models["odd thing"] == "odd thing"
    assert models["globe"] == "globe"
    situation = replace(Session(workshop).situation, objects=(PlacedObject("odd thing", 2.0, 2.0, 0.0),))
    view = LiveViews(bank, situation, Camera()).view(np.array([1.0, 2.0, 0.4, 0, 0, 0])).astype(int)
    red = (view[..., 0] > 150) & (view[..., 1] < 80)
    rows = np.flatnonzero(red.any(axis=1))
    dark = np.flatnonzero(view[:, VIEW_PX[0] // 2].sum(axis=1) < 40)
    assert len(rows) > 10
    assert rows[-1] < dark.mean()  # the photo is upright: red above black


# Playing -------------------------------------------------------------------------------------------------


class Watcher:
    """Writes down what a player shows."""

    def __init__(self) -> None:
        self.legs: list[int] = []
        self.poses: dict[int, list[float]] = {}
        self.states: list[str] = []
        self.end: tuple[StudioStep | None, Exception | None] | None = None
        self.paused, self.moved = threading.Event(), threading.Event()

    def show_leg(self, leg: StudioStep) -> None:
        self.legs.append(leg.number)

    def show_pose(self, leg: StudioStep, pose: NDArray[np.float64], share: float) -> None:
        self.poses.setdefault(leg.number, []).append(share)
        self.moved.set()

    def show_end(self, leg: StudioStep | None, problem: Exception | None) -> None:
        self.end = leg, problem

    def show_state(self, state: str) -> None:
        self.states.append(state)
        if state == "paused":
            self.paused.set()


def _legs(workshop: Workshop) -> Session:
    session = Session(workshop, Choices(policy="average"))
    session.begin(FIRST_INSTRUCTION)
    return session


def _wait(player: Player) -> None:
    assert player._thread is not None
    player._thread.join(60)
    assert not player.busy


def test_a_player_shows_every_decision_and_ten_poses_a_second(workshop: Workshop) -> None:
    watcher = Watcher()
    player = Player(watcher)
    player.play(_legs(workshop).next_leg)
    _wait(player)
    assert watcher.end is not None
    last, problem = watcher.end
    assert problem is None
    assert last is not None
    assert last.ended
    assert watcher.legs == list(range(last.number + 1))
    # However slow the machine, half a second of flight is at least five updates of the view.
    assert all(len(shares) >= 5 and shares == sorted(shares) for n, shares in watcher.poses.items() if n < last.number)
    assert watcher.states == ["flying", "idle"]


def test_step_shows_one_decision_and_stop_leaves_no_thread(workshop: Workshop) -> None:
    watcher = Watcher()
    player = Player(watcher)
    before = threading.active_count()
    player.play(_legs(workshop).next_leg, stepwise=True)
    assert watcher.paused.wait(30)
    assert watcher.poses.keys() == {0}
    watcher.paused.clear()
    player.step()
    assert watcher.paused.wait(30)
    assert watcher.poses.keys() == {0, 1}
    assert player.paused
    player.close()
    assert threading.active_count() == before
    assert watcher.end == (None, None)
    player.play(_legs(workshop).next_leg)  # closed for good
    assert not player.busy


def test_a_step_after_a_pause_at_the_end_of_a_decision_shows_the_next_one(workshop: Workshop) -> None:
    class PausesAtTheEnd(Watcher):
        def show_pose(self, leg: StudioStep, pose: NDArray[np.float64], share: float) -> None:
            super().show_pose(leg, pose, share)
            if share == 1.0 and leg.number == 0:
                player.pause()

    watcher = PausesAtTheEnd()
    player = Player(watcher)
    player.play(_legs(workshop).next_leg)
    assert watcher.paused.wait(30)
    assert watcher.poses.keys() == {0}
    watcher.paused.clear()
    player.step()
    assert watcher.paused.wait(30)
    assert watcher.poses[1][-1] == 1.0
    assert watcher.poses.keys() == {0, 1}
    player.close()


def test_a_problem_in_flight_ends_it_and_is_told() -> None:
    def broken() -> StudioStep:
        raise WaywordError("no fuel")

    watcher = Watcher()
    player = Player(watcher)
    player.play(broken)
    _wait(player)
    assert watcher.end is not None
    assert str(watcher.end[1]) == "no fuel"
    assert watcher.states[-1] == "idle"


def test_speeds_stay_within_their_range() -> None:
    player = Player(Watcher())
    assert [player.faster() for _ in range(4)] == [2.0, 4.0, 4.0, 4.0]
    assert [player.faster(-1) for _ in range(6)][-2:] == [0.25, 0.25]


def test_poses_between_turn_the_short_way() -> None:
    poses = np.zeros((2, 6))
    poses[:, 0], poses[:, 5] = (1.0, 2.0), (3.1, -3.1)
    half = pose_at(poses, 0.5)
    assert half[0] == 1.5
    assert abs(abs(half[5]) - math.pi) < 1e-9
    np.testing.assert_array_equal(pose_at(poses[:1], 0.7), poses[0])


def test_a_painter_leaves_out_what_it_has_no_time_for() -> None:
    begun, go, done = threading.Event(), threading.Event(), []
    painter = Painter(lambda error: done.append(str(error)))

    def slow() -> None:
        begun.set()
        go.wait(30)

    painter.ask(slow)
    assert begun.wait(30)
    finished = threading.Event()
    painter.ask(lambda: done.append("old"))
    painter.ask(lambda: (done.append("new"), finished.set())[0])
    go.set()
    assert finished.wait(30)
    painter.close()
    assert done == ["new"]


# The page's pictures and words ---------------------------------------------------------------------------


def test_pictures_show_the_thought(workshop: Workshop) -> None:
    session = Session(workshop, Choices(masks="true"))
    session.begin(FIRST_INSTRUCTION)
    leg = session.next_leg()
    pictures = LiveViews(session.bank, session.situation, workshop.camera)
    pictures.start(session.parsed)
    before = pictures.view(leg.view.pose), pictures.map(leg.view.pose, leg.path), pictures.ground()
    assert leg.thought is not None
    pictures.think(leg.thought, leg.view)
    after = pictures.view(leg.view.pose), pictures.map(leg.view.pose, leg.path), pictures.ground(leg.thought)
    assert before[0].shape == (VIEW_PX[1], VIEW_PX[0], 3)
    assert before[1].shape == (MAP_PX, MAP_PX, 3)
    for old, new in zip(before[1:], after[1:], strict=True):
        assert (old != new).mean() > 0.2
    shown = leg.thought.grounding.masks.max() >= 0.02
    assert (before[0] != after[0]).any() == shown


def test_boxes_in_the_view_have_the_numbers_of_the_list(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(workshop)
    session.begin(FIRST_INSTRUCTION)
    leg = session.next_leg()
    assert leg.thought is not None
    assert session.parsed is not None
    drawings: list[tuple[np.ndarray, list[str]]] = []
    monkeypatch.setattr(live_views, "draw_boxes", lambda picture, boxes, texts, **_: drawings.append((boxes, texts)))
    pictures = LiveViews(session.bank, session.situation, workshop.camera)
    pictures.start(session.parsed)
    pictures.think(leg.thought, leg.view)
    pictures.view(leg.view.pose)
    ((boxes, numbers),) = drawings
    rows = boxes_html(leg.thought, session.database.names, session.parsed)
    assert re.findall(r"box (\d+), object", rows) == numbers == [str(k + 1) for k in range(len(boxes))]
    assert numbers


def test_a_line_leads_from_the_drone_to_the_ground() -> None:
    """Trail and beliefs lie at different heights; the line says which spot the drone is over."""
    scene = MagicMock()
    scene.add_frame.side_effect = lambda name, **_: SimpleNamespace(name=name, position=None, wxyz=None)
    drone = Drone(scene, "/drone", (255, 255, 0), Camera())
    name, line, *_ = scene.add_line_segments.call_args.args
    assert name == "/drone-below/line"
    np.testing.assert_allclose(line[0], [[0, 0, 0], [0, 0, 0.7]], atol=1e-6)
    drone.set_pose(np.array([1.0, 2.0, 0.7, 0.0, 0.0, 0.5]))
    assert drone._below.position == (1.0, 2.0, 0.0)


def contrast(one: tuple[int, int, int], other: tuple[int, int, int]) -> float:
    """As WCAG 2 has it: from 1 to 21, and 4.5 is enough for small letters."""

    def light(colour: tuple[int, int, int]) -> float:
        shares = np.array(colour) / 255
        linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


def test_words_can_be_read_on_their_ground() -> None:
    assert contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    assert contrast((119, 119, 119), (255, 255, 255)) == pytest.approx(4.48, abs=0.01)  # of the standard's own examples
    sheet = (Path(studio_words.__file__).parent / "page.css").read_text(encoding="utf-8")
    pairs = re.findall(r"background: (#\w+); color: (#\w+)", sheet)
    assert len(pairs) >= 4
    assert all(contrast(ImageColor.getrgb(ground), ImageColor.getrgb(ink)) >= 4.5 for ground, ink in pairs)
    card = ImageColor.getrgb("#1f2430")  # behind words on a light page; a dark one is darker
    for colour in (*PALETTE, UNKNOWN_OBJECT, *map(ImageColor.getrgb, ("#8fa3bf", "#3fbf74", "#ff8a7a"))):
        assert contrast(card, colour) >= 4.5


def test_words_are_escaped_and_coloured(workshop: Workshop) -> None:
    session = Session(workshop)
    hostile = session.understand("stop <b>at</b> the globe & <script>alert(1)</script>").parsed
    assert hostile is not None
    written = instruction_html(hostile) + references_html(hostile)
    assert "<script" not in written
    assert "&lt;b&gt;at" in written
    assert "#ff5ece" in written  # the first reference's colour
    assert "globe" in written
    session.begin("stop <b>at</b> the globe <script>")
    assert session.parsed is not None
    thought = session.next_leg().thought
    assert thought is not None
    assert "not yet observed" in boxes_html(thought, session.database.names, session.parsed)
    nothing_planned = np.zeros_like(thought.distributions)
    nothing_planned[:, UNOBSERVED] = 1.0
    arrived = replace(thought, action=np.array([0.0, 0.0, 1.0]), distributions=nothing_planned)
    assert "not yet observed" not in boxes_html(arrived, session.database.names, session.parsed)
    assert "<img" not in message_html('<img src=x onerror="x">')


def test_the_folder_of_what_was_taught_is_not_made_by_looking(tmp_path: Path) -> None:
    workshop = Workshop(tmp_path / "none")
    assert workshop.databases == ("test", "dev")
    assert not (tmp_path / "none").exists()


def test_another_database_brings_its_objects_along(workshop: Workshop) -> None:
    session = Session(workshop)
    session.choose(Choices(database="dev"))
    assert set(session.layout.names) & set(workshop.database("dev").names)
    session.layout = LAYOUT.moved(0, 2.2, 2.0)
    session.choose(Choices(database="test", seed=7))
    assert session.layout.names == LAYOUT.names  # made by hand
    session.draw_layout("stop at the flower pot")
    assert session.layout.title == "seed 7"
    assert "flower pot" in session.layout.names
    with pytest.raises(WaywordError, match="no database 'mine'"):
        session.choose(Choices(database="mine"))
    assert session.choices.database == "test"
