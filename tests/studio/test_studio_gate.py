"""Who may open the studio: judged on headers, and on a real server."""

from __future__ import annotations

import http.client
import re
from collections.abc import Iterator

import pytest

from wayword.cli.launch import main
from wayword.errors import WaywordError
from wayword.loopback import is_loopback
from wayword.studio.gate import Gate, check_access
from wayword.studio.server import _start, check_host

TOKEN = "0123456789abcdefXYZ"


def ask(gate: Gate, path: str = "/", **headers: str) -> int:
    refusal = gate.refuse(path, {key.replace("_", "-"): value for key, value in headers.items()}.get)
    return 200 if refusal is None else int(refusal.status)


def test_loopback_names() -> None:
    assert all(is_loopback(host) for host in ("127.0.0.1", "127.1.2.3", "::1", "[::1]", "localhost"))
    assert not any(is_loopback(host) for host in ("0.0.0.0", "", "192.168.1.5", "localhost.evil.com", "::"))


def test_others_are_let_in_only_with_a_token() -> None:
    check_access("127.0.0.1", None)
    check_access("0.0.0.0", TOKEN)
    with pytest.raises(WaywordError, match=r"--token [0-9a-f]{24}$"):
        check_access("0.0.0.0", None)
    for weak in ("short", "x" * 15, "ü" * 20, "sixteen letters; and more"):
        with pytest.raises(WaywordError, match="--token"):
            check_access("127.0.0.1", weak)


def test_without_a_token_only_this_machine_and_its_own_page() -> None:
    gate = Gate()
    assert ask(gate, Host="localhost:8080") == 200
    assert ask(gate, Host="[::1]:8080") == 200
    assert ask(gate, Host="rebound.example.com:8080") == 403
    assert ask(gate) == 403
    socket = {"Upgrade": "websocket", "Host": "127.0.0.1:8080"}
    assert ask(gate, **socket, Origin="http://127.0.0.1:8080") == 200
    assert ask(gate, **socket, Origin="http://evil.example.com") == 403
    assert ask(gate, **socket, Origin="http://127.0.0.1:9999") == 403  # another page on this machine
    assert ask(gate, **socket, Origin="null") == 403


def test_with_a_token_nothing_passes_without_it() -> None:
    gate = Gate(TOKEN)
    assert ask(gate, Host="drone.lan") == 403
    assert ask(gate, "/?token=" + TOKEN[:-1] + "x", Host="drone.lan") == 403
    refusal = gate.refuse(f"/?token={TOKEN}", {"Host": "drone.lan"}.get)
    assert refusal is not None
    assert refusal.status == 303
    assert refusal.headers["Location"] == "/"  # the token leaves the address bar
    linked = gate.refuse(f"/?say=stop+at+%26&token={TOKEN}&seed=3", {"Host": "drone.lan"}.get)
    assert linked is not None
    assert linked.headers["Location"] == "/?say=stop+at+%26&seed=3"  # and the rest of it stays
    cookie = refusal.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    pair = cookie.split(";")[0]
    assert ask(gate, Host="drone.lan", Cookie=f"a=b; {pair}") == 200
    assert ask(gate, Host="drone.lan", Cookie=pair[:-1]) == 403
    socket = {"Upgrade": "websocket", "Host": "drone.lan"}
    assert ask(gate, f"/?token={TOKEN}", **socket) == 403  # a socket needs the cookie
    assert ask(gate, **socket, Cookie=pair, Origin="http://evil.example.com") == 403
    assert ask(gate, **socket, Cookie=pair, Origin="http://drone.lan") == 200
    assert ask(Gate("another-token-of-mine"), Host="drone.lan", Cookie=pair) == 403


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--host", "0.0.0.0"], "--token"),
        (["--token", "guess"], "--token"),
        (["--port", "70000"], "--port 70000"),
        (["--grounder", "nobodys"], "nobodys"),
    ],
)
def test_the_command_says_what_is_missing(options: list[str], why: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["studio", *options])
    assert stopped.value.code == 2
    assert why in capsys.readouterr().err


@pytest.mark.parametrize("host", ["192.0.2.77", "no.such.host.invalid"])
def test_an_address_of_another_machine_is_refused(host: str) -> None:
    with pytest.raises(WaywordError, match="cannot be listened on"):
        check_host(host)
    check_host("127.0.0.1")
    check_host("0.0.0.0")


@pytest.fixture
def port() -> Iterator[int]:
    """A real viser server behind a gate with a token."""
    server = _start("127.0.0.1", 0, Gate(TOKEN))
    yield server.get_port()
    server.stop()


def _get(port: int, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    return answer.status, dict(answer.getheaders()), answer.read()


@pytest.mark.needs_studio
def test_a_real_server_asks_for_the_token_everywhere(port: int) -> None:
    for path in ("/", "/index.html", "/assets/x.js", "/?token=wrong"):
        status, _, body = _get(port, path)
        assert (status, b"viser" in body) == (403, False)
    status, headers, _ = _get(port, f"/?token={TOKEN}")
    assert status == 303
    pair = headers["Set-Cookie"].split(";")[0]
    status, _, body = _get(port, "/", Cookie=pair)
    assert status == 200
    assert re.search(rb"<html|<!doctype", body, re.IGNORECASE)
    upgrade = {
        "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }  # fmt: skip
    assert _get(port, "/", **upgrade)[0] == 403
    assert _get(port, "/", **upgrade, Cookie=pair, Origin="http://evil.example.com")[0] == 403
