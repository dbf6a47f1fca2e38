"""The page's Teach tab, in viser: upload, preview, confusions, save."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from wayword.errors import DataError, WaywordError
from wayword.objects import ObjectDatabase
from wayword.studio.lesson import Lesson, check_size, shown_name
from wayword.studio.words import message_html
from wayword.studio.workshop import Workshop

_MOST_UPLOADS = 4
"""Of one visitor at a time."""


class TeachTab:
    """Fields and buttons of the tab, made in the container that is open."""

    def __init__(
        self, client: Any, workshop: Workshop, known: Callable[[], ObjectDatabase], taught: Callable[[str], None]
    ) -> None:
        self.lesson, self._known, self._taught = Lesson(workshop), known, taught
        self._lock = threading.Lock()
        gui = client.gui
        self._name = gui.add_text("Name", "", hint="What the object is called in the database")
        self._phrases = gui.add_text("Phrases", "", multiline=True, hint="What people say for it, one on a line")
        upload = gui.add_upload_button("Upload a photo", mime_type="image/jpeg,image/png,image/webp")
        self._message = gui.add_html(message_html("about five photos from different sides are best"))
        self._preview = gui.add_image(np.zeros((8, 8, 3), np.uint8), label="photos and crops", visible=False)
        self._confusions = gui.add_html("")
        check = gui.add_button("What could it be taken for?")
        save = gui.add_button("Save and fly to it", color="green")
        forget = gui.add_button("Forget these photos", color="gray")
        limit_uploads(client, self._refused)
        upload.on_upload(lambda event: self._do(lambda: self._add(event.target.value)))
        check.on_click(lambda _: self._do(self._check))
        save.on_click(lambda _: self._do(self._save))
        forget.on_click(lambda _: self._do(self._forget))

    def _do(self, job: Callable[[], None]) -> None:
        with self._lock:
            try:
                job()
            except WaywordError as error:
                self._message.content = message_html(str(error), "problem")
            except Exception as error:
                self._message.content = message_html(f"something went wrong: {type(error).__name__}", "problem")
                raise

    def _add(self, file: Any) -> None:
        said = self.lesson.add(file.name, file.content)
        self._message.content = message_html(said)
        self._show()

    def _check(self) -> None:
        lines = self.lesson.confusions(self._name.value, self._phrases.value, self._known())
        self._confusions.content = "".join(message_html(line) for line in lines)

    def _save(self) -> None:
        self._check()
        name = self.lesson.save(self._name.value, self._phrases.value)
        self._message.content = message_html(f"{name}: saved", "good")
        self._show()
        self._taught(name)

    def _forget(self) -> None:
        self.lesson.forget()
        self._message.content = message_html("nothing was saved")
        self._show()

    def _show(self) -> None:
        picture = self.lesson.preview()
        if picture is not None:
            self._preview.image = picture
        self._preview.visible = picture is not None

    def _refused(self, problem: str) -> None:
        self._message.content = message_html(problem, "problem")


def limit_uploads(client: Any, refused: Callable[[str], None]) -> None:
    """Refuse what is too large before it arrives: viser would keep any amount in memory until it is complete."""
    from viser import _messages as messages

    gui, connection = client.gui, client.gui._websock_interface
    states: dict[str, Any] = gui._current_file_upload_states

    def finish(message: Any) -> None:
        """Let the browser believe that all has arrived: its button waits for that. What still comes is ignored."""
        size, transfer = int(message.size_bytes), message.transfer_uuid
        connection.queue_message(messages.FileTransferPartAck(message.source_component_uuid, transfer, size, size))

    def start(client_id: Any, message: Any) -> None:
        name = shown_name(str(message.filename))
        try:
            check_size(name, int(message.size_bytes))
            if len(states) >= _MOST_UPLOADS:
                raise DataError(name, "waits for the other uploads; try again when they are done")
        except WaywordError as error:
            refused(str(error))
            finish(message)
            return
        gui._handle_file_transfer_start(client_id, message)

    def part(client_id: Any, message: Any) -> None:
        state = states.get(message.transfer_uuid)
        if state is not None and state["transferred_bytes"] + len(message.content) > state["total_bytes"]:
            states.pop(message.transfer_uuid, None)  # more than was announced
            refused("the upload was longer than announced and was dropped")
            return
        gui._handle_file_transfer_part(client_id, message)

    for kind, handler in ((messages.FileTransferStartUpload, start), (messages.FileTransferPart, part)):
        connection.unregister_handler(kind)
        connection.register_handler(kind, handler)
