"""The studio in a real browser: type, fly, see the drone arrive, pause, drag. Needs Chromium, Playwright and viser."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from support.studio_tab import (
    PATIENCE_S,
    choose,
    close_tab,
    drag,
    field,
    fly,
    on_screen,
    open_tab,
    press,
    says,
    shot,
    until,
)
from wayword.studio.server import Studio
from wayword.studio.stage import quaternion

if TYPE_CHECKING:
    from wayword.studio.page import Page

pytestmark = pytest.mark.needs_browser
Visit = tuple[Any, "Page"]


def test_type_fly_pause_step_and_see_it_arrive(visit: Visit) -> None:
    tab, page = visit
    shot(tab, "ready")
    field(tab, "Instruction").fill("go past the strawberry and stop in front of the globe")
    press(tab, "Fly")
    until(lambda: page.updates > 0)
    words = tab.locator("[data-studio=instruction]")
    words.locator("b", has_text="strawberry").wait_for()
    assert words.locator("b").all_inner_texts() == ["the", "strawberry", "the", "globe"]
    colours = {words.locator("b").nth(k).evaluate("e => getComputedStyle(e).color") for k in range(4)}
    assert len(colours) == 2  # one for each object
    tab.get_by_text("ALIGN(b, r)").wait_for()
    press(tab, "Pause")
    says(tab, "paused")
    shot(tab, "paused")
    until(lambda: page.player.paused)
    before = page.updates
    assert not page._closing.wait(0.5)
    assert page.updates - before <= 1
    press(tab, "Step")
    until(lambda: page.updates > before and page.player.paused)  # to the end of the decision it was paused in
    before = page.updates
    press(tab, "Step")
    until(lambda: page.updates >= before + 5 and page.player.paused)  # a whole decision, at least five updates
    press(tab, "Faster")
    press(tab, "Pause")
    says(tab, "speed x 2")
    until(lambda: not page.player.busy)
    says(tab, "done in ")
    plan = tab.locator("[data-studio=plan] li")
    assert all(": " in text and ", " in text for text in plan.all_inner_texts())  # each part with its verdict
    assert [part.get_attribute("data-done") for part in plan.all()] == ["True", "True"]
    shot(tab, "arrived")


def test_an_example_is_flown_by_the_oracle_and_scored(visit: Visit) -> None:
    tab, page = visit
    choose(tab, "Policy", "oracle")
    until(lambda: page.session.choices.policy == "oracle")
    press(tab, "Fly")
    says(tab, "press Next example first")
    press(tab, "Next example")
    until(lambda: page.session.layout.path is not None)
    fly(tab, page)
    says(tab, "arrived: stopped")
    shot(tab, "oracle")


def test_drag_an_object_the_drone_and_its_heading(visit: Visit) -> None:
    tab, page = visit
    layout = page.session.layout
    number = max(range(len(layout.objects)), key=lambda k: -layout.objects[k].y)  # nothing stands before it
    item = layout.objects[number]
    target = min(item.x + 0.5, 4.4) if item.x < 2.3 else max(item.x - 0.5, 0.3)
    drag(tab, *(on_screen(tab, page, (x, item.y, 0.1)) for x in (item.x, target)))
    tab.locator("[data-studio=message]", has_text="moved").or_(
        tab.locator("[data-studio=message]", has_text="too close")
    ).first.wait_for()
    shot(tab, "dragged")
    after = page.session.layout
    if after.by_hand:
        assert abs(after.objects[number].x - target) < 0.15
        assert abs(after.objects[number].y - item.y) < 0.15
    else:  # refused: everything is where it was
        assert after is layout

    start, said = page.session.layout.start, page._tab.message
    place = _free_place(page)
    drag(tab, *(on_screen(tab, page, (x, y, 0.7)) for x, y in ((start.x, start.y), place)))
    until(lambda: "the drone: moved" in said.content)
    moved = page.session.layout.start
    assert np.hypot(moved.x - place[0], moved.y - place[1]) < 0.2
    assert moved.yaw == start.yaw

    away = np.array([np.cos(moved.yaw), np.sin(moved.yaw)])
    tip, aside = 0.5 * away, 0.6 * np.array([-away[1], away[0]])
    drag(tab, *(on_screen(tab, page, (moved.x + dx, moved.y + dy, 0.7)) for dx, dy in (tip, aside)))
    until(lambda: "the drone: turned" in said.content)
    turned = page.session.layout.start
    assert (turned.x, turned.y) == (moved.x, moved.y)
    assert abs((turned.yaw - moved.yaw - np.pi / 2 + np.pi) % (2 * np.pi) - np.pi) < 0.3
    shot(tab, "turned")


def _free_place(page: Page) -> tuple[float, float]:
    places = [(x, y) for x in np.arange(0.8, 4.0, 0.2) for y in np.arange(0.6, 3.0, 0.2)]
    taken = [(item.x, item.y) for item in page.session.layout.objects]
    x, y = max(places, key=lambda place: min(np.hypot(place[0] - a, place[1] - b) for a, b in taken))
    return float(x), float(y)


def test_two_visitors_and_a_tab_closed_in_flight(browser: Any, studio: Studio, visit: Visit) -> None:
    _, first = visit
    other, second = open_tab(browser, studio, size=(1200, 800))
    press(other, "Slower")
    press(other, "Fly")
    until(lambda: second.updates > 0)
    assert first.updates == 0  # each sees only their own flight
    close_tab(other, studio)
    until(lambda: not second.player.busy)
    until(lambda: _threads("wayword-studio") == 0)
    until(lambda: _threads("wayword-studio-painter") == 1)  # of the visitor who is still there
    until(lambda: _threads("wayword-studio-listener") == 1)


def _threads(name: str) -> int:
    return sum(thread.name == name for thread in threading.enumerate())


def test_rotations_are_those_of_the_matrix() -> None:
    np.testing.assert_allclose(quaternion(np.eye(3)), [1, 0, 0, 0])


def test_enter_flies_and_the_page_has_our_name(visit: Visit) -> None:
    tab, page = visit
    assert tab.title() == "Wayword"
    sentence = field(tab, "Instruction")
    sentence.click()
    sentence.press("End")
    sentence.press("Enter")
    until(lambda: page.updates > 0)
    until(lambda: "\n" not in sentence.input_value())
    page.player.stop()


def test_new_layouts_differ(visit: Visit) -> None:
    tab, page = visit
    titles = [page.session.layout.title]
    for _ in range(2):
        press(tab, "New layout")
        until(lambda: page.session.layout.title not in titles)
        titles.append(page.session.layout.title)
    assert len(set(titles)) == 3


def test_the_page_says_when_the_server_is_gone(browser: Any, tmp_path: Path) -> None:
    studio = Studio(tmp_path / "objects", port=0)
    tab = browser.new_page()
    tab.set_default_timeout(1000 * PATIENCE_S)
    asked: list[str] = []
    tab.on("response", lambda response: asked.append(response.url) if "wayword-is-here" in response.url else None)
    tab.goto(studio.address)
    tab.get_by_role("button", name="New layout").wait_for()
    while len(asked) < 3:  # three questions that were answered
        tab.wait_for_timeout(100)
    assert tab.get_by_text("The server is gone").count() == 0
    studio.stop()
    tab.get_by_text("The server is gone").wait_for()
    tab.close()
