"""``wayword bench studio``: what it needs, and what it measures where there is a browser."""

from __future__ import annotations

import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from wayword.cli.main import run
from wayword.errors import WaywordError
from wayword.studio import speed


@pytest.mark.needs_browser
def test_without_a_browser_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(WaywordError, match="this needs a browser: install chromium"):
        run(["bench", "studio", "--repeats", "2"])


def test_without_playwright_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "playwright.sync_api", None)
    with pytest.raises(WaywordError, match="pip install playwright"):
        run(["bench", "studio", "--repeats", "2"])


@pytest.mark.needs_browser
def test_it_measures_a_page_that_comes_and_flies() -> None:
    with ThreadPoolExecutor(1) as thread:  # Playwright has one loop per thread, and other pages' is still running here
        measured = thread.submit(speed.studio_speed, 2).result()
    assert 0.5 < measured.first_picture_s.mean < 900
    assert 0 < measured.pictures_per_s.mean <= measured.updates_per_s.mean < 25
    assert measured.shared_updates_per_s.n == 4
