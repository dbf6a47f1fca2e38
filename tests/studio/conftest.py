from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from support.extras import chromium

if TYPE_CHECKING:
    from wayword.studio.page import Page
    from wayword.studio.server import Studio


@pytest.fixture(scope="session")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """One for all browser tests: networks are loaded once."""
    from wayword.studio.server import Studio

    studio = Studio(tmp_path_factory.mktemp("studio") / "objects", port=0)
    yield studio
    studio.stop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    from support.studio_tab import ARGUMENTS

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS, timeout=300_000)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Any, studio: Studio) -> Iterator[tuple[Any, Page]]:
    """A tab that shows the arena, and its page on the server."""
    from support.studio_tab import close_tab, open_tab

    tab, page = open_tab(browser, studio)
    yield tab, page
    close_tab(tab, studio)
