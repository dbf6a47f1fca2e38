from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from support.judge_data import answer, small_study
from wayword.episodes import Example
from wayword.errors import WaywordError
from wayword.judge import server as serving
from wayword.judge.answers import MOST_BYTES, read_answers
from wayword.judge.server import JudgeServer, ServeConfig
from wayword.judge.study import Study
from wayword.loopback import is_loopback
from wayword.sim.render.bank import MeshBank

OURS = {"Content-Type": "application/json", "X-Wayword": "judge"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, dev_pairs: list[Example], bank: MeshBank) -> Path:
    folder = tmp_path_factory.mktemp("judge") / "study"
    small_study(folder, dev_pairs[:3], bank)
    return folder


@pytest.fixture
def server(folder: Path) -> Iterator[JudgeServer]:
    for old in (folder / "answers").glob("*"):
        old.unlink()
    yield from _running(JudgeServer(folder, ServeConfig(port=0)))


@pytest.fixture
def guarded(folder: Path) -> Iterator[JudgeServer]:
    yield from _running(JudgeServer(folder, ServeConfig(port=0, token="open-sesame")))


def _running(server: JudgeServer) -> Iterator[JudgeServer]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def ask(server: JudgeServer, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=10)
    data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    named = {key.replace("_", "-"): value for key, value in headers.items()}
    connection.request(method, path, data, named)
    reply = connection.getresponse()
    result = reply.status, reply.read()
    connection.close()
    return result


def first(study: Study) -> tuple[str, str]:
    rater, sheet = next(iter(study.sheets.items()))
    return rater, sheet[0]


def test_answers_are_on_the_disk_when_the_reply_comes(server: JudgeServer, folder: Path) -> None:
    rater, item = first(server.study)
    status, page = ask(server, "GET", f"/r/{rater}")
    assert status == 200
    assert b'data-save="server"' in page
    assert ask(server, "GET", f"/r/{rater}/answers", **OURS) == (200, b"[]")
    given = answer(server.study, rater, item)
    assert ask(server, "POST", f"/r/{rater}/answers", given, **OURS)[0] == 200
    assert [json.loads(line) for line in (folder / "answers" / f"{rater}.jsonl").open()] == [given]
    assert json.loads(ask(server, "GET", f"/r/{rater}/answers", **OURS)[1]) == [given]


def test_many_at_once_lose_nothing(server: JudgeServer, folder: Path) -> None:
    jobs = [(rater, item, goal) for rater, sheet in server.study.sheets.items() for item in sheet for goal in (1, 5)]

    def send(job: tuple[str, str, int]) -> int:
        rater, item, goal = job
        given = answer(server.study, rater, item, goal=goal, at=f"2026-01-31T12:00:0{goal}Z")
        return ask(server, "POST", f"/r/{rater}/answers", given, **OURS)[0]

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(send, jobs)) == {200}
    found, torn = read_answers(folder, server.study)
    assert torn == 0
    assert len(found) * 2 == len(jobs)
    assert {a.goal for a in found.values()} == {5}


@pytest.mark.parametrize(
    "change",
    [{"goal": 0}, {"goal": 6}, {"goal": "4"}, {"goal": True}, {"goal": 4.0}, {"path": None}, {"problem": "<b>"},
     {"problem": []}, {"seconds": -1}, {"seconds": float("nan")}, {"seconds": 10**400}, {"at": "yesterday"},
     {"at": "2026-01-31T12:00:00Z\n"}, {"consent": False}, {"consent": 1}, {"study": "0" * 16}, {"item": "0" * 16},
     {"item": ["x"]}, {"item": "../../key.json"}, {"rater": "../key"}, {"extra": 1}],
)  # fmt: skip
def test_answers_that_are_none_are_refused(server: JudgeServer, folder: Path, change: dict[str, Any]) -> None:
    rater, item = first(server.study)
    given = {**answer(server.study, rater, item), **change}
    status, why = ask(server, "POST", f"/r/{rater}/answers", given, **OURS)
    assert status == 400
    assert b"\n" not in why
    assert list((folder / "answers").iterdir()) == []


def test_nobody_answers_for_another(server: JudgeServer) -> None:
    one, other = server.study.sheets
    given = answer(server.study, other, server.study.sheets[other][0])
    assert ask(server, "POST", f"/r/{one}/answers", given, **OURS)[0] == 403


@pytest.mark.parametrize("body", [b"", b"{", b"[" * 1900, b"null", b'{"goal":' + b"9" * 1900, b"\xff\xfe"])
def test_bodies_that_are_no_json(server: JudgeServer, body: bytes) -> None:
    rater, _ = first(server.study)
    assert ask(server, "POST", f"/r/{rater}/answers", body, **OURS)[0] == 400


