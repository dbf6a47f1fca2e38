"""The page under a finger, in Chromium with a phone's screen and touch switched on: a device it is not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from support.studio_tab import close_tab, duck_photo, on_screen, open_tab, swipe, until, upload

if TYPE_CHECKING:
    from wayword.studio.page import Page
    from wayword.studio.server import Studio

pytestmark = pytest.mark.needs_browser
Visit = tuple[Any, "Page"]


@pytest.fixture
def phone(browser: Any, studio: Studio) -> Iterator[Visit]:
    """A tab on a screen that is held upright."""
    tab, page = open_tab(browser, studio, size=(390, 844))
    yield tab, page
    close_tab(tab, studio)


def test_one_finger_turns_the_arena(phone: Visit) -> None:
    tab, page = phone
    before = page._client.camera.position.copy()
    swipe(tab, np.array([80.0, 40.0]), np.array([280.0, 40.0]))  # over the arena, where nothing can be dragged
    until(lambda: np.linalg.norm(page._client.camera.position - before) > 0.2)
    assert not page.session.layout.by_hand


def test_the_drone_is_turned_with_a_finger(phone: Visit) -> None:
    tab, page = phone
    start, eye = page.session.layout.start, page._client.camera.position.copy()
    away = np.array([np.cos(start.yaw), np.sin(start.yaw)])
    tip, aside = 0.5 * away, 0.6 * np.array([-away[1], away[0]])
    swipe(tab, *(on_screen(tab, page, (start.x + dx, start.y + dy, 0.7)) for dx, dy in (tip, aside)))
    until(lambda: "the drone: turned" in page._tab.message.content)
    turn = page.session.layout.start.yaw - start.yaw
    assert abs((turn - np.pi / 2 + np.pi) % (2 * np.pi) - np.pi) < 0.3
    np.testing.assert_allclose(page._client.camera.position, eye, atol=1e-3)


def test_a_crop_is_mended_with_a_finger(phone: Visit, tmp_path: Path) -> None:
    tab, page = phone
    lesson = page._teach.lesson
    tab.get_by_role("tab", name="Teach").click()
    upload(tab, tmp_path, {"a.jpg": duck_photo(0)})
    tab.get_by_alt_text("photo 1 with the box").wait_for()
    photo = tab.locator("[data-studio=crop]")
    photo.evaluate("photo => photo.scrollIntoView({block: 'center', behavior: 'instant'})")
    box = photo.bounding_box()
    corner, size = np.array([box["x"], box["y"]]), np.array([box["width"], box["height"]])
    swipe(tab, corner + 0.25 * size, corner + np.array([0.75, 0.5]) * size)
    until(lambda: lesson.exemplars[0].cropped_by == "box")
    np.testing.assert_allclose(lesson.shares(0), (0.25, 0.25, 0.75, 0.5), atol=0.03)
