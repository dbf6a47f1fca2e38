"""The pictures of docs/studio.md, made anew: `PYTHONPATH=tests python -m support.studio_pictures docs/images`.

Needs Chromium, Playwright and the extra `studio`. Names of pictures may follow the folder; all are made without.
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image

from support.extras import chromium
from support.studio_tab import ARGUMENTS, choose, close_tab, duck_photo, field, fly, open_tab, press, says, until
from wayword.io import atomic_path
from wayword.studio.page import Page
from wayword.studio.server import Studio

SENTENCE = "go past the watermelon, then stop in front of the globe"
GAP = 20
"""Pixels between two screens in one picture."""


def flight(tab: Any, page: Page, studio: Studio) -> None:
    """One moment of a finished flight."""
    fly(tab, page, SENTENCE)
    knob = tab.get_by_role("slider").first
    knob.focus()
    for _ in range(35):  # tenths of a second
        knob.press("ArrowLeft")


def unknown(tab: Any, page: Page, studio: Studio) -> None:
    """A thing it was never taught."""
    field(tab, "Instruction").fill("fly to the rocket")
    tab.get_by_role("button", name="teach it").wait_for()


def beside(tab: Any, page: Page, studio: Studio) -> None:
    """Two policies after the flight."""
    choose(tab, "Beside it", "average")
    fly(tab, page, SENTENCE)
    tab.get_by_text("Beside it, in blue: average").wait_for()


def teach(tab: Any, page: Page, studio: Studio) -> None:
    """Three photos, their crops, what the object could be taken for."""
    tab.get_by_role("tab", name="Teach").click()
    with tempfile.TemporaryDirectory() as folder:
        photos = [Path(folder) / f"duck {number}.jpg" for number in range(3)]
        for number, photo in enumerate(photos):
            photo.write_bytes(duck_photo(number))
        with tab.expect_file_chooser() as chooser:
            press(tab, "Upload photos")
        chooser.value.set_files([str(photo) for photo in photos])
        for photo in photos:
            says(tab, f"{photo.name}: cut out")
    field(tab, "Name").fill("rubber duck")
    field(tab, "Phrases").fill("the rubber duck\nthe yellow duck")
    press(tab, "What could it be taken for?")
    tab.locator("[data-studio=message]", has_text="like").first.wait_for()
    tab.get_by_role("button", name="Save and fly to it").scroll_into_view_if_needed()
    tab.wait_for_timeout(6000)  # the browser's own notes about uploads go by themselves


def taught(tab: Any, page: Page, studio: Studio) -> None:
    """The flight to what was taught."""
    teach(tab, page, studio)
    press(tab, "Save and fly to it")
    until(lambda: page.updates > 0)
    until(lambda: not page.player.busy)
    tab.get_by_role("tab", name="Fly").click()
    says(tab, "done in ")


def webcam(tab: Any, page: Page, studio: Studio) -> None:
    """The dialog that takes photos."""
    tab.get_by_role("tab", name="Teach").click()
    tab.context.grant_permissions(["camera"])
    press(tab, "Use the webcam")
    tab.get_by_text("fills about half of the picture").wait_for()


def taken(tab: Any) -> Image.Image:
    """The screen, once everything is drawn."""
    tab.wait_for_timeout(3000)
    return Image.open(io.BytesIO(tab.screenshot())).convert("RGB")


def phone(browser: Any, studio: Studio) -> Image.Image:
    """Two screens of a phone beside each other: before and after a flight."""
    tab, page = open_tab(browser, studio, size=(390, 844))
    field(tab, "Instruction").fill(SENTENCE)
    until(lambda: page._tab.instruction.value == SENTENCE)
    before = taken(tab)
    fly(tab, page)
    tab.get_by_role("button", name="Fly", exact=True).scroll_into_view_if_needed()
    after = taken(tab)
    close_tab(tab, studio)
    both = Image.new("RGB", (2 * before.width + GAP, before.height), "white")
    both.paste(before, (0, 0))
    both.paste(after, (before.width + GAP, 0))
    return both


STATES: tuple[Callable[[Any, Page, Studio], None], ...] = (flight, unknown, beside, teach, taught, webcam)


def main(folder: Path, names: list[str]) -> None:
    """Make them; each in a tab of its own."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        film = Path(place) / "duck.mjpeg"
        film.write_bytes(duck_photo(0) * 5)
        fake = ["--use-fake-device-for-media-stream", f"--use-file-for-fake-video-capture={film}"]
        browser = playwright.chromium.launch(executable_path=chromium(), args=[*ARGUMENTS, *fake])
        studio = Studio(Path(place) / "objects", port=0)
        for state in STATES:
            if not names or state.__name__ in names:
                tab, page = open_tab(browser, studio)
                state(tab, page, studio)
                keep(taken(tab), folder / f"studio-{state.__name__}.webp")
                close_tab(tab, studio)
        if not names or "phone" in names:
            keep(phone(browser, studio), folder / "studio-phone.webp")
        browser.close()
        studio.stop()


def keep(picture: Image.Image, path: Path) -> None:
    """Write a picture."""
    with atomic_path(path) as temporary:
        picture.save(temporary, "WEBP", quality=82, method=6)
    print(path, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