def test_other_sites_can_neither_read_nor_write(server: JudgeServer, folder: Path) -> None:
    rater, item = first(server.study)
    given = answer(server.study, rater, item)
    place, host = f"/r/{rater}/answers", f"127.0.0.1:{server.server_address[1]}"
    for headers in (
        {"Content-Type": "application/json"},  # what a foreign form could do
        {**OURS, "Origin": "https://evil.example"},
        {**OURS, "Origin": "null"},
        {**OURS, "Origin": "http://["},
        {**OURS, "Sec-Fetch-Site": "cross-site"},
        {**OURS, "Host": "evil.example"},  # a foreign name that was pointed at this computer
    ):
        assert ask(server, "POST", place, given, **headers)[0] in (400, 403, 421)
        assert ask(server, "GET", place, **headers)[0] in (400, 403, 421)
    assert ask(server, "POST", place, given, **{**OURS, "Content-Type": "text/plain"})[0] == 415
    assert ask(server, "OPTIONS", place, Origin="https://evil.example")[0] == 501  # no leave is ever given
    assert list((folder / "answers").iterdir()) == []
    assert ask(server, "POST", place, given, **OURS, Origin=f"http://{host}", Sec_Fetch_Site="same-origin")[0] == 200


@pytest.mark.parametrize(
    "path",
    ["/", "/r/", "/key.json", "/r/../key.json", "/r/%2e%2e/key.json", "/r/..%2f..%2fkey.json", "//etc/passwd",
     "/pages/CODE.html", "/r/CODE.html", "/r/CODE/", "/r/CODE/answers/../../key.json", "/r/" + "0" * 16, "/r/CODE%00"],
)  # fmt: skip
def test_nothing_else_is_served(server: JudgeServer, path: str) -> None:
    rater, _ = first(server.study)
    status, text = ask(server, "GET", path.replace("CODE", rater))
    assert status in (400, 404)
    assert rater.encode() not in text


def test_too_much_is_refused_before_it_is_read(server: JudgeServer) -> None:
    rater, _ = first(server.study)
    place = f"/r/{rater}/answers"
    assert ask(server, "POST", place, b"x" * (MOST_BYTES + 1), **OURS)[0] == 413
    for length in ("99999999999", "-1", "1_0", "abc"):
        with socket.create_connection(("127.0.0.1", server.server_address[1]), timeout=10) as raw:
            raw.sendall(f"POST {place} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n".encode())
            assert raw.recv(100).split()[1] in (b"411", b"413")


def test_an_address_that_is_none(server: JudgeServer) -> None:
    with socket.create_connection(("127.0.0.1", server.server_address[1]), timeout=10) as raw:
        raw.sendall(b"GET http://[::1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert raw.recv(100).split()[1] == b"400"


def test_a_silent_visitor_is_sent_away(server: JudgeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving._Handler, "timeout", 0.2)
    with socket.create_connection(("127.0.0.1", server.server_address[1]), timeout=10) as raw:
        raw.sendall(b"GET /r/")
        assert raw.recv(100) == b""


def test_the_token_is_needed_for_everything(guarded: JudgeServer) -> None:
    rater, item = first(guarded.study)
    given = answer(guarded.study, rater, item)
    assert all(link.endswith("?token=open-sesame") for link in guarded.links)
    assert ask(guarded, "GET", f"/r/{rater}")[0] == 403
    assert ask(guarded, "GET", f"/r/{rater}?token=open-sesam")[0] == 403
    assert ask(guarded, "GET", "/nothing")[0] == 403  # without it nobody learns which codes exist
    assert ask(guarded, "GET", f"/r/{rater}?token=open-sesame")[0] == 200
    assert ask(guarded, "GET", f"/r/{rater}?token=open-sesame", Host="judge.example")[0] == 200  # behind a proxy
    assert ask(guarded, "POST", f"/r/{rater}/answers", given, **OURS)[0] == 403
    assert ask(guarded, "POST", f"/r/{rater}/answers", given, **OURS, X_Wayword_Token="open-sesame")[0] == 200


def test_who_may_listen_where(folder: Path) -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.9.9.9", "::1", "localhost")))
    assert not any(map(is_loopback, ("0.0.0.0", "", "::", "192.168.1.5", "localhost.evil.example", "127.0.0.1.nip.io")))
    for host in ("0.0.0.0", "", "example.org"):
        with pytest.raises(WaywordError, match="--token"):
            ServeConfig(host)
    with pytest.raises(WaywordError, match="at least 8"):
        ServeConfig("0.0.0.0", token="short")
    with pytest.raises(WaywordError, match="cannot listen"):
        JudgeServer(folder, ServeConfig("192.0.2.1", 0, "long-enough"))


def test_a_full_disk_is_said_and_the_page_keeps_the_answer(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(server.book, "append", full)
    rater, item = first(server.study)
    status, why = ask(server, "POST", f"/r/{rater}/answers", answer(server.study, rater, item), **OURS)
    assert (status, why) == (507, b"cannot be saved now (No space left on device)")
