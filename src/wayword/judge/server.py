"""``wayword judge serve``: gives every rater their page and keeps their answers as they come.

    GET  /r/CODE            the rater's page; nobody can list the codes, and unknown ones do not exist
    GET  /r/CODE/answers    what this rater has answered so far
    POST /r/CODE/answers    one answer, on the disk before the reply

Nothing else is served: paths are compared with the codes of the study, never with files. A page of another site can
neither read nor write: writing needs a header that browsers send across sites only with leave, which is never given,
and an ``Origin``, if there is one, that is this server. Without a token only names of this computer are answered, so
that no foreign name can be pointed at it.
"""

from __future__ import annotations

import hmac
import json
import re
import threading
from dataclasses import asdict, dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit

from wayword.errors import WaywordError
from wayword.guarded import parse_json, read_bytes
from wayword.judge.answers import MOST_BYTES, Answer, AnswerBook
from wayword.judge.study import Study
from wayword.loopback import is_loopback

_PLACE = re.compile(r"/r/([0-9a-f]{16})(/answers)?")
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",  # the page's own rules are in the page
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
MOST_CONNECTIONS = 64
MOST_PAGE_BYTES = 256 * 2**20
"""Of one rater's page, pictures and all."""
PATIENCE_S = 15.0
"""How long a silent connection is kept."""
LEAST_TOKEN = 8


@dataclass(frozen=True)
class ServeConfig:
    """Where the server listens."""

    host: str = "127.0.0.1"
    port: int = 8321
    token: str | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise WaywordError(f"--port {self.port}: must be 0 to 65535")
        if not is_loopback(self.host) and not self.token:
            raise WaywordError(f"--host {self.host} can be reached by others: choose a secret and give it as --token")
        if self.token is not None and not re.fullmatch(rf"[A-Za-z0-9_-]{{{LEAST_TOKEN},200}}", self.token):
            raise WaywordError(f"--token: at least {LEAST_TOKEN} letters, digits, - or _")


