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
def browser(driver: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The system's, with a webcam that has the rubber duck before it."""
    from support.studio_tab import ARGUMENTS, PATIENCE_S, duck_photo

    film = tmp_path_factory.mktemp("webcam") / "duck.mjpeg"
    film.write_bytes(duck_photo(0) * 5)
    webcam = ["--use-fake-device-for-media-stream", f"--use-file-for-fake-video-capture={film}"]
    browser = driver.chromium.launch(executable_path=chromium(), args=[*ARGUMENTS, *webcam], timeout=1000 * PATIENCE_S)
    yield browser
    browser.close()


@pytest.fixture
def visit(browser: Any, studio: Studio) -> Iterator[tuple[Any, Page]]:
    """A tab that shows the arena, and its page on the server."""
    from support.studio_tab import close_tab, open_tab

    tab, page = open_tab(browser, studio)
    yield tab, page
    close_tab(tab, studio)
