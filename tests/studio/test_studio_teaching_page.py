"""Teaching in a real browser: several photos at once, mistakes beside their field, a crop mended by hand."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

from support.studio_tab import drag, duck_photo, field, press, says, shot, until, upload
from wayword.objects import ObjectDatabase

if TYPE_CHECKING:
    from wayword.studio.page import Page
    from wayword.studio.server import Studio

pytestmark = pytest.mark.needs_browser
Visit = tuple[Any, "Page"]


def test_mistakes_stand_beside_their_field_and_go_when_they_are_mended(visit: Visit, tmp_path: Path) -> None:
    tab, page = visit
    teach = page._teach
    tab.get_by_role("tab", name="Teach").click()
    press(tab, "Save and fly to it")
    until(lambda: "name" in teach._name_note.content)
    says(tab, "nothing was saved")
    field(tab, "Name").fill("../duck")
    note = says(tab, "looks like a path").first.bounding_box()
    assert field(tab, "Name").bounding_box()["y"] < note["y"] < field(tab, "Phrases").bounding_box()["y"]
    shot(tab, "teach-mistakes")
    field(tab, "Name").fill("duck")
    until(lambda: teach._name_note.content == "")
    until(lambda: tab.get_by_text("nothing was saved").count() == 0)
    field(tab, "Phrases").fill("the \u202educk")
    until(lambda: "invisible" in teach._phrases_note.content)
    field(tab, "Phrases").fill("the duck")
    until(lambda: teach._phrases_note.content == "")
    press(tab, "Save and fly to it")
    says(tab, "has no photo")
    upload(tab, tmp_path, {"page.png": b"<html></html>"})
    says(tab, "page.png: is text")
    upload(tab, tmp_path, {"duck.jpg": duck_photo(0)})
    says(tab, "duck.jpg: cut out")
    until(lambda: tab.get_by_text("page.png: is text").count() == 0)
    until(lambda: tab.get_by_text("has no photo").count() == 0)
    assert len(teach.lesson.exemplars) == 1


def test_several_photos_are_dropped_on_the_page(visit: Visit) -> None:
    tab, page = visit
    tab.get_by_role("tab", name="Teach").click()
    tab.get_by_role("button", name="Upload photos").wait_for()
    photos = [base64.b64encode(duck_photo(number)).decode() for number in range(2)]
    tab.evaluate(
        """photos => {
          const dropped = new DataTransfer();
          photos.forEach((photo, number) => {
            const bytes = Uint8Array.from(atob(photo), letter => letter.charCodeAt(0));
            dropped.items.add(new File([bytes], `drop ${number}.jpg`, {type: "image/jpeg"}));
          });
          document.body.dispatchEvent(new DragEvent("drop", {dataTransfer: dropped, bubbles: true, cancelable: true}));
        }""",
        photos,
    )
    for number in range(2):
        says(tab, f"drop {number}.jpg: cut out")
    assert len(page._teach.lesson.exemplars) == 2


def test_a_crop_is_mended_with_the_mouse_or_the_sliders(visit: Visit, tmp_path: Path) -> None:
    tab, page = visit
    lesson = page._teach.lesson
    tab.get_by_role("tab", name="Teach").click()
    upload(tab, tmp_path, {"a.jpg": duck_photo(0), "b.jpg": duck_photo(1)})
    until(lambda: len(lesson.exemplars) == 2)
    photo = tab.locator("[data-studio=crop]")
    tab.get_by_alt_text("photo 2 with the box").wait_for()  # the second photo has taken the first one's place
    photo.evaluate("photo => photo.scrollIntoView({block: 'center', behavior: 'instant'})")
    box = photo.bounding_box()
    corner, size = np.array([box["x"], box["y"]]), np.array([box["width"], box["height"]])
    drag(tab, corner + 0.25 * size, corner + np.array([0.75, 0.5]) * size)
    until(lambda: lesson.exemplars[1].cropped_by == "box")
    np.testing.assert_allclose(lesson.shares(1), (0.25, 0.25, 0.75, 0.5), atol=0.02)
    shot(tab, "crop")
    knob = tab.get_by_role("slider", name="Left")
    knob.focus()
    for _ in range(5):
        knob.press("ArrowLeft")
    until(lambda: lesson.shares(1)[0] < 0.22)
    assert lesson.exemplars[0].cropped_by != "box"


def test_photos_are_taken_with_the_webcam(visit: Visit) -> None:
    tab, page = visit
    lesson = page._teach.lesson
    tab.get_by_role("tab", name="Teach").click()
    press(tab, "Use the webcam")
    tab.get_by_text("was not allowed to use the camera").wait_for()  # nobody allowed it yet
    tab.keyboard.press("Escape")
    tab.locator("dialog").wait_for(state="detached")
    tab.context.grant_permissions(["camera"])
    press(tab, "Use the webcam")
    tab.get_by_text("fills about half of the picture").wait_for()
    shot(tab, "webcam")
    tab.keyboard.press("Enter")  # what takes a photo has the focus
    tab.get_by_text("1 photo taken").wait_for()
    press(tab, "Take a photo")
    tab.get_by_text("2 photos taken").wait_for()
    press(tab, "Done")
    tab.locator("dialog").wait_for(state="detached")
    for count in (1, 2):
        says(tab, f"webcam {count}.jpg: cut out")
    assert len(lesson.exemplars) == 2
    photo = lesson.exemplars[1].photo
    assert photo is not None
    before_it = np.asarray(Image.open(io.BytesIO(duck_photo(0))).resize(photo.shape[1::-1]), float)
    assert np.abs(photo - before_it).mean() < 12  # of 255: the duck, not Chromium's green test picture


def test_upload_teach_and_fly_to_it(visit: Visit, studio: Studio, tmp_path: Path) -> None:
    tab, page = visit
    tab.get_by_role("tab", name="Teach").click()
    huge = b"\xff\xd8\xff" + bytes(65 * 2**20)
    for name, content, answer in (
        ("cut.jpg", duck_photo(0)[:900], "cut.jpg: is damaged"),
        ("huge.jpg", huge, "huge.jpg: has 65 MB; at most 64 MB are taken"),
    ):
        upload(tab, tmp_path, {name: content})
        says(tab, answer)
    assert not studio.workshop.folder.exists()
    upload(tab, tmp_path, {f"duck {number}.jpg": duck_photo(number) for number in range(3)})
    for number in range(3):
        says(tab, f"duck {number}.jpg: cut out")
    field(tab, "Name").fill("rubber duck")
    field(tab, "Phrases").fill("the rubber duck\nthe yellow duck")
    press(tab, "What could it be taken for?")
    tab.locator("[data-studio=message]", has_text="like").first.wait_for()
    shot(tab, "teach")
    press(tab, "Save and fly to it")
    until(lambda: page.updates > 0)
    assert ObjectDatabase.load(studio.workshop.folder).names == ("rubber duck",)
    assert "rubber duck" in page.session.layout.names
    until(lambda: not page.player.busy)
    tab.get_by_role("tab", name="Fly").click()
    says(tab, "done in ")
    shot(tab, "taught")