class JudgeServer(ThreadingHTTPServer):
    """Serves one study."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, folder: Path, config: ServeConfig | None = None) -> None:
        self.config = config or ServeConfig()
        self.study = Study.load(folder)
        self.book = AnswerBook(folder, self.study)
        self.pages = {code: _page(folder / "pages" / f"{code}.html") for code in self.study.sheets}
        self._room = threading.BoundedSemaphore(MOST_CONNECTIONS)
        try:
            super().__init__((self.config.host, self.config.port), _Handler)
        except (OSError, UnicodeError) as error:
            where = f"{self.config.host}:{self.config.port}"
            raise WaywordError(f"cannot listen on {where} ({error}); choose another --host or --port") from error

    @property
    def links(self) -> list[str]:
        """One address per rater, to be sent to them."""
        host = f"[{self.config.host}]" if ":" in self.config.host else self.config.host
        secret = f"?token={self.config.token}" if self.config.token else ""
        return [f"http://{host}:{self.server_address[1]}/r/{code}{secret}" for code in self.pages]

    def process_request(self, request: Any, client_address: Any) -> None:
        """One thread per connection, up to a limit; one more is hung up on."""
        if not self._room.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Give the place back, however the connection ends."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that breaks off is the visitor's business."""
        import sys

        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _RefusedError(Exception):
    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    server: JudgeServer
    server_version = "wayword"
    sys_version = ""
    timeout = PATIENCE_S

    def do_GET(self) -> None:
        """A page, or the answers so far."""
        self._reply(self._get)

    def do_POST(self) -> None:
        """One answer."""
        self._reply(self._post)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: addresses hold codes and the token."""

    def _get(self) -> tuple[str, bytes]:
        code, answers = self._place()
        if answers:
            self._check_ours()
            answers_so_far = [asdict(answer) for answer in self.server.book.of_rater(code)]
            return "application/json", json.dumps(answers_so_far).encode()
        return "text/html; charset=utf-8", self.server.pages[code]

    def _post(self) -> tuple[str, bytes]:
        body = self._body()  # read first: a reply before the end of a question may never arrive
        code, answers = self._place()
        if not answers:
            raise _RefusedError(HTTPStatus.METHOD_NOT_ALLOWED, "answers go to /r/CODE/answers")
        self._check_ours()
        if self.headers.get_content_type() != "application/json":
            raise _RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "an answer is application/json")
        try:
            answer = Answer.of(parse_json(body), self.server.study)
        except (ValueError, TypeError, RecursionError) as error:
            raise _RefusedError(HTTPStatus.BAD_REQUEST, "not valid JSON") from error
        if answer.rater != code:
            raise _RefusedError(HTTPStatus.FORBIDDEN, "another rater's answer")
        self.server.book.append(answer)
        return "application/json", b'{"saved": true}'

    def _place(self) -> tuple[str, bool]:
        """Which rater is asked about, and whether it is about answers; whoever lacks the token learns nothing."""
        self._check_host()
        parts = _split(self.path)
        if (token := self.server.config.token) is not None:
            offered = self.headers.get("X-Wayword-Token") or parse_qs(parts.query).get("token", [""])[0]
            if not hmac.compare_digest(offered.encode("utf-8", "replace"), token.encode()):
                raise _RefusedError(HTTPStatus.FORBIDDEN, "open the link you were sent, with its token")
        match = _PLACE.fullmatch(parts.path)
        if match is None or match[1] not in self.server.pages:
            raise _RefusedError(HTTPStatus.NOT_FOUND, "nothing here; open the link you were sent")
        return match[1], match[2] is not None

    def _check_host(self) -> None:
        if not is_loopback(self.server.config.host) or self.server.config.token:
            return
        if not is_loopback(_split(f"//{self.headers.get('Host', '')}").hostname or ""):
            raise _RefusedError(HTTPStatus.MISDIRECTED_REQUEST, "this server answers on this computer only")

    def _check_ours(self) -> None:
        """Only our own page may ask."""
        origin, site = self.headers.get("Origin"), self.headers.get("Sec-Fetch-Site", "same-origin")
        foreign = origin is not None and _split(origin).netloc != self.headers.get("Host")
        if foreign or site not in ("same-origin", "none") or self.headers.get("X-Wayword") != "judge":
            raise _RefusedError(HTTPStatus.FORBIDDEN, "only the questionnaire itself may send answers")

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "")
        if self.headers.get("Transfer-Encoding") or not re.fullmatch(r"\d{1,9}", length, re.ASCII):
            raise _RefusedError(HTTPStatus.LENGTH_REQUIRED, "say how long the answer is")
        if int(length) > MOST_BYTES:
            raise _RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"an answer has at most {MOST_BYTES} bytes")
        body = self.rfile.read(int(length))
        if len(body) != int(length):
            raise _RefusedError(HTTPStatus.BAD_REQUEST, "the answer was cut short")
        return body

    def _reply(self, work: Any) -> None:
        try:
            kind, body = work()
            status = HTTPStatus.OK
        except _RefusedError as error:
            kind, body, status = "text/plain; charset=utf-8", str(error).encode(), error.status
        except WaywordError as error:
            kind, body, status = "text/plain; charset=utf-8", str(error).encode(), HTTPStatus.BAD_REQUEST
        except (ConnectionError, TimeoutError):  # the visitor left
            self.close_connection = True
            return
        except OSError as error:  # a full disk: the page keeps the answer and tries again
            kind, body = "text/plain; charset=utf-8", f"cannot be saved now ({error.strerror})".encode()
            status = HTTPStatus.INSUFFICIENT_STORAGE
        self.send_response(status)
        for name, value in {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError as error:  # such as half a bracket
        raise _RefusedError(HTTPStatus.BAD_REQUEST, "not an address") from error


def _page(path: Path) -> bytes:
    """A rater's page, told that there is a server to send answers to."""
    text = read_bytes(path, MOST_PAGE_BYTES, remedy="make the study anew")
    return text.replace(b'data-save="here"', b'data-save="server"', 1)
