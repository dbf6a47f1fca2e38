from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from wayword.cli.launch import main
from wayword.episodes import Example
from wayword.errors import WaywordError
from wayword.evaluation.metrics import score
from wayword.evaluation.report.html_report import (
    GENERATOR,
    FailureFilmer,
    ReportedFlight,
    check_folder,
    render_report,
    write_report,
)
from wayword.evaluation.report.lengths import LengthBin, length_bins, success_by_length
from wayword.evaluation.runner import fly_examples
from wayword.pictures.video import read_video_info
from wayword.pilot.episode_loop import RunConfig
from wayword.policy import Average
from wayword.recording.film import Film, RecorderConfig
from wayword.sim.render.bank import MeshBank


class Outline(HTMLParser):
    """What a page is made of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.seen if name == tag]


def reported(example: Example, system: str = "a", points: int | None = None) -> ReportedFlight:
    path = example.path[:points]
    track = np.column_stack([path, np.zeros(len(path))])
    return ReportedFlight(system, example, score(path, example.path, 0, 9, "policy"), track)


def test_bins_hold_about_equally_many() -> None:
    lengths = [5] * 10 + [9] * 10 + [20] * 10 + [21] * 4
    bins = length_bins(lengths)
    assert bins == [LengthBin(5, 8), LengthBin(9, 19), LengthBin(20, 21)]
    assert [str(each) for each in (*bins, LengthBin(7, 7))] == ["5-8", "9-19", "20-21", "7"]
    assert length_bins([12, 3]) == [LengthBin(3, 12)]
    assert length_bins([4] * 100) == [LengthBin(4, 4)]


def test_success_by_length_counts_each_flight_once() -> None:
    short, long = [(5, True)] * 6 + [(5, False)] * 2, [(30, False)] * 8
    rates = success_by_length({"a": short + long, "b": short})
    assert [(each, v.mean, v.n) for each, v in rates["a"].items()] == [
        (LengthBin(5, 29), 0.75, 8),
        (LengthBin(30, 30), 0.0, 8),
    ]
    assert list(rates["b"]) == [LengthBin(5, 29)]  # nothing is made up where nobody flew


def test_failures_come_first_and_the_worst_before_them(dev_pairs: list[Example]) -> None:
    arrived, near, far = reported(dev_pairs[0]), reported(dev_pairs[1], points=40), reported(dev_pairs[2], points=2)
    assert [one.metrics.sr for one in (arrived, near, far)] == [True, False, False]
    worst, other = sorted((near, far), key=lambda one: -one.metrics.ne)
    text = render_report("<T&T>", [arrived, near, far], {"command": "wayword eval --x '<y>'"})
    page = Outline(text)
    places = [text.index(f">{one.example.id}<") for one in (worst, other, arrived)]
    assert places == sorted(places)
    assert "2 failures" in page.words
    assert "<T&T>" in page.words
    assert "33.3" in text  # the success rate, in the table
    assert not [a for tag, a in page.seen if tag in ("script", "link", "iframe") or "//" in (a.get("src") or "")]
    assert all(attributes.get("scope") for attributes in page.all("th"))
    both = render_report("two", [arrived, reported(dev_pairs[0], "b", 2)], {})
    assert {"a", "b"} <= set(Outline(both).words)


def test_a_flight_is_filmed_as_it_was_evaluated(
    dev_pairs: list[Example], bank: MeshBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Film, "_shoot", lambda *_: np.zeros((2, 2, 3), np.uint8))  # the flight matters, not the picture
    flights = fly_examples(Average(), dev_pairs[:3], bank, RunConfig(seed=7))
    paths = []
    for number in (1, 2):
        film = Film(Average(), dev_pairs[number], bank, RecorderConfig(seed=7, number=number))
        list(film)
        paths.append(film.flight.end.path)
    assert paths[0] == pytest.approx(flights[1].path, abs=1e-9)
    assert paths[1] == pytest.approx(flights[2].path, abs=1e-9)


def test_eval_writes_a_report_with_videos(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "report"
    command = ["eval", "--policy", "stop", "--split", "dev", "--limit", "2", "--html", str(folder)]
    main([*command, "--videos", "1"])
    assert str(folder / "index.html") in capsys.readouterr().out
    page = Outline((folder / "index.html").read_text(encoding="utf-8"))
    (video,) = page.all("video")
    assert read_video_info(folder / str(video["src"])).frames > 10
    assert len(page.all("article")) == 2
    main([*command, "--videos", "0"])  # over the first: its video goes
    assert list((folder / "videos").iterdir()) == []


def test_another_flight_than_the_evaluated_one_is_said_so(
    dev_pairs: list[Example], bank: MeshBank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Film, "_shoot", lambda *_: np.zeros((4, 4, 3), np.uint8))
    one = reported(dev_pairs[0], points=2)
    page = write_report(tmp_path / "r", "t", [one], {}, FailureFilmer(Average(), bank, RunConfig()), videos=1)
    assert "Filmed, it flew another way" in page.read_text(encoding="utf-8")


def test_a_report_is_there_when_the_filming_is_stopped(
    dev_pairs: list[Example], bank: MeshBank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(FailureFilmer, "film", stop)
    with pytest.raises(KeyboardInterrupt):
        write_report(
            tmp_path, "t", [reported(dev_pairs[0], points=2)], {}, FailureFilmer(Average(), bank, RunConfig()), videos=1
        )
    assert "1 failures" in (tmp_path / "index.html").read_text(encoding="utf-8")
    check_folder(tmp_path)


def test_folders_of_others_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(WaywordError, match="holds other files"):
        check_folder(tmp_path)
    with pytest.raises(WaywordError, match="not a folder"):
        check_folder(tmp_path / "notes.txt")
    (tmp_path / "index.html").write_text(f"<!doctype html>{GENERATOR}")
    check_folder(tmp_path)
