"""Teaching in the studio: what is uploaded is judged, and the database changes only when something is saved."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import pytest
from PIL import Image

from wayword.errors import WaywordError
from wayword.objects import ObjectDatabase
from wayword.objects.photos import MAX_FILE_BYTES
from wayword.studio import lesson as lessons
from wayword.studio import teach_tab
from wayword.studio.lesson import Lesson, check_size, shown_name, split_phrases
from wayword.studio.session import Choices, Session
from wayword.studio.workshop import Workshop


@pytest.fixture(scope="module")
def photo() -> bytes:
    """A JPEG of something red and blue on grey."""
    pixels = np.full((200, 260, 3), 130, np.uint8)
    pixels[60:150, 80:180] = (220, 30, 30)
    pixels[60:100, 80:180] = (20, 40, 200)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG")
    return buffer.getvalue()


@pytest.fixture(scope="module")
def workshop() -> Workshop:
    """The networks are loaded once; each test has a folder of its own."""
    return Workshop(Path("nowhere"))


@pytest.fixture
def lesson(workshop: Workshop, tmp_path: Path) -> Lesson:
    workshop.folder = tmp_path / "objects"
    return Lesson(workshop)


def test_photo_preview_confusions_save_fly(lesson: Lesson, photo: bytes) -> None:
    workshop = lesson.workshop
    assert "confidence" in lesson.add("../../etc/toy.jpg", photo)
    preview = lesson.preview()
    assert preview is not None
    assert preview.shape[1] > preview.shape[0] > 100
    lines = lesson.confusions("toy", "the red toy, the fire truck", workshop.database("test"))
    assert any("fire truck" in line for line in lines)
    assert not workshop.folder.exists()  # nothing is written before saving
    assert lesson.save("toy", "the red toy\nthe toy") == "toy"
    assert lesson.exemplars == []
    saved = ObjectDatabase.load(workshop.folder)
    assert saved.names == ("toy",)
    assert saved.objects[0].phrases == ("the red toy", "the toy")
    assert workshop.databases == ("test", "dev", "taught here", "test and taught here")
    session = Session(workshop, Choices(database="test and taught here"))
    session.begin("stop in front of the red toy")
    assert "toy" in session.layout.names
    assert session.parsed is not None
    assert session.parsed.references[0].best == "toy"
    assert session.next_leg().thought is not None


def test_a_crop_is_mended_by_hand(lesson: Lesson, photo: bytes) -> None:
    lesson.add("toy.jpg", photo)  # 260 x 200, the object from (80, 60) to (180, 150)
    lesson.recrop(0, (80 / 260, 0.3, 180 / 260, 0.75))
    assert lesson.exemplars[0].cropped_by == "box"
    assert lesson.exemplars[0].box.values == pytest.approx((80, 60, 180, 150))
    assert lesson.shares(0) == pytest.approx((80 / 260, 0.3, 180 / 260, 0.75))
    before = lesson.exemplars[0]
    with pytest.raises(WaywordError, match="empty"):
        lesson.recrop(0, (0.5, 0.2, 0.5, 0.8))
    with pytest.raises(WaywordError, match="not here any more"):
        lesson.recrop(1, (0.1, 0.1, 0.9, 0.9))
    assert lesson.exemplars == [before]


def hostile(photo: bytes) -> dict[str, tuple[str, bytes, str]]:
    bomb = io.BytesIO()
    Image.new("1", (12000, 12000)).save(bomb, "PNG")
    return {
        "truncated": ("a.jpg", photo[: len(photo) // 2], "damaged"),
        "not an image": ("b.png", b"MZ" + bytes(200), "is no photo"),
        "empty": ("c.png", b"", "is empty"),
        "many pixels": ("d.png", bomb.getvalue(), "12000 x 12000"),
        "a page": ("e.jpg", b"<html><script>alert(1)</script></html>", "is text"),
        "a path": ("../../../etc/passwd", b"root:x:0:0", "^passwd: is no photo"),
    }


@pytest.mark.parametrize("kind", ["truncated", "not an image", "empty", "many pixels", "a page", "a path"])
def test_hostile_uploads_are_refused_and_change_nothing(lesson: Lesson, photo: bytes, kind: str) -> None:
    lesson.add("good.jpg", photo)
    lesson.save("toy", "the toy")
    before = _content(lesson.workshop.folder)
    name, content, why = hostile(photo)[kind]
    with pytest.raises(WaywordError, match=why):
        lesson.add(name, content)
    assert lesson.exemplars == []
    assert _content(lesson.workshop.folder) == before
    assert list(lesson.workshop.folder.parent.iterdir()) == [lesson.workshop.folder]


def _content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_huge_uploads_are_refused_by_their_size() -> None:
    with pytest.raises(WaywordError, match="65 MB; at most 64"):
        check_size("a.jpg", MAX_FILE_BYTES + 2**20)


@pytest.mark.parametrize("name", ["../evil", "a\\b", "C:evil", "  ", "x\u202ey"])
def test_names_that_are_paths_are_refused(lesson: Lesson, photo: bytes, name: str) -> None:
    lesson.add("good.jpg", photo)
    with pytest.raises(WaywordError, match="name"):
        lesson.save(name, "the thing")
    assert len(lesson.exemplars) == 1  # can be saved under another name
    assert not lesson.workshop.folder.exists()


def test_nothing_to_save(lesson: Lesson, photo: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    for phrases in (" , ", "the toy"):
        with pytest.raises(WaywordError, match="'toy' has no photo"):
            lesson.save("toy", phrases)
    with pytest.raises(WaywordError, match="at least one photo"):
        lesson.confusions("toy", "", lesson.workshop.database("test"))
    monkeypatch.setattr(lessons, "MOST_PHOTOS", 1)
    lesson.add("a.jpg", photo)
    with pytest.raises(WaywordError, match="save them first"):
        lesson.add("b.jpg", photo)
    lesson.forget()
    assert lesson.preview() is None


def test_what_is_wrong_is_said_once_beside_its_field_and_goes_when_it_is_mended(
    lesson: Lesson, photo: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(teach_tab, "limit_uploads", lambda *_: None)
    gui = MagicMock()
    gui.add_text.side_effect = lambda label, value, **_: MagicMock(value=value)
    gui.add_html.side_effect = lambda content: SimpleNamespace(content=content)
    tab = teach_tab.TeachTab(SimpleNamespace(gui=gui), lesson.workshop, MagicMock(), MagicMock())

    def type_into(field: MagicMock, text: str) -> None:
        field.value = text
        field.on_update.call_args.args[0](SimpleNamespace(client_id=1))

    tab._do(tab._save)
    assert "nothing was saved" in tab._message.content
    assert "name" in tab._name_note.content
    type_into(tab._name, "duck")
    assert tab._name_note.content == tab._message.content == ""
    type_into(tab._phrases, "the duck\x1b")
    assert "invisible" in tab._phrases_note.content
    type_into(tab._phrases, "the duck")
    assert tab._phrases_note.content == ""
    for _ in range(2):
        tab._do(tab._save)
        assert tab._photos_note.content.count("has no photo") == 1
    tab._add(SimpleNamespace(name="duck.jpg", content=photo))
    assert "has no photo" not in tab._photos_note.content
    assert not lesson.workshop.folder.exists()


def test_names_and_phrases_as_they_are_shown() -> None:
    assert shown_name("C:\\Users\\me\\cat.jpg") == "cat.jpg"
    assert shown_name("../..") == "the photo"
    assert shown_name("a\nb\x1b[2J.png") == "a?b?[2J.png"
    assert len(shown_name("x" * 500)) == 60
    assert split_phrases("the red toy,\n toy ;the  thing\n\n") == ("the red toy", "toy", "the thing")
