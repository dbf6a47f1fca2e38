"""The studio in a real browser: type, fly, see the drone arrive, upload, drag. Needs Chromium, Playwright and viser.

Set WAYWORD_SHOTS to a folder to keep a screenshot of every state.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("viser")
playwright_api = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
if CHROMIUM is None:
    pytest.skip("no Chromium on this machine", allow_module_level=True)

from wayword.objects import ObjectDatabase  # noqa: E402
from wayword.sim.render.bank import MeshBank  # noqa: E402
from wayword.sim.render.camera import CameraConfig  # noqa: E402
from wayword.sim.render.renderer import Renderer  # noqa: E402
from wayword.studio.server import Studio  # noqa: E402
from wayword.studio.stage import quaternion  # noqa: E402

PATIENCE_MS = 120_000
ARGUMENTS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    studio = Studio(tmp_path_factory.mktemp("studio") / "objects", port=0)
    yield studio
    studio.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def tab(browser: Any, studio: Studio) -> Iterator[Any]:
    """A tab that shows the arena."""
    tab = browser.new_page(viewport={"width": 1440, "height": 900})
    tab.set_default_timeout(PATIENCE_MS)
    _open(tab, studio)
    yield tab
    tab.close()
    _until(lambda: not studio.pages)


def _open(tab: Any, studio: Studio) -> None:
    tab.goto(studio.address)
    tab.get_by_role("button", name="Draw layout").wait_for()
    tab.wait_for_function("() => [...document.images].some(image => image.naturalWidth == 512)")
    warning = tab.locator(".mantine-Notification-closeButton")  # of viser, about software rendering
    while warning.count():
        warning.first.click()
        tab.wait_for_timeout(300)


def _until(holds: Callable[[], bool], seconds: float = PATIENCE_MS / 1000) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.1)


def _shot(tab: Any, name: str) -> None:
    folder = os.environ.get("WAYWORD_SHOTS")
    if folder:
        tab.wait_for_timeout(2500)
        tab.screenshot(path=str(Path(folder) / f"{name}.png"))


def _field(tab: Any, label: str) -> Any:
    """The input beside a label; viser does not tie the two together for all kinds of fields."""
    row = tab.locator("label", has_text=re.compile(f"^{label}$")).locator(
        "xpath=ancestor::*[.//input or .//textarea][1]"
    )
    return row.locator("textarea:not([aria-hidden]), input:not([type=hidden])").first


def _says(tab: Any, text: str) -> Any:
    line = tab.locator("[data-studio=message]", has_text=text)
    line.first.wait_for()
    return line


def test_type_fly_pause_step_and_see_it_arrive(tab: Any, studio: Studio) -> None:
    _shot(tab, "ready")
    page = studio.pages[0]
    _field(tab, "Instruction").fill("go past the strawberry and stop in front of the globe")
    tab.get_by_role("button", name="Fly", exact=True).click()
    words = tab.locator("[data-studio=instruction]")
    words.wait_for()
    assert words.locator("b").all_inner_texts() == ["the", "strawberry", "the", "globe"]
    colours = {words.locator("b").nth(k).evaluate("e => getComputedStyle(e).color") for k in range(4)}
    assert len(colours) == 2  # one for each object
    tab.get_by_text("ALIGN(b, r)").wait_for()
    tab.get_by_role("button", name="Pause").click()
    _says(tab, "paused")
    _shot(tab, "paused")
    before = page.updates
    time.sleep(0.5)
    assert page.updates - before <= 1
    tab.get_by_role("button", name="Step").click()
    _until(lambda: page.updates > before + 3)
    _until(lambda: page.player.paused)
    tab.get_by_role("button", name="Faster").click()
    tab.get_by_role("button", name="Pause").click()
    _says(tab, "speed x 2")
    _says(tab, "m from the ")
    _shot(tab, "arrived")
    assert not page.player.busy


def test_an_example_is_flown_by_the_oracle_and_scored(tab: Any, studio: Studio) -> None:
    _field(tab, "Policy").click()
    tab.get_by_role("option", name="oracle").click()
    tab.get_by_role("button", name="Fly", exact=True).click()
    _says(tab, "press Example first")
    tab.get_by_role("button", name="Example").click()
    _says(tab, "layout: test-")
    for _ in range(2):
        tab.get_by_role("button", name="Faster").click()
    tab.get_by_role("button", name="Fly", exact=True).click()
    _says(tab, "arrived: stopped")
    _shot(tab, "oracle")


def test_drag_an_object(tab: Any, studio: Studio) -> None:
    page = studio.pages[0]
    layout = page.session.layout
    number = max(range(len(layout.objects)), key=lambda k: -layout.objects[k].y)  # nothing stands before it
    item = layout.objects[number]
    target = min(item.x + 0.5, 4.4) if item.x < 2.3 else max(item.x - 0.5, 0.3)
    start, end = (_on_screen(tab, page, (x, item.y, 0.1)) for x in (item.x, target))
    tab.mouse.move(*start)
    tab.mouse.down()
    for share in np.linspace(0, 1, 12):
        tab.mouse.move(*(start + share * (end - start)))
        tab.wait_for_timeout(60)
    tab.mouse.up()
    tab.locator("[data-studio=message]", has_text="moved").or_(
        tab.locator("[data-studio=message]", has_text="too close")
    ).first.wait_for()
    _shot(tab, "dragged")
    after = page.session.layout
    if after.by_hand:
        assert abs(after.objects[number].x - target) < 0.15
        assert abs(after.objects[number].y - item.y) < 0.15
    else:  # refused: everything is where it was
        assert after is layout


def _on_screen(tab: Any, page: Any, point: tuple[float, float, float]) -> np.ndarray:
    """Where a point of the arena is on the page."""
    camera = page._client.camera
    forward = camera.look_at - camera.position
    forward = forward / np.linalg.norm(forward)
    right = np.cross(forward, [0, 0, 1.0])
    right /= np.linalg.norm(right)
    axes = np.stack([right, np.cross(forward, right), forward])
    x, y, z = axes @ (np.array(point) - camera.position)
    box = tab.locator("canvas").first.bounding_box()
    focal = box["height"] / 2 / np.tan(camera.fov / 2)
    return np.array([box["x"] + box["width"] / 2 + focal * x / z, box["y"] + box["height"] / 2 + focal * y / z])


def test_upload_teach_and_fly_to_it(tab: Any, studio: Studio, tmp_path: Path) -> None:
    page = studio.pages[0]
    tab.get_by_role("tab", name="Teach").click()
    for name, content, answer in (
        ("cut.jpg", _photo(0)[:900], "cut.jpg: is damaged"),
        ("page.png", b"<html></html>", "page.png: is text"),
        ("huge.jpg", b"\xff\xd8\xff" + bytes(65 * 2**20), "huge.jpg: has 65 MB; at most 64 MB are taken"),
    ):
        _upload(tab, tmp_path / name, content)
        _says(tab, answer)
    assert not studio.workshop.folder.exists()
    for number in range(3):
        _upload(tab, tmp_path / f"duck {number}.jpg", _photo(number))
        _says(tab, f"duck {number}.jpg: cut out")
    _field(tab, "Name").fill("rubber duck")
    _field(tab, "Phrases").fill("the rubber duck\nthe yellow duck")
    tab.get_by_role("button", name="What could it be taken for?").click()
    tab.locator("[data-studio=message]", has_text="like").first.wait_for()
    _shot(tab, "teach")
    tab.get_by_role("button", name="Save and fly to it").click()
    _says(tab, "rubber duck: saved")
    _until(lambda: page.player.busy or page.updates > 0)
    assert ObjectDatabase.load(studio.workshop.folder).names == ("rubber duck",)
    assert "rubber duck" in page.session.layout.names
    tab.get_by_role("tab", name="Fly").click()
    _says(tab, "m from the ")
    _shot(tab, "taught")


def _upload(tab: Any, path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with tab.expect_file_chooser() as chooser:
        tab.get_by_role("button", name="Upload a photo").click()
    chooser.value.set_files(str(path))


def _photo(number: int) -> bytes:
    """A JPEG of the rubber duck, from one of several sides."""
    from wayword.episodes import PlacedObject

    renderer = Renderer(MeshBank.of_catalogue(("rubber duck",)), CameraConfig(320, 240, hfov_deg=40.0))
    scene = renderer.scene([PlacedObject("rubber duck", 2.3, 2.3, 0.9 * number)])
    rgb = renderer.render([scene], [1.3, 2.3, 0.42, 0, 0, 0]).rgb[0]
    buffer = io.BytesIO()
    Image.fromarray(rgb).save(buffer, "JPEG", quality=92)
    return buffer.getvalue()


def test_two_visitors_and_a_tab_closed_in_flight(browser: Any, studio: Studio, tab: Any) -> None:
    other = browser.new_page(viewport={"width": 1200, "height": 800})
    other.set_default_timeout(PATIENCE_MS)
    _open(other, studio)
    first, second = studio.pages
    other.get_by_role("button", name="Slower").click()
    other.get_by_role("button", name="Fly", exact=True).click()
    _until(lambda: second.updates > 0)
    assert first.updates == 0  # each sees only their own flight
    other.close()
    _until(lambda: len(studio.pages) == 1)
    _until(lambda: not second.player.busy)
    _until(lambda: _threads("wayword-studio") == 0)
    _until(lambda: _threads("wayword-studio-painter") == 1)  # of the visitor who is still there


def _threads(name: str) -> int:
    return sum(thread.name == name for thread in threading.enumerate())


def test_rotations_are_those_of_the_matrix() -> None:
    np.testing.assert_allclose(quaternion(np.eye(3)), [1, 0, 0, 0])
