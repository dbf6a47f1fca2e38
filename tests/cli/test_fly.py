"""``wayword fly`` with the shipped weights, as a user meets it: words in, a video, a trace and one line out."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from wayword.camera import Camera
from wayword.cli.fly import Fly
from wayword.cli.launch import main
from wayword.flight import Fence
from wayword.flying.flight_request import _listed, mentioned_objects
from wayword.mapping import WorldMap
from wayword.pictures.video import read_video_info
from wayword.pilot.pilot import SHIPPED_OBJECTS, open_database

README_SENTENCE = "go past the planter on its left, then stop in front of the globe"


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a flight that must be refused, and return its one line."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as stop:
        main(["fly", *arguments])
    assert stop.value.code == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1, lines
    return lines[0]


@pytest.fixture(scope="module")
def flight(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """The README's flight in a process of its own that has neither PyTorch nor a network."""
    out = tmp_path_factory.mktemp("flight") / "flight.mp4"
    code = (
        "import socket, sys\n"
        "def refuse(*_, **__): raise OSError('no network here')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name in ('torch', 'onnx', 'tensorboard', 'spacy'): raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "from wayword.cli.launch import main\n"
        f"main(['fly', {README_SENTENCE!r}, '--out', {str(out)!r}])\n"
        "print(sorted({'ot', 'trimesh', 'matplotlib', 'pandas'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return out, done


def test_the_readmes_flight_without_torch_and_network(
    flight: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    out, done = flight
    lines = done.stdout.splitlines()
    assert lines[:2] == ["wayword flies in the layout of seed 0:", README_SENTENCE]
    assert lines[2] == "understood: pass the flower pot with it on your right, then go to the front of the globe"
    assert lines[3].startswith("done in ")  # the README's flight does what it says, part by part, and touches nothing
    assert "passed the flower pot with it on the right: yes" in lines[3]
    assert "stopped before the globe: yes" in lines[3]
    assert "touched" not in lines[3]
    assert lines[4:] == [str(out.with_suffix(".json")), str(out), "[]"]  # nothing heavy was loaded for it
    assert done.stderr == ""
    info = read_video_info(out)
    trace = json.loads(out.with_suffix(".json").read_text())
    moving = sum(not decision["stop"] for decision in trace["decisions"])
    assert (info.frames, info.width, info.height) == (1 + 5 * moving + 20, 1280, 720)


@pytest.mark.parametrize("page", ["pilot.md", "tutorials/fly.md"])
def test_what_the_pages_show_is_what_is_printed(
    page: str, flight: tuple[Path, subprocess.CompletedProcess[str]]
) -> None:
    """Numbers aside, which other weights change a little."""
    shown = (Path(__file__).parents[2] / "docs" / page).read_text(encoding="utf-8")
    block = shown.split("    wayword flies in the layout of seed 0:\n")[1].split("\n\n")[0]
    number = re.compile(r"\d+\.\d+")
    lines = [number.sub("#", line.strip()) for line in block.splitlines()]
    assert lines[:3] == [number.sub("#", line) for line in flight[1].stdout.splitlines()[1:4]]


def test_the_readmes_first_command_is_this_flight() -> None:
    """The check of the whole project takes the first line of the block behind the marker."""
    page = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    command = page.split("<!-- ci:fly -->\n```sh\n")[1].splitlines()[0]
    assert command.endswith(f'&& .venv/bin/wayword fly "{README_SENTENCE}"')


def test_the_trace_keeps_every_number(flight: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    trace = json.loads(flight[0].with_suffix(".json").read_text())
    assert (trace["instruction"], trace["policy"], trace["seed"]) == (README_SENTENCE, "wayword", 0)
    assert trace["metrics"] is None  # nobody demonstrated it
    assert trace["demonstration"] is None
    assert {"flower pot", "globe"} <= {item["name"] for item in trace["objects"]}
    assert trace["database"] == list(open_database("test").names)
    best = [chunk["object"] for chunk in trace["parsed"]["chunks"] if chunk["is_reference"] and not chunk["antecedent"]]
    assert best == ["flower pot", "globe"]
    for decision in trace["decisions"]:
        assert len(decision["pose"]) == 6
        assert 0 <= decision["forward_m_s"] <= 0.7
        assert abs(decision["yaw_rate_rad_s"]) <= 1
        assert {"boxes", "alignment", "references", "coverage", "d_p", "d_g"} <= set(decision["thought"])
    assert trace["flown"][0] == [trace["start"]["x"], trace["start"]["y"]]
    np.testing.assert_allclose(trace["flown"][-1], trace["decisions"][-1]["pose"][:2], atol=0.05)


def test_a_trace_is_a_layout(
    flight: tuple[Path, subprocess.CompletedProcess[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = flight[0].with_suffix(".json"), tmp_path / "again.png"
    main(
        ["fly", README_SENTENCE, "--layout", str(source), "--out", str(out), "--trace", str(tmp_path / "t" / "x.json")]
    )
    assert "in the layout of flight" in capsys.readouterr().out
    before, after = (json.loads(path.read_text()) for path in (source, tmp_path / "t" / "x.json"))
    for key in ("objects", "start", "decisions", "flown", "contacts"):
        assert before[key] == after[key], key
    assert Image.open(out).size == (1280, 720)


def test_an_example_of_the_corpus_is_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "flight.png"
    main(["fly", "--example", "dev-000/1-2", "--as-seen", "--out", str(out)])
    said = capsys.readouterr().out.splitlines()[3]
    assert re.match(
        r"(arrived|missed): .* m from the [a-z ]+, which is .* m from the end of the demonstration, EMD ", said
    )
    trace = json.loads(out.with_suffix(".json").read_text())
    assert trace["metrics"]["steps"] == len(trace["decisions"])
    assert trace["database"] == list(open_database("dev").names)
    assert Image.open(out).size == (1280, 720)


def test_what_nobody_taught_is_said_before_take_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "fly 🚁 past the unicorn\n[bold]and\x1b[31m stop\x00 by the bathtub[/bold] " + "as soon as you can " * 500
    main(["fly", text[:10_000], "--policy", "stop", "--layout", "dev-003/1-2", "--out", str(tmp_path / "flight.png")])
    said = capsys.readouterr()
    assert 'does not know "the unicorn"; it knows: bathtub, ' in said.err
    assert "[bold]" in said.out  # as typed, not as markup
    assert "\x1b" not in said.out
    assert "\x00" not in said.out
    assert "...\n" in said.out
    assert len(said.out) < 1000


def test_a_policy_that_does_not_listen_flies_the_same_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "flight.png"
    main(["fly", "stop by the hourglass", "--policy", "stop", "--db", str(SHIPPED_OBJECTS / "dev"), "--out", str(out)])
    assert "stopped after 0.0 s" in capsys.readouterr().out
    trace = json.loads(out.with_suffix(".json").read_text())
    assert "hourglass" in {item["name"] for item in trace["objects"]}
    assert "thought" not in trace["decisions"][0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([""], "the instruction has no words"),
        (["🚁!"], "the instruction has no words"),
        (["x" * 20_001], "characters"),
        (["go \udcff"], "half a character"),
        (["go", "--seed", "-1"], "--seed -1"),
        (["go", "--policy", "oracle"], "the oracle follows demonstrations"),
        (["go", "--example", "dev-000/1-2"], "--layout"),
        (["--layout", "dev-000"], "--example"),
        (["go", "--layout", "dev-999"], "no layout 'dev-999'"),
        (["go", "--layout", "missing.json"], "missing.json"),
        (["go", "--layout", "train-000"], "--db"),
        (["go", "--db", "seen"], "objects build"),
        (["go", "--db", "nowhere"], "nowhere"),
        (["go", "--weights", "nowhere"], "nowhere"),
        (["go", "--out", "flight.avi"], ".mp4"),
        (["go", "--camera", "missing.json"], "missing.json: cannot be read"),
    ],
)
def test_mistakes_are_one_line_and_leave_nothing(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    assert message in refused(capsys, *arguments)
    assert list(tmp_path.iterdir()) == []


def test_another_camera_is_drawn_and_known(tmp_path: Path) -> None:
    camera, out = Camera(640, 360, mount_pitch_deg=40.0), tmp_path / "flight.png"
    camera.to_file(tmp_path / "camera.json")
    main(["fly", "stop in front of the globe", "--camera", str(tmp_path / "camera.json"), "--out", str(out)])
    trace = json.loads(out.with_suffix(".json").read_text())
    assert Camera(**trace["camera"]) == Camera(mount_pitch_deg=40.0)
    world = WorldMap(0, Camera(mount_pitch_deg=40.0))
    world.update(np.zeros((0, 4), np.float32), [], np.zeros((0, 0)), trace["decisions"][0]["pose"])
    observed = np.array([[int(digit) for digit in row] for row in trace["decisions"][0]["thought"]["coverage"]])
    np.testing.assert_allclose(observed, 10 * world.coverage, atol=1.01)


def test_a_real_vehicle_is_flown_by_the_same_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ("--out", str(tmp_path / "flight.png"))
    assert "is no vehicle address" in refused(capsys, "stop by the globe", "--vehicle", "drone", *out)
    assert "needs --video" in refused(capsys, "stop by the globe", "--vehicle", "udpin://127.0.0.1:14540", *out)
    assert "in the simulator only" in refused(capsys, "stop", "--vehicle", "sim", "--policy", "oracle", *out)
    assert "--anyway is for the simulator" in refused(capsys, "stop", "--vehicle", "sim", "--anyway", *out)
    assert "name it with --vehicle" in refused(capsys, "stop by the globe", "--video", "rtsp://127.0.0.1/cam", *out)
    assert "say for example" in refused(capsys, "--vehicle", "sim", *out)
    assert not any(tmp_path.iterdir())


def test_a_real_vehicle_has_a_start_and_a_fence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fence, plans = tmp_path / "fence.json", []
    fence.write_text('{"corners": [[0, 0], [4, 0], [4, 4], [0, 4]], "low_m": 0.4, "high_m": 1.2}')
    monkeypatch.setattr("wayword.cli.flight.fly_vehicle", lambda options, *rest, **more: plans.append(options))
    place = ("--start", "1.0", "2.0", "1.57", "--fence", str(fence))
    main(["fly", "stop by the globe", "--vehicle", "udpin://127.0.0.1:14540", *place])
    assert plans[0].start == (1.0, 2.0, 1.57)
    assert plans[0].plan().fence == Fence(((0, 0), (4, 0), (4, 4), (0, 4)), 0.4, 1.2)
    assert "--start is for a real vehicle" in refused(capsys, "stop by the globe", *place[:4])
    assert "--fence is for a real vehicle" in refused(capsys, "stop by the globe", *place[4:])


def test_an_object_without_a_mesh_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = tmp_path / "mine"
    Image.effect_noise((96, 96), 60).convert("RGB").save(tmp_path / "lamp.png")
    main(["teach", "my lamp", str(tmp_path / "lamp.png"), "--phrase", "the lamp", "--phrase", "reading lamp",
          "--db", str(database)])  # fmt: skip
    main(["fly", "stop by the lamp", "--policy", "stop", "--db", str(database), "--out", str(tmp_path / "f.png")])
    assert "no model of my lamp; give meshes with --objects" in capsys.readouterr().err


def test_small_words() -> None:
    assert mentioned_objects(None) == []
    assert _listed(["a"]) == "a"
    assert _listed(["a", "b", "c"]) == "a, b and c"
    assert _listed([str(k) for k in range(20)]).endswith("15 and 4 more")
    assert Fly().policy == "wayword"


def test_words_without_quotes_are_put_in_quotes(capsys: pytest.CaptureFixture[str]) -> None:
    for words, command in (
        ("fly stop at the globe --seed 3", 'wayword fly "stop at the globe"'),
        ("parse go to it", 'wayword parse "go to it"'),
        ("flight fly go to it", 'wayword flight fly "go to it"'),
        ("flight rehearse go to it", 'wayword flight rehearse "go to it"'),
    ):
        with pytest.raises(SystemExit) as stop:
            main(words.split())
        said = capsys.readouterr().err
        assert (stop.value.code, said) == (2, f"wayword: put the instruction in quotes: {command}\n")


@pytest.mark.parametrize(
    ("text", "seed", "parts"),
    [
        (
            "circle the strawberry, then wait by the fire truck",
            7,
            ("circled the strawberry once: yes", "stopped at the fire truck: yes"),
        ),
        (
            "find the globe, go round it twice counter-clockwise and come back",
            0,
            ("circled the globe counter-clockwise twice: yes", "returned"),
        ),
    ],
)
def test_the_examples_of_the_readme_do_what_they_say(
    text: str, seed: int, parts: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert text in (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    main(["fly", text, "--seed", str(seed), "--out", str(tmp_path / "f.png")])
    outcome = capsys.readouterr().out.splitlines()[3]
    assert outcome.startswith("done in ")
    assert all(part in outcome for part in parts)


@pytest.mark.parametrize("text", ["fly to the rocket", "the weather is lovely today", "exit"])
def test_what_cannot_be_flown_is_refused_with_a_reason(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["fly", text, "--out", str(tmp_path / "f.png")])
    said = capsys.readouterr().err
    assert stop.value.code == 3
    assert said.count("\n") == 1
    assert "I know fire truck" in said
    assert "--anyway" in said
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("help", "I fly to things"),
        ("what time is it?", "I fly to things"),
        ("land", "I take off and land by myself"),
    ],
)
def test_who_asks_is_answered_and_not_told_to_fly_anyway(
    text: str, answer: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["fly", text, "--out", str(tmp_path / "f.png")])
    said = capsys.readouterr().err
    assert (stop.value.code, said.count("\n")) == (3, 1)
    assert said.startswith(f"wayword: {answer}")
    assert "I know fire truck" in said
    assert "--anyway" not in said
