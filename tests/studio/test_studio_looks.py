"""How the page looks in a real browser: words that can be read, boxes with numbers, the line below the drone, layouts.

All tests here share one tab, in which the first sentence has been flown.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from support.studio_tab import close_tab, drag, field, fly, on_screen, open_tab, press, says, shot, until
from wayword.pictures.colours import FLIGHT

if TYPE_CHECKING:
    from wayword.studio.page import Page
    from wayword.studio.server import Studio

pytestmark = pytest.mark.needs_browser
Visit = tuple[Any, "Page"]

FAINT_WORDS = """() => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgba = (text) => {  // of any notation that CSS has
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => [0, 1, 2].map((k) => top[3] * top[k] + (1 - top[3]) * below[k]);
  const light = (rgb) => rgb.map((v) => v / 255)
    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
  const faint = [];
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (words.nextNode()) {
    const element = words.currentNode.parentElement, text = words.currentNode.textContent.trim();
    const style = getComputedStyle(element), place = element.getBoundingClientRect();
    if (!text || ["SCRIPT", "STYLE", "NOSCRIPT"].includes(element.tagName) || !element.checkVisibility()) continue;
    if (place.width < 3 || place.height < 3 || element.closest("[aria-hidden=true], :disabled")) continue;
    const layers = [];
    let strength = 1;
    for (let one = element; one; one = one.parentElement) {
      layers.unshift(rgba(getComputedStyle(one).backgroundColor));
      strength *= Number(getComputedStyle(one).opacity);
    }
    const ground = layers.reduce((below, layer) => over(layer, below), [255, 255, 255]);
    const ink = rgba(style.color);
    const shown = over([...ink.slice(0, 3), ink[3] * strength], ground);
    const [low, high] = [light(ground), light(shown)].sort((a, b) => a - b);
    const contrast = (high + 0.05) / (low + 0.05);
    if (contrast < 4.5) faint.push(`${text.slice(0, 40)}: ${contrast.toFixed(2)}`);
  }
  return [...new Set(faint)];
}"""
"""Every text that is shown with less contrast than WCAG 2 asks of small letters, with its contrast."""


@pytest.fixture(scope="module")
def flown(browser: Any, studio: Studio) -> Iterator[Visit]:
    """A tab after its first flight."""
    tab, page = open_tab(browser, studio)
    fly(tab, page)
    yield tab, page
    close_tab(tab, studio)


def picture(tab: Any, name: str) -> NDArray[np.int64]:
    """The pixels (H, W, 3) of a picture as the browser shows it."""
    url = tab.get_by_alt_text(name, exact=True).evaluate(
        """image => {
          const canvas = document.createElement("canvas");
          [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
          canvas.getContext("2d").drawImage(image, 0, 0);
          return canvas.toDataURL("image/png");
        }"""
    )
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))).convert("RGB"), int)


def test_the_first_flight_is_done(flown: Visit) -> None:
    """The sentence and the layout that the page opens with."""
    tab, _ = flown
    says(tab, "done in ")
    assert tab.locator("[data-studio=plan] li[data-done=False]").count() == 0


def test_boxes_with_the_numbers_of_the_list_are_drawn_in_the_view(flown: Visit) -> None:
    tab, page = flown
    knob = tab.get_by_role("slider", name="Time")
    knob.focus()
    knob.press("Home")
    leg = page._afterwards._legs[0]
    until(lambda: page._screen._first.step is leg)
    tab.get_by_text("box 1, object with").wait_for()
    assert leg.thought is not None
    grounding = leg.thought.grounding
    boxes = 4 * grounding.boxes[np.argsort(-grounding.p_box)[:6]]  # the view is four times what the policy sees
    whole = boxes[(boxes.min(axis=1) > 4) & (boxes[:, 2] < 508) & (boxes[:, 3] < 284)]
    left, top, right, bottom = whole[0].astype(int)
    middle = (left + right) // 2, (top + bottom) // 2

    def outlined() -> bool:
        view = picture(tab, "picture: first person, with masks")
        sides = [view[middle[1], k - 3 : k + 4] for k in (left, right)]
        sides += [view[k - 3 : k + 4, middle[0]] for k in (top, bottom)]
        return sum(side.min(axis=1).max() > 150 for side in sides) >= 3  # white lines, which a JPEG makes grey

    until(outlined)
    shot(tab, "boxes")


def test_a_line_leads_from_the_drone_to_the_ground(flown: Visit) -> None:
    tab, page = flown
    x, y = page._stage.drone.place

    def yellow() -> bool:
        shown = np.asarray(Image.open(io.BytesIO(tab.screenshot())).convert("RGB"), int)
        for height in (0.2, 0.35):  # of 0.7 m
            column, row = on_screen(tab, page, (x, y, height)).astype(int)
            around = shown[row - 3 : row + 4, column - 6 : column + 7]
            red, green, blue = np.moveaxis(around, -1, 0)
            if not ((red > 170) & (green > 140) & (blue < 150)).any():
                return False
        return True

    assert FLIGHT[0] > 170
    assert FLIGHT[2] < 150
    until(yellow)


def test_every_word_can_be_read_on_a_dark_and_on_a_light_page(flown: Visit) -> None:
    tab, _ = flown
    scheme = "() => document.documentElement.dataset.mantineColorScheme"
    for theme in ("dark", "light"):
        tab.wait_for_function(f"({scheme})() == '{theme}'")
        for name in ("Teach", "Fly"):
            tab.get_by_role("tab", name=name).click()
            tab.wait_for_timeout(1000)  # colours fade from one theme into the other
            assert tab.evaluate(FAINT_WORDS) == []
            shot(tab, f"{theme}-{name}")
        tab.get_by_text("Light page").click()
    tab.wait_for_function(f"({scheme})() == 'dark'")


def test_a_rerun_recording_is_taken_home_or_the_page_says_what_it_needs(flown: Visit) -> None:
    tab, _ = flown
    if find_spec("rerun") is None:
        press(tab, "Rerun")
        says(tab, 'Rerun needs its SDK: pip install -e ".[rerun]"')
        return
    with tab.expect_download() as download:
        press(tab, "Rerun")
    assert download.value.suggested_filename == "flight.rrd"
    assert download.value.path().read_bytes()[:3] == b"RRF"


def test_a_layout_changed_by_hand_is_kept_for_another_sentence_until_a_new_one_is_asked_for(flown: Visit) -> None:
    tab, page = flown
    press(tab, "New layout")
    until(lambda: not page._tab.flown.visible)
    start, said = page.session.layout.start, page._tab.message
    away = np.array([np.cos(start.yaw), np.sin(start.yaw)])
    tip, aside = 0.5 * away, 0.6 * np.array([-away[1], away[0]])
    drag(tab, *(on_screen(tab, page, (start.x + dx, start.y + dy, 0.7)) for dx, dy in (tip, aside)))
    until(lambda: "the drone: turned" in said.content)
    layout = page.session.layout
    assert layout.by_hand
    field(tab, "Instruction").fill("fly around the strawberry")
    tab.locator("[data-studio=plan] li", has_text="strawberry").wait_for()
    assert page.session.layout is layout
    press(tab, "New layout")
    until(lambda: not page.session.layout.by_hand)
    assert "strawberry" in page.session.layout.names


def test_the_next_example_is_another_one_each_time(flown: Visit) -> None:
    tab, page = flown
    sentences: list[str] = []
    for _ in range(3):
        press(tab, "Next example")
        until(lambda: page.session.layout.path is not None and page.session.layout.instruction not in sentences)
        sentences.append(page.session.layout.instruction)
        until(lambda: field(tab, "Instruction").input_value() == sentences[-1])
    assert len(set(sentences)) == 3
