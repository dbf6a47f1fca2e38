"""The page in a real browser: before take-off and after the flight, its address, and pages for other screens."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from support.studio_tab import (
    PATIENCE_S,
    choose,
    close_tab,
    field,
    fly,
    on_screen,
    open_tab,
    press,
    says,
    shot,
    stops_of_the_tab_key,
    until,
)
from wayword.task import ARENA_M

if TYPE_CHECKING:
    from wayword.studio.page import Page
    from wayword.studio.server import Studio

pytestmark = pytest.mark.needs_browser
Visit = tuple[Any, "Page"]


def plan(tab: Any) -> list[str]:
    """The parts of the plan that is shown, without their signs."""
    return [line.split("\n")[-1] for line in tab.locator("[data-studio=plan] li").all_inner_texts()]


def source(tab: Any, name: str) -> str:
    """Where a picture of the page comes from: another picture comes from elsewhere."""
    return str(tab.get_by_alt_text(name, exact=True).get_attribute("src"))


def test_what_was_understood_is_shown_before_take_off(visit: Visit) -> None:
    tab, page = visit
    assert plan(tab) == ["pass the watermelon", "go to the front of the globe"]
    field(tab, "Instruction").fill("circle the strawberry, then come back")
    until(lambda: "strawberry" in page._tab.plan.content)
    tab.locator("[data-studio=plan] li", has_text="come back").wait_for()
    assert plan(tab)[1] == "come back"
    assert "strawberry" in page.session.layout.names  # a layout that it can be flown in
    words = tab.locator("[data-studio=instruction]")
    assert words.locator("b").all_inner_texts() == ["the", "strawberry"]
    field(tab, "Instruction").fill("go to the right side of the globe")
    words.locator("i", has_text="side").wait_for()  # a noun chunk that stands for no object
    assert words.locator("i").all_inner_texts() == ["the", "right", "side"]
    assert words.locator("b").all_inner_texts() == ["the", "globe"]
    shot(tab, "understood")
    assert not page.player.busy
    assert page.updates == 0


def test_what_is_unknown_can_be_taught_with_its_name_filled_in(visit: Visit) -> None:
    tab, page = visit
    field(tab, "Instruction").fill("fly to the rocket")
    says(tab, 'I do not know "rocket"')
    shot(tab, "unknown")
    press(tab, "I don't know rocket: teach it")
    until(lambda: field(tab, "Name").input_value() == "rocket")
    assert field(tab, "Phrases").input_value() == "the rocket"
    tab.get_by_role("tab", name="Fly").click()
    field(tab, "Instruction").fill("fly to the globe")
    until(lambda: not page._tab.unknown[0].visible)
    until(lambda: tab.get_by_role("button", name="teach it").count() == 0)


def test_a_finished_flight_can_be_scrubbed_and_watched_again(visit: Visit) -> None:
    tab, page = visit
    fly(tab, page)
    says(tab, "done in ")
    legs, sight = page._afterwards._legs, page._screen._first
    knob, last_map = tab.get_by_role("slider", name="Time"), source(tab, "picture: map")
    knob.focus()
    knob.press("Home")
    says(tab, "at 0.0 s of ")
    until(lambda: sight.step is legs[0])
    until(lambda: source(tab, "picture: map") != last_map)
    surest = legs[0].thought.grounding.p_box.max()  # type: ignore[union-attr]
    tab.get_by_text(f"box 1, object with {surest:.2f}").wait_for()  # P(o | b) of that moment
    tab.get_by_text("P(o | r): what each phrase means").wait_for()
    assert plan(tab)[0] == "pass the watermelon"  # the part in the air, not yet judged
    start = page.session.flight.start  # type: ignore[union-attr]
    assert page._stage.drone.place == pytest.approx((start.x, start.y), abs=0.01)
    before_keys = page._client.camera.position.copy()
    for _ in range(12):
        knob.press("ArrowRight")
    until(lambda: sight.step is not legs[0])
    tab.wait_for_timeout(500)
    assert page._client.camera.position == pytest.approx(before_keys, abs=1e-3)  # the arrows are the slider's
    shot(tab, "scrubbed")
    knob.press("End")
    until(lambda: sight.step is legs[-1])
    tab.locator("[data-studio=plan] li[data-done=True]").first.wait_for()

    before = page.updates
    press(tab, "Watch again")
    until(lambda: page.player.busy or page.updates > before + 20)
    until(lambda: not page.player.busy)
    assert page._afterwards._legs is legs
    with tab.expect_download() as download:
        press(tab, "Trace")
    assert download.value.suggested_filename == "flight.json"
    assert len(json.loads(download.value.path().read_bytes())["decisions"]) == len(legs)


def test_a_film_is_taken_home(visit: Visit) -> None:
    tab, page = visit
    fly(tab, page, "turn left 90 degrees")  # short: a film takes a tenth of a second per picture, and more when busy
    with tab.expect_download() as download:
        press(tab, "Film")
    assert download.value.suggested_filename == "flight.mp4"
    assert download.value.path().read_bytes()[4:8] == b"ftyp"


def test_a_new_sentence_goes_on_from_where_the_drone_stands(visit: Visit) -> None:
    tab, page = visit
    fly(tab, page)
    first = page.session.flight
    assert first is not None
    choose(tab, "Begin", "from where it stands")
    fly(tab, page, "now back up half a metre")
    second = page.session.flight
    assert second is not None
    assert second is not first
    assert second.start == first.end
    assert second.layout is first.layout
    assert len(second.before) == min(len(first.legs), 60)


def test_the_address_shows_the_same_after_reload_back_and_as_a_link(browser: Any, studio: Studio, visit: Visit) -> None:
    tab, page = visit
    field(tab, "Instruction").fill("stop at the strawberry")
    until(lambda: "strawberry" in page._tab.plan.content)
    press(tab, "New layout")
    tab.wait_for_url("**/*seed=1*")
    first, link = page.session.layout, tab.url
    assert parse_qs(urlsplit(link).query)["say"] == ["stop at the strawberry"]
    press(tab, "New layout")
    tab.wait_for_url("**/*seed=2*")
    tab.go_back()
    until(lambda: page.session.layout.objects == first.objects)
    until(lambda: field(tab, "Seed").input_value() == "1")
    known = set(map(id, studio.pages))
    tab.reload()
    until(lambda: any(id(one) not in known and one.session.layout.objects == first.objects for one in studio.pages))
    until(lambda: field(tab, "Instruction").input_value() == "stop at the strawberry")

    friend, theirs = open_tab(browser, studio, "?" + urlsplit(link).query)
    until(lambda: theirs.session.layout.objects == first.objects)
    assert theirs.session.layout.start == first.start
    until(lambda: field(friend, "Instruction").input_value() == "stop at the strawberry")
    close_tab(friend, studio)
    broken, page_of = open_tab(browser, studio, "?seed=many&say=x")
    until(lambda: "address of this page cannot be read" in page_of._tab.message.content)
    close_tab(broken, studio)


def test_two_policies_side_by_side(visit: Visit) -> None:
    tab, page = visit
    choose(tab, "Beside it", "average")
    fly(tab, page)
    assert page.beside is not None
    assert page.beside.layout is page.session.layout
    last = page._afterwards._legs[-1]
    assert last.beside is not None
    assert last.beside.verdict is not None
    assert last.verdict is not None
    tab.get_by_text("Beside it, in blue: average").wait_for()
    assert tab.get_by_text("map, the one beside it").count() == 1
    shot(tab, "beside")


@pytest.mark.parametrize("size", [(390, 844), (820, 1180)], ids=["phone", "tablet"])
def test_on_a_narrow_page_the_scene_comes_first(browser: Any, studio: Studio, size: tuple[int, int]) -> None:
    tab, page = open_tab(browser, studio, size=size)
    scene = tab.locator("canvas").first.bounding_box()
    button = tab.get_by_role("button", name="Fly", exact=True).bounding_box()
    assert scene["y"] < 10
    assert scene["width"] == size[0]
    assert scene["height"] > size[1] / 3
    assert button["y"] >= scene["y"] + scene["height"]  # nothing lies over the scene
    assert button["width"] > 0.8 * size[0]
    assert tab.evaluate("document.documentElement.scrollWidth") == size[0]
    corners = np.array([on_screen(tab, page, (x, y, 0.0)) for x in (0.0, ARENA_M) for y in (0.0, ARENA_M)])
    assert np.ptp(corners[:, 0]) > 0.5 * scene["width"]  # the arena is whole and not small
    assert (corners > 0).all()
    assert (corners < (scene["width"], scene["height"])).all()
    shot(tab, f"ready-{size[0]}")
    fly(tab, page)
    says(tab, "done in ")
    shot(tab, f"flown-{size[0]}")
    knob = tab.get_by_role("slider", name="Time")
    knob.focus()
    knob.press("Home")
    says(tab, "at 0.0 s of ")
    before = page.session.layout
    press(tab, "New layout")
    until(lambda: page.session.layout is not before)
    close_tab(tab, studio)


def test_the_whole_page_by_keyboard_with_names_for_everything(visit: Visit) -> None:
    tab, page = visit
    reached = stops_of_the_tab_key(tab, field(tab, "Instruction"))
    for name in (
        "Fly",
        "Begin",
        "Pause",
        "Stop",
        "Faster",
        "Seed",
        "New layout",
        "Next example",
        "Policy",
        "Beside it",
    ):
        assert name in reached
    assert tab.locator("img:not([alt])").count() == 0
    assert tab.locator("canvas[role=img][aria-label]").count() >= 1
    names = tab.evaluate(
        "[...document.querySelectorAll('input:not([type=hidden]):not([type=file]), textarea')]"
        ".filter(e => e.offsetParent).map(e => e.ariaLabel || e.labels?.[0]?.innerText || '')"
    )
    assert all(names)
    button, page.player.speed = tab.get_by_role("button", name="Fly", exact=True), 4.0
    button.focus()
    tab.keyboard.press("Enter")
    until(lambda: page.updates > 0)
    until(lambda: not page.player.busy)
    tab.get_by_role("button", name="Watch again").wait_for()
    assert {"Watch again", "Film", "Trace", "Rerun"} <= set(stops_of_the_tab_key(tab, button))


def test_the_arena_is_turned_and_an_object_taught_by_keyboard(visit: Visit) -> None:
    tab, page = visit
    tab.get_by_role("button", name="Fly", exact=True).focus()
    before = page._client.camera.position.copy()
    tab.keyboard.down("ArrowLeft")
    until(lambda: np.linalg.norm(page._client.camera.position - before) > 0.2)
    tab.keyboard.up("ArrowLeft")
    teach = tab.get_by_role("tab", name="Teach")
    teach.focus()
    tab.keyboard.press("Enter")
    tab.get_by_role("button", name="Upload photos").wait_for()
    reached = set(stops_of_the_tab_key(tab, teach))
    assert {"Upload photos", "Use the webcam", "What could it be taken for?", "Save and fly to it"} <= reached


def test_a_light_page_is_remembered(browser: Any, studio: Studio, visit: Visit) -> None:
    tab, _ = visit
    scheme = "() => document.documentElement.dataset.mantineColorScheme"
    assert tab.evaluate(scheme) == "dark"
    tab.get_by_text("Light page").click()
    tab.wait_for_function(f"({scheme})() == 'light'")
    shot(tab, "light")
    known = set(map(id, studio.pages))
    tab.reload()
    tab.wait_for_function(f"({scheme})() == 'light'")
    until(lambda: len(studio.pages) == 1 and id(studio.pages[0]) not in known)


def test_a_visitor_without_a_place_gets_one_as_soon_as_somebody_leaves(
    browser: Any, studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    from wayword.studio import server

    monkeypatch.setattr(server, "MOST_VISITORS", 1)
    first, page = open_tab(browser, studio)
    late = browser.new_page()
    late.set_default_timeout(1000 * PATIENCE_S)
    late.goto(studio.address)
    late.locator("[data-studio=message]", has_text="as soon as one of them leaves").wait_for()
    assert studio.pages == [page]
    first.context.close()
    late.get_by_role("button", name="New layout").wait_for()
    until(lambda: len(studio.pages) == 1 and studio.pages[0] is not page)
    assert late.get_by_text("as soon as one of them leaves").count() == 0
    late.close()
    until(lambda: not studio.pages)
