"""Uploads of one visitor: refused by their size before they arrive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wayword.errors import DataError, WaywordError
from wayword.studio.lesson import check_size, shown_name

_MOST_UPLOADS = 4
"""Of one visitor at a time."""


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
