"""A tab of the studio in a real browser, and what tests do in it. Waits are for conditions, never for seconds.

Set WAYWORD_SHOTS to a folder to keep a screenshot of every state.
"""

from __future__ import annotations

import io
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from wayword.camera import Camera
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.renderer import Renderer
from wayword.studio.page import Page
from wayword.studio.server import Studio

PATIENCE_S = 900.0
"""A busy machine draws a page of software WebGL slowly; a test that waits this long has failed."""
ARGUMENTS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


def open_tab(browser: Any, studio: Studio, query: str = "", size: tuple[int, int] = (1440, 900)) -> tuple[Any, Page]:
    """A tab that shows the arena, and its page on the server."""
    before = set(map(id, studio.pages))
    narrow = size[0] < 1000
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, has_touch=narrow, is_mobile=narrow, accept_downloads=True
    )
    tab = context.new_page()
    tab.set_default_timeout(1000 * PATIENCE_S)
    tab.goto(studio.address + query)
    return tab, settled(tab, studio, before)


def settled(tab: Any, studio: Studio, before: set[int]) -> Page:
    """The new page, once the arena is shown and the first sentence is read."""
    tab.wait_for_function("() => [...document.images].some(image => image.naturalWidth == 512)")
    until(lambda: any(id(page) not in before for page in studio.pages))
    tab.locator("[data-studio=plan]").first.wait_for(state="attached")
    return next(page for page in studio.pages if id(page) not in before)


def close_tab(tab: Any, studio: Studio) -> None:
    """Close a tab and wait until nothing is left of it."""
    count = len(studio.pages)
    tab.context.close()
    until(lambda: len(studio.pages) < count)


def until(holds: Callable[[], Any], seconds: float = PATIENCE_S) -> None:
    """Wait for something on the server."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def shot(tab: Any, name: str) -> None:
    """Keep a picture of what the page shows, if somebody wants them."""
    folder = os.environ.get("WAYWORD_SHOTS")
    if folder:
        tab.wait_for_timeout(2500)
        tab.screenshot(path=str(Path(folder) / f"{name}.png"))


def field(tab: Any, label: str) -> Any:
    """The input beside a label; viser does not tie the two together for all kinds of fields."""
    row = tab.locator("label", has_text=re.compile(f"^{label}$")).locator(
        "xpath=ancestor::*[.//input or .//textarea][1]"
    )
    return row.locator("textarea:not([aria-hidden]), input:not([type=hidden])").first


def press(tab: Any, name: str) -> None:
    """A button by its name."""
    tab.get_by_role("button", name=name, exact=True).click()


def choose(tab: Any, label: str, option: str) -> None:
    """An entry of a list."""
    field(tab, label).click()
    tab.get_by_role("option", name=option).first.click()


def says(tab: Any, text: str) -> Any:
    """Wait for a line for the visitor."""
    line = tab.locator("[data-studio=message]", has_text=text)
    line.first.wait_for()
    return line


def fly(tab: Any, page: Page, sentence: str | None = None) -> None:
    """Fly to the end, four times as fast."""
    if sentence is not None:
        field(tab, "Instruction").fill(sentence)
        until(lambda: page._tab.instruction.value == sentence)
    page.player.speed, before = 4.0, page.session.flight
    press(tab, "Fly")
    until(lambda: page.session.flight is not before and page._afterwards._legs)
    until(lambda: not page.player.busy)
    tab.get_by_role("button", name="Watch again").wait_for()


def on_screen(tab: Any, page: Page, point: tuple[float, float, float]) -> np.ndarray:
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


def drag(tab: Any, start: np.ndarray, end: np.ndarray) -> None:
    """With the mouse, in small steps."""
    tab.mouse.move(*start)
    tab.mouse.down()
    for share in np.linspace(0, 1, 12):
        tab.mouse.move(*(start + share * (end - start)))
        tab.wait_for_timeout(60)
    tab.mouse.up()


def swipe(tab: Any, start: np.ndarray, end: np.ndarray) -> None:
    """With one finger, in small steps."""
    touch = tab.context.new_cdp_session(tab)

    def send(kind: str, *places: np.ndarray) -> None:
        points = [{"x": float(x), "y": float(y)} for x, y in places]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    send("touchStart", start)
    for share in np.linspace(0, 1, 12):
        send("touchMove", start + share * (end - start))
        tab.wait_for_timeout(60)
    send("touchEnd")
    touch.detach()


def stops_of_the_tab_key(tab: Any, first: Any) -> list[str]:
    """What the Tab key reaches after ``first``, by its words or its name."""
    first.focus()
    stops = []
    for _ in range(40):
        tab.keyboard.press("Tab")
        stops.append(
            tab.evaluate("(document.activeElement.innerText || document.activeElement.ariaLabel || '').trim()")
        )
    return stops


def upload(tab: Any, folder: Path, files: dict[str, bytes]) -> None:
    """All at once, as chosen in the dialog."""
    for name, content in files.items():
        (folder / name).write_bytes(content)
    with tab.expect_file_chooser() as chooser:
        press(tab, "Upload photos")
    chooser.value.set_files([str(folder / name) for name in files])


def duck_photo(number: int) -> bytes:
    """A JPEG of the rubber duck, from one of several sides."""
    from wayword.episodes import PlacedObject

    renderer = Renderer(MeshBank.of_catalogue(("rubber duck",)), Camera(320, 240, hfov_deg=40.0))
    scene = renderer.scene([PlacedObject("rubber duck", 2.3, 2.3, 0.9 * number)])
    rgb = renderer.render([scene], [1.3, 2.3, 0.42, 0, 0, 0]).rgb[0]
    buffer = io.BytesIO()
    Image.fromarray(rgb).save(buffer, "JPEG", quality=92)
    return buffer.getvalue()
