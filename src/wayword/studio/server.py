"""The studio's server: one viser server behind the gate, one page per visitor, nothing left when a tab closes."""

from __future__ import annotations

import io
import logging
import socket
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wayword.camera import Camera
from wayword.errors import WaywordError
from wayword.shipped import DEFAULT_GROUNDER
from wayword.studio.gate import Gate, check_access
from wayword.studio.letters import Letterbox

if TYPE_CHECKING:
    from wayword.studio.page import Page
    from wayword.studio.workshop import Workshop

MOST_VISITORS = 8
_FULL = f"{MOST_VISITORS} visitors are here already; this page opens by itself as soon as one of them leaves"


class Studio:
    """Runs until ``stop``."""

    def __init__(
        self,
        folder: Path,
        host: str = "127.0.0.1",
        port: int = 8080,
        token: str | None = None,
        weights: Path | None = None,
        camera: Camera | None = None,
        grounder: str = DEFAULT_GROUNDER,
    ) -> None:
        check_access(host, token)
        if not 0 <= port <= 65535:
            raise WaywordError(f"--port {port}: must be from 0 to 65535")
        camera = (camera or Camera()).at_model_size()
        self._token, self._host = token, host
        # Most of the package is imported while the browser starts: the address is there at once.
        self._ready = ThreadPoolExecutor(1, thread_name_prefix="wayword-studio-prepare")
        self._preparation = self._ready.submit(_prepare, folder, weights, camera, grounder)
        self._lock = threading.Lock()
        self._warming, self._warm = threading.Lock(), False
        self._pages: dict[int, Page | None] = {}
        """None while a page is being made."""
        self._waiting: list[tuple[Any, Any]] = []
        """Clients for whom there is no place yet, the first one first, each with the line that says so."""
        self._letters = Letterbox()
        self._server = _start(host, port, Gate(token, self._letters))
        self._server.gui.configure_theme(dark_mode=True, show_logo=False, show_share_button=False)
        self._server.scene.set_up_direction("+z")
        # Nothing in the scene shows them, and a browser without a graphics card draws them again for every picture.
        self._server.scene.configure_default_lights(cast_shadow=False)
        self._server.on_client_connect(self._enter)
        self._server.on_client_disconnect(self._leave)

    @property
    def workshop(self) -> Workshop:
        """What all visitors share."""
        return self._preparation.result()

    @property
    def address(self) -> str:
        """What to open in a browser."""
        host = "127.0.0.1" if self._host in ("0.0.0.0", "::", "") else self._host
        name = f"[{host}]" if ":" in host else host
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
        self._letters.shut()
        self._ready.shutdown(wait=False)

    def wait(self) -> None:
        """Until the process is interrupted."""
        threading.Event().wait()

    def _enter(self, client: Any) -> None:
        with self._lock:
            full = len(self._pages) >= MOST_VISITORS
            if full:
                line = f'<div data-studio="message" role="status" style="padding:8px">{_FULL}</div>'
                self._waiting.append((client, client.gui.add_html(line)))
            else:
                self._pages[client.client_id] = None
        if not full:
            self._welcome(client)

    def _welcome(self, client: Any) -> None:
        """Make the page of a visitor for whom there is a place."""
        waiting = client.gui.add_html("the arena is being set up ...")
        try:
            from wayword.studio.page import Page

            page = Page(client, self.workshop, self._letters, self._warm_up)
        except Exception as error:
            waiting.content = escape(f"the page could not be made: {error}")
            raise
        waiting.remove()
        with self._lock:
            gone = client.client_id not in self._pages
            if not gone:
                self._pages[client.client_id] = page
        if gone:  # the tab was closed meanwhile
            page.close()

    def _warm_up(self) -> None:
        """Networks come after the first picture, not before it."""
        with self._warming:
            if not self._warm:
                self._warm = True
                self.workshop.warm_up()

    def _leave(self, client: Any) -> None:
        with self._lock:
            self._waiting = [item for item in self._waiting if item[0].client_id != client.client_id]
            left = client.client_id in self._pages
            page = self._pages.pop(client.client_id, None)
            following = self._waiting.pop(0) if left and self._waiting else None
            if following is not None:
                self._pages[following[0].client_id] = None
        if page is not None:
            page.close()
        if following is not None:
            following[1].remove()
            self._welcome(following[0])


def _prepare(folder: Path, weights: Path | None, camera: Camera, grounder: str) -> Workshop:
    """The parts that the first picture needs, before anybody asks for it."""
    from wayword.pictures.live_views import LiveViews
    from wayword.studio.page import Page  # noqa: F401  (imported here, it is there when a visitor comes)
    from wayword.studio.session import Session
    from wayword.studio.workshop import Workshop

    workshop = Workshop(folder, weights, camera, grounder)
    session = Session(workshop)
    LiveViews(session.bank, session.situation, workshop.camera)
    return workshop


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
        raise WaywordError('the studio needs viser: pip install -e ".[studio]"') from error
    check_host(host)
    # A tab that closes in flight is told a last thing or two: no reason to write to the terminal.
    warnings.filterwarnings("ignore", message="Queued a .* on a closed connection", category=UserWarning)
    logging.getLogger("websockets.server").setLevel(logging.CRITICAL)  # nor one that closes before it has asked
    with gate.guarding(), redirect_stdout(io.StringIO()):  # viser prints an address of its own
        server = viser.ViserServer(host=host, port=port, label="Wayword studio", verbose=False)
    if not gate.in_use:
        server.stop()
        raise WaywordError("this version of viser cannot be guarded, so nothing was opened; install viser 1.1")
    # A visitor must not be able to open a tunnel to the outside.
    server._websock_server.unregister_handler(messages.ShareUrlRequest)
    return server
