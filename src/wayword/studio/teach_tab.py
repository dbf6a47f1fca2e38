"""The page's Teach tab, in viser: photos, preview, crops mended by hand, confusions, save.

What is wrong stands beside the field it is wrong with, and goes when it is mended.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from wayword.errors import WaywordError
from wayword.objects import ObjectDatabase, need_photo
from wayword.objects.names import clean_name
from wayword.studio.crop_desk import CropDesk
from wayword.studio.fly_tab import by_visitor
from wayword.studio.lesson import Lesson, split_phrases
from wayword.studio.uploads import limit_uploads
from wayword.studio.words import message_html
from wayword.studio.workshop import Workshop

_HOW = "about five photos from different sides are best; choose several at once, or drop them anywhere here"
_WEBCAM = '<div data-studio="webcam-field"><button type="button" data-studio="webcam">Use the webcam</button></div>'
"""The page's script (webcam.js) does the rest: what it takes comes as an upload."""


class TeachTab:
    """Fields and buttons of the tab, made in the container that is open."""

    def __init__(
        self, client: Any, workshop: Workshop, known: Callable[[], ObjectDatabase], taught: Callable[[str], None]
    ) -> None:
        self.lesson, self._known, self._taught = Lesson(workshop), known, taught
        self._lock = threading.RLock()
        gui = client.gui
        self._name = gui.add_text("Name", "", hint="What the object is called in the database")
        self._name_note = gui.add_html("")
        self._phrases = gui.add_text("Phrases", "", multiline=True, hint="What people say for it, one on a line")
        self._phrases_note = gui.add_html("")
        upload = gui.add_upload_button("Upload photos", mime_type="image/jpeg,image/png,image/webp")
        gui.add_html(_WEBCAM)
        self._photos_note = gui.add_html(message_html(_HOW))
        self._lines: list[tuple[str, str]] = []
        """Lines about the photos of the last upload, each with its kind."""
        self._preview = gui.add_image(np.zeros((8, 8, 3), np.uint8), label="photos and crops", visible=False)
        self._crops = CropDesk(gui, self.lesson, self._do, self._show_preview)
        check = gui.add_button("What could it be taken for?")
        self._confusions = gui.add_html("")
        save = gui.add_button("Save and fly to it", color="green")
        self._message = gui.add_html("")
        forget = gui.add_button("Forget these photos", color="gray")
        limit_uploads(client, lambda problem: self._tell(problem, "problem"))
        self._name.on_update(by_visitor(lambda _: self._typed(lambda: self._check_name(empty=True))))
        self._phrases.on_update(by_visitor(lambda _: self._typed(self._check_phrases)))
        upload.on_upload(lambda event: self._do(lambda: self._add(event.target.value)))
        check.on_click(lambda _: self._do(self._check))
        save.on_click(lambda _: self._do(self._save))
        forget.on_click(lambda _: self._do(self._forget))

    def fill_name(self, name: str) -> None:
        """Begin to teach something that a sentence spoke of."""
        self._name.value = name
        if not self._phrases.value.strip():
            self._phrases.value = f"the {name}"
        self._name_note.content = self._phrases_note.content = ""

    def letter(self, about: str, value: str) -> None:
        """What the page's script says: photos are coming, or a box was drawn over one."""
        if about == "photos":
            with self._lock:
                self._lines = []
                self._photos_note.content = ""
        elif about == "crop":
            self._do(lambda: self._crops.take_box(value))

    def _do(self, job: Callable[[], None]) -> None:
        with self._lock:
            try:
                self._message.content = ""
                job()
            except WaywordError as error:
                self._message.content = message_html(str(error), "problem")
            except Exception as error:
                self._message.content = message_html(f"something went wrong: {type(error).__name__}", "problem")
                raise

    # What is wrong, beside the field ---------------------------------------------------------------------

    def _check_name(self, empty: bool = False) -> bool:
        """``empty`` is no mistake while somebody types."""
        return _note(self._name_note, lambda: None if empty and not self._name.value else clean_name(self._name.value))

    def _check_phrases(self) -> bool:
        return _note(self._phrases_note, lambda: split_phrases(self._phrases.value))

    def _check_photos(self) -> bool:
        self._forget_lack()
        try:
            need_photo(self.lesson.workshop.folder, self._name.value, self.lesson.exemplars)
        except WaywordError as error:
            self._tell(str(error), "problem")
            return False
        return True

    def _typed(self, check: Callable[[], bool]) -> None:
        """The last button's answer is about what stood there before; what is still wrong stands beside its field."""
        self._message.content = ""
        check()

    def _forget_lack(self) -> None:
        """That there is no photo is said once, and no longer than it is true."""
        self._lines = [line for line in self._lines if "has no photo" not in line[0]]

    def _tell(self, line: str, kind: str) -> None:
        """One more line about photos."""
        with self._lock:
            self._lines = [*self._lines, (line, kind)][-8:]
            self._photos_note.content = "".join(message_html(*each) for each in self._lines)

    # What a visitor does ---------------------------------------------------------------------------------

    def _add(self, file: Any) -> None:
        try:
            answer = self.lesson.add(file.name, file.content)
        except WaywordError as error:
            self._tell(str(error), "problem")
            return
        self._forget_lack()
        self._tell(answer, "note")
        self._show()

    def _check(self) -> None:
        if self._check_name() and self._check_phrases():
            lines = self.lesson.confusions(self._name.value, self._phrases.value, self._known())
            self._confusions.content = "".join(message_html(line) for line in lines)

    def _save(self) -> None:
        fine = [self._check_name(), self._check_phrases()]
        if not all(fine) or not self._check_photos():
            self._message.content = message_html("nothing was saved: see above what is missing", "problem")
            return
        if self.lesson.exemplars:
            self._check()
        name = self.lesson.save(self._name.value, self._phrases.value)
        self._message.content = message_html(f"{name}: saved", "good")
        self._lines = []
        self._photos_note.content = message_html(_HOW)
        self._show()
        self._taught(name)

    def _forget(self) -> None:
        self.lesson.forget()
        self._lines = []
        self._photos_note.content, self._confusions.content = message_html(_HOW), ""
        self._message.content = message_html("nothing was saved")
        self._show()

    def _show(self) -> None:
        self._show_preview()
        self._crops.show()

    def _show_preview(self) -> None:
        picture = self.lesson.preview()
        if picture is not None:
            self._preview.image = picture
        self._preview.visible = picture is not None


def _note(note: Any, check: Callable[[], object]) -> bool:
    """Whether a check passes; what it says otherwise stands in the note."""
    try:
        check()
    except WaywordError as error:
        note.content = message_html(str(error), "problem")
        return False
    note.content = ""
    return True
