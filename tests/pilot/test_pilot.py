"""The pilot in the hands of somebody else: images and poses in, actions out, and one clear line for every mistake."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

import wayword
from wayword.camera import Camera
from wayword.episodes import PlacedObject
from wayword.errors import WaywordError
from wayword.objects import ObjectDatabase
from wayword.pilot.pilot import SHIPPED_OBJECTS, Action, Pilot, check_instruction, check_pose, open_database
from wayword.policy import Observations
from wayword.policy.fspvn import FsPVN
from wayword.policy.variants import WAYFINDER
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.look import Look
from wayword.sim.render.renderer import Renderer

START = [1.0, 2.0, 0.7, 0.0, 0.0, 0.0]


@pytest.fixture(scope="module")
def pilot() -> Pilot:
    return wayword.load()


@pytest.fixture(scope="module")
def view() -> NDArray[np.uint8]:
    """A globe two metres ahead, as the drone at ``START`` sees it."""
    renderer = Renderer(MeshBank.of_catalogue(["globe"]))
    scene = renderer.scene([PlacedObject("globe", 3.0, 2.0, 0.0)], Look())
    return renderer.render([scene], [START]).rgb[0]


def test_it_acts_as_the_policy_does_and_says_what_it_thinks(pilot: Pilot, view: NDArray[np.uint8]) -> None:
    pilot.reset("stop in front of the globe", "test")
    action = pilot.act(view, START)
    assert 0 <= action.forward_m_s <= 0.7
    assert abs(action.yaw_rate_rad_s) <= 1
    assert action.stop is False
    assert [reference.best for reference in pilot.parsed.references] == ["globe"]
    assert pilot.unknown == ()
    # The globe is on the map, two metres ahead: within a cell or two of (3, 2) on a grid of 0.147 m.
    row, column = np.unravel_index(int(pilot.thought.references[0].argmax()), (32, 32))
    assert np.hypot((column + 0.5) * 4.7 / 32 - 3.0, (row + 0.5) * 4.7 / 32 - 2.0) < 0.3
    policy = WAYFINDER.load()
    policy.reset(["stop in front of the globe"], [open_database("test")])
    expected = policy.act(Observations(np.array([0]), view[None], np.array([START])))[0]
    np.testing.assert_allclose([action.forward_m_s, action.yaw_rate_rad_s], expected[:2], atol=1e-6)


def test_a_new_instruction_forgets_the_old_flight(pilot: Pilot, view: NDArray[np.uint8]) -> None:
    database = open_database("test")
    actions = []
    for _ in range(2):
        pilot.reset("go to the globe", database)
        with pytest.raises(WaywordError, match="not acted yet"):
            _ = pilot.thought
        actions.append([pilot.act(view, START), pilot.act(view, START)])
    assert actions[0] == actions[1]
    np.testing.assert_allclose(pilot.thought.start, [1.0, 2.0, 0.0])


def test_it_says_what_the_database_does_not_know(pilot: Pilot) -> None:
    pilot.reset("go past the unicorn, then go past the unicorn and stop by the globe", "test")
    assert pilot.unknown == ("the unicorn",)
    pilot.reset("go past the unicorn and circle it", "test")  # nor is "it" one more thing that nobody knows
    assert pilot.unknown == ("the unicorn",)


def test_nothing_works_before_an_instruction(view: NDArray[np.uint8]) -> None:
    fresh = Pilot(FsPVN.load())
    with pytest.raises(WaywordError, match="call reset"):
        fresh.act(view, START)
    with pytest.raises(WaywordError, match="call reset"):
        _ = fresh.parsed
    with pytest.raises(WaywordError, match="nowhere"):
        wayword.load("nowhere")
    with pytest.raises(WaywordError, match=r"nowhere\.json: cannot be read"):
        wayword.load(camera="nowhere.json")
    with pytest.raises(WaywordError, match="not float"):
        wayword.load(camera=84.0)  # type: ignore[arg-type]


def test_a_refused_observation_changes_nothing(pilot: Pilot, view: NDArray[np.uint8]) -> None:
    pilot.reset("go to the globe", "test")
    with pytest.raises(WaywordError, match="off the map"):
        pilot.act(view, [9.0, 2.0, 0.7, 0, 0, 0])
    with pytest.raises(WaywordError, match="uint8"):
        pilot.act(view / 255, START)  # type: ignore[arg-type]
    with pytest.raises(WaywordError, match="not acted yet"):
        _ = pilot.thought
    pilot.act(view, START)
    pilot.act(view, [9.0, 2.0, 0.7, 0, 0, 0])  # under way a drone may be anywhere


@pytest.mark.parametrize("pose", [[1, 2, 3], [[1, 2, 3, 4, 5, 6]], [1, 2, 0.7, 0, 0, np.nan], "here", None])
def test_bad_poses(pose: Any) -> None:
    with pytest.raises(WaywordError, match="six finite numbers"):
        check_pose(pose)


@pytest.mark.parametrize(
    ("text", "message"), [("", "has no words"), (" \n", "has no words"), ("?!", "has no words"), (7, "not int")]
)
def test_bad_instructions(text: Any, message: str) -> None:
    with pytest.raises(WaywordError, match=message):
        check_instruction(text)


def test_databases(tmp_path: Path) -> None:
    folder = SHIPPED_OBJECTS / "dev"
    assert open_database("dev").names == open_database(folder).names == open_database(str(folder)).names
    given = ObjectDatabase(open_database("dev").objects[:1])
    assert open_database(given) is given
    with pytest.raises(WaywordError, match="objects build --which seen"):
        open_database("seen")
    with pytest.raises(WaywordError, match="not int"):
        open_database(3)  # type: ignore[arg-type]
    for empty in (tmp_path, ObjectDatabase(())):
        with pytest.raises(WaywordError, match="wayword teach"):
            open_database(empty)
    with pytest.raises(WaywordError, match="nowhere"):
        open_database(tmp_path / "nowhere")


def test_the_python_of_the_documentation_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block of docs/pilot.md, in order, as somebody would type it; and the ten lines of the README."""
    root = Path(__file__).parents[2]
    monkeypatch.chdir(tmp_path)
    renderer = Renderer(MeshBank.of_catalogue(["globe"]), Camera(320, 180))
    for number, yaw in enumerate((0.0, 2.0, 4.0), start=1):
        scene = renderer.scene([PlacedObject("globe", 2.0, 2.0, yaw)], Look())
        photo = renderer.render([scene], [[1.2, 2.0, 0.7, 0.0, 0.0, 0.0]]).rgb[0]
        Image.fromarray(photo).save(tmp_path / f"globe{number}.jpg", quality=95)
    for page in ("docs/pilot.md", "README.md"):
        scope: dict[str, Any] = {}
        blocks = re.findall(r"^```python\n(.*?)^```$", (root / page).read_text(encoding="utf-8"), re.M | re.S)
        assert blocks
        for block in blocks:
            exec(compile(block, page, "exec"), scope)
        assert isinstance(scope["action"], Action)
        np.testing.assert_allclose(scope["action"].values[0], scope["action"].forward_m_s, rtol=1e-6)
    assert scope["success"] == 1.0  # the README's flight arrives, and another seed is another flight
    assert len({scope["world"].reset(seed=seed)[1]["example"] for seed in range(10)}) == 10
