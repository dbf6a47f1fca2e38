"""How fast the studio is, in a real browser without a screen: Chromium driven by Playwright.

first picture   seconds from the command ``wayword studio`` to the arena and the drone's view in the browser
updates         poses shown per second of a flight, and first-person pictures that reached the browser, per visitor

The browser draws with the processor and shares its cores with the studio, so a machine with a screen does better.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wayword.errors import WaywordError
from wayword.intervals import Interval, bootstrap_mean

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = ("--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
_PATIENCE_S = 900.0
# The first-person view is the only picture of this width; its source changes with every new one.
_HAS_VIEW = "() => [...document.images].some(image => image.naturalWidth == 512)"
_COUNT_VIEWS = """() => {
  const view = [...document.images].find(image => image.naturalWidth == 512);
  if (window.watching) window.watching.disconnect();
  window.views = 0;
  window.watching = new MutationObserver(() => { window.views += 1; });
  window.watching.observe(view, {attributes: true, attributeFilter: ["src"]});
}"""


@dataclass(frozen=True)
class StudioSpeed:
    """What was measured."""

    first_picture_s: Interval
    updates_per_s: Interval
    """Poses, one visitor."""
    pictures_per_s: Interval
    """First-person pictures, one visitor."""
    shared_updates_per_s: Interval
    """Poses for each of two visitors who fly at the same time."""


def studio_speed(repeats: int, progress: Callable[[int], None] = lambda done: None) -> StudioSpeed:
    """Measure everything ``repeats`` times."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder, _browser() as browser:
        first = []
        for _ in range(repeats):
            first.append(_first_picture(browser, Path(folder)))
            progress(1)
        alone, pictures, shared = _flights(browser, Path(folder), repeats, progress)
    return StudioSpeed(*(bootstrap_mean(values, rng) for values in (first, alone, pictures, shared)))


@contextmanager
def _browser() -> Iterator[Any]:
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise WaywordError("this needs Playwright: pip install playwright") from None
    if program is None:
        raise WaywordError(f"this needs a browser: install {BROWSERS[0]} (looked for {', '.join(BROWSERS)})")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


def _first_picture(browser: Any, folder: Path) -> float:
    """A fresh process each time, as somebody who types the command has."""
    began = time.monotonic()
    command = [sys.executable, "-c", "from wayword.cli.launch import main; main()", "studio", "--port", "0"]
    with subprocess.Popen([*command, "--db", str(folder / "objects")], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = next(filter(None, (re.search(r"http://\S+", line) for line in process.stdout)), None)
            if address is None:
                raise WaywordError("the studio did not start; try `wayword studio` by itself")
            tab = _tab(browser, address[0])
            took = time.monotonic() - began
            tab.close()
            return took
        finally:
            process.terminate()


def _tab(browser: Any, address: str) -> Any:
    tab = browser.new_page(viewport={"width": 1440, "height": 900})
    tab.set_default_timeout(1000 * _PATIENCE_S)
    tab.goto(address)
    tab.wait_for_function(_HAS_VIEW)
    return tab


def _flights(
    browser: Any, folder: Path, repeats: int, progress: Callable[[int], None]
) -> tuple[list[float], list[float], list[float]]:
    """Updates and pictures per second of one visitor, and updates of each of two."""
    from wayword.studio.server import Studio

    studio = Studio(folder / "objects", port=0)
    try:
        tabs = [_tab(browser, studio.address)]
        _fly(studio, tabs)  # loads and compiles
        alone, pictures = [], []
        for _ in range(repeats):
            tabs[0].evaluate(_COUNT_VIEWS)
            (rate, seconds), *_ = _fly(studio, tabs)
            alone.append(rate)
            pictures.append(tabs[0].evaluate("() => window.views") / seconds)
            progress(1)
        tabs.append(_tab(browser, studio.address))
        shared = []
        for _ in range(repeats):
            shared += [rate for rate, _ in _fly(studio, tabs)]
            progress(1)
        for tab in tabs:
            tab.close()
        return alone, pictures, shared
    finally:
        studio.stop()


def _fly(studio: Any, tabs: list[Any]) -> list[tuple[float, float]]:
    """Press Fly in every tab; updates per second and seconds of each flight, from its first to its last pose."""
    _until(lambda: len(studio.pages) == len(tabs))
    pages, before = studio.pages, [page.updates for page in studio.pages]
    began: dict[int, float] = {}
    ended: dict[int, float] = {}

    def landed() -> bool:
        now = time.monotonic()
        for number, page in enumerate(pages):
            if number not in began and page.updates > before[number]:
                began[number] = now
            elif number in began and number not in ended and not page.player.busy:
                ended[number] = now
        return len(ended) == len(pages)

    # Pressing a button takes a browser without a screen a while: a flight may be half over when the next one begins.
    watch = threading.Thread(target=_until, args=(landed,), daemon=True)
    watch.start()
    for tab in tabs:
        tab.get_by_role("button", name="Fly", exact=True).click()
    watch.join()
    if len(ended) < len(pages):
        raise WaywordError(f"a flight did not end within {_PATIENCE_S:.0f} s")
    seconds = [ended[number] - began[number] for number in range(len(pages))]
    return [((page.updates - count) / s, s) for page, count, s in zip(pages, before, seconds, strict=True)]


def _until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + _PATIENCE_S
    while not holds():
        if time.monotonic() > end:
            raise WaywordError(f"the browser did not get there within {_PATIENCE_S:.0f} s")
        time.sleep(0.01)
