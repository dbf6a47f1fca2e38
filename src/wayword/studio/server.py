"""The studio's server: one viser server behind the gate, one page per visitor, nothing left when a tab closes."""

from __future__ import annotations

import io
import socket
import threading
import warnings
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from wayword.errors import WaywordError
from wayword.studio.gate import Gate, check_access
from wayword.studio.page import Page
from wayword.studio.words import message_html
from wayword.studio.workshop import Workshop

MOST_VISITORS = 8


class Studio:
    """Runs until ``stop``."""

    def __init__(
        self,
        folder: Path,
        host: str = "127.0.0.1",
        port: int = 8080,
        token: str | None = None,
        weights: Path | None = None,
    ) -> None:
        check_access(host, token)
        if not 0 <= port <= 65535:
            raise WaywordError(f"--port {port}: must be from 0 to 65535")
        self.workshop = Workshop(folder, weights)
        self._token, self._host = token, host
        self._lock = threading.Lock()
        self._warm = False
        self._pages: dict[int, Page | None] = {}
        """None while a page is being made."""
        self._server = _start(host, port, Gate(token))
        self._server.gui.configure_theme(dark_mode=True, show_logo=False, show_share_button=False)
        self._server.scene.set_up_direction("+z")
        self._server.on_client_connect(self._enter)
        self._server.on_client_disconnect(self._leave)

    @property
    def address(self) -> str:
        """What to open in a browser."""
        shown = "127.0.0.1" if self._host in ("0.0.0.0", "::", "") else self._host
        name = f"[{shown}]" if ":" in shown else shown
        return f"http://{name}:{self._server.get_port()}/" + (f"?token={self._token}" if self._token else "")

    @property
    def pages(self) -> list[Page]:
        """Of the visitors there are."""
        with self._lock:
            return [page for page in self._pages.values() if page is not None]

    def stop(self) -> None:
        """Close all pages and the server."""
        for page in self.pages:
            page.close()
        with redirect_stdout(io.StringIO()):
            self._server.stop()

    def wait(self) -> None:
        """Until the process is interrupted."""
        threading.Event().wait()

    def _enter(self, client: Any) -> None:
        with self._lock:
            full = len(self._pages) >= MOST_VISITORS
            if not full:
                self._pages[client.client_id] = None
        if full:
            client.gui.add_html(message_html(f"{MOST_VISITORS} visitors are here already; come back later", "problem"))
            return
        waiting = client.gui.add_html(message_html("the arena is being set up ..."))
        try:
            page = Page(client, self.workshop)
        except Exception as error:
            waiting.content = message_html(f"the page could not be made: {error}", "problem")
            raise
        waiting.remove()
        with self._lock:
            gone = client.client_id not in self._pages
            if not gone:
                self._pages[client.client_id] = page
        if gone:  # the tab was closed meanwhile
            page.close()
        elif not self._warm:  # networks come after the first picture, not before it
            self._warm = True
            self.workshop.warm_up()

    def _leave(self, client: Any) -> None:
        with self._lock:
            page = self._pages.pop(client.client_id, None)
        if page is not None:
            page.close()


def check_host(host: str) -> None:
    """Refuse an address this machine does not have: viser would wait for ever."""
    try:
        (family, *_, address), *_ = socket.getaddrinfo(
            host or None, 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.bind(address)
    except (OSError, UnicodeError) as error:
        raise WaywordError(f"--host {host}: cannot be listened on ({getattr(error, 'strerror', error)})") from error


def _start(host: str, port: int, gate: Gate) -> Any:
    """viser's server behind the gate; it takes the next free port if this one is in use."""
    try:
        import viser
        from viser import _messages as messages
    except ImportError as error:
        raise WaywordError('the studio needs viser: pip install "wayword[studio]"') from error
    check_host(host)
    # A tab that closes in flight is told a last thing or two: no reason to write to the terminal.
    warnings.filterwarnings("ignore", message="Queued a .* on a closed connection", category=UserWarning)
    with gate.guarding(), redirect_stdout(io.StringIO()):  # viser prints an address of its own
        server = viser.ViserServer(host=host, port=port, label="Wayword studio", verbose=False)
    if not gate.in_use:
        server.stop()
        raise WaywordError("this version of viser cannot be guarded, so nothing was opened; install viser 1.1")
    # A visitor must not be able to open a tunnel to the outside.
    server._websock_server.unregister_handler(messages.ShareUrlRequest)
    return server
