"""Who may open the page. viser itself asks nobody, so every request passes here before viser sees it.

- Without a token only this machine may ask: the server listens on the loopback address, and the page must have been
  opened under a loopback name, so that a foreign name that points here (DNS rebinding) gets nothing.
- With a token, the first request brings it in the address; the answer keeps it in a cookie that scripts cannot read
  and other sites cannot send. Everything without it is refused, the page's files and its websocket alike.
- A websocket must come from the page itself: other sites open in the same browser are refused by their Origin.

The token travels in the clear unless there is TLS in front: across a network one does not own, use ``ssh -L``.
"""

from __future__ import annotations

import hashlib
import hmac
import inspect
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Any, NamedTuple
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

from wayword.errors import WaywordError
from wayword.loopback import is_loopback
from wayword.studio.front import HERE, dressed
from wayword.studio.letters import LETTER, Letterbox

SHORTEST_TOKEN = 16
LARGEST_MESSAGE = 8 * 2**20
"""Bytes of one websocket message from a browser; uploads come in smaller parts."""


class Refusal(NamedTuple):
    """An answer instead of the page."""

    status: HTTPStatus
    headers: dict[str, str]
    body: str


def check_access(host: str, token: str | None) -> None:
    """Refuse to let others in without a token worth the name."""
    if token is None and not is_loopback(host):
        example = secrets.token_hex(12)
        raise WaywordError(f"--host {host} lets other machines in: give a token as well, such as --token {example}")
    if token is not None and (len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable()):
        raise WaywordError(f"--token needs at least {SHORTEST_TOKEN} plain characters, so that nobody guesses it")
    if token is not None and any(character in ' ";,\\&#+%=' for character in token):
        raise WaywordError("--token goes into an address: use letters, digits, - and _ only")


class Gate:
    """Judges requests by their path and headers."""

    def __init__(self, token: str | None = None, letters: Letterbox | None = None) -> None:
        self._token, self._letters = token, letters or Letterbox()
        digest = hashlib.sha256((token or "").encode()).hexdigest()[:8]
        self._cookie = f"wayword-studio-{digest}"  # cookies know no ports: two studios need two names
        self.in_use = False

    def refuse(self, path: str, header: Callable[[str], str | None]) -> Refusal | None:
        """None if the request may pass; else what is answered."""
        host = header("Host") or ""
        if self._token is None and not is_loopback(_hostname(host)):
            return _plain(HTTPStatus.FORBIDDEN, "This page can only be opened as http://localhost or http://127.0.0.1.")
        is_socket = (header("Upgrade") or "").lower() == "websocket"
        origin = header("Origin")
        if is_socket and origin is not None and urlsplit(origin).netloc.lower() != host.lower():
            return _plain(HTTPStatus.FORBIDDEN, "Other sites may not connect to this page.")
        if self._token is None or self._knows(self._from_cookie(header("Cookie"))):
            return None
        if not is_socket and self._knows(_from_query(path)):
            cookie = f"{self._cookie}={self._token}; HttpOnly; SameSite=Lax; Path=/"
            return Refusal(HTTPStatus.SEE_OTHER, {"Location": _without_token(path), "Set-Cookie": cookie}, "")
        return _plain(HTTPStatus.FORBIDDEN, "Open the address with ?token=... that `wayword studio` has printed.")

    def _knows(self, offered: str | None) -> bool:
        expected = self._token or ""
        return offered is not None and hmac.compare_digest(offered.encode(), expected.encode())

    def _from_cookie(self, text: str | None) -> str | None:
        try:
            morsel = SimpleCookie(text or "").get(self._cookie)
        except CookieError:
            return None
        return morsel.value if morsel is not None else None

    @contextmanager
    def guarding(self) -> Iterator[None]:
        """Put this gate before every websocket server that is started inside the block.

        viser does not let its server's ``process_request`` be chosen, so the function that makes the server is
        wrapped while viser starts. ``in_use`` tells afterwards whether that worked: if not, do not go on.
        """
        import websockets.asyncio.server as library

        original: Any = library.serve

        def serve(*args: Any, process_request: Any = None, **options: Any) -> Any:
            async def check(connection: Any, request: Any) -> Any:
                refusal = self.refuse(request.path, request.headers.get)
                if refusal is not None:
                    return _response(refusal)
                place = urlsplit(request.path).path
                if place == HERE:
                    return _response(Refusal(HTTPStatus.NO_CONTENT, {}, ""))
                if place == LETTER:
                    arrived = self._letters.deliver(request.path)
                    return _response(Refusal(HTTPStatus.NO_CONTENT if arrived else HTTPStatus.NOT_FOUND, {}, ""))
                answer = process_request(connection, request)
                answer = await answer if inspect.isawaitable(answer) else answer
                return answer if answer is None else _dressed(answer)

            self.in_use = process_request is not None
            return original(*args, process_request=check, **{**options, "max_size": LARGEST_MESSAGE})

        library.serve = serve  # type: ignore[assignment,misc]
        try:
            yield
        finally:
            library.serve = original  # type: ignore[misc]


def _dressed(answer: Any) -> Any:
    """The same answer with the page's file under our name."""
    body = dressed(bytes(answer.body or b""), answer.headers.get("Content-Encoding"))
    if answer.body is not None and len(body) != len(answer.body):
        answer.body = body
        if "Content-Length" in answer.headers:
            del answer.headers["Content-Length"]
            answer.headers["Content-Length"] = str(len(body))
    return answer


def _hostname(host: str) -> str:
    """The name in a Host header, without its port."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _from_query(path: str) -> str | None:
    return next(iter(parse_qs(urlsplit(path).query).get("token", [])), None)


def _without_token(path: str) -> str:
    """The page with the rest of its address, which holds a sentence and a layout."""
    rest = [(key, value) for key, value in parse_qsl(urlsplit(path).query) if key != "token"]
    return f"/?{urlencode(rest)}" if rest else "/"


def _plain(status: HTTPStatus, text: str) -> Refusal:
    return Refusal(status, {"Content-Type": "text/plain; charset=utf-8"}, f"{text}\n")


def _response(refusal: Refusal) -> Any:
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    body = refusal.body.encode()
    headers = Headers({**refusal.headers, "Content-Length": str(len(body)), "Connection": "close"})
    return Response(refusal.status, refusal.status.phrase, headers, body)
