"""Every verb of the command line: its ``--help`` is printed, and it runs once in miniature, as a user would call it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest
from PIL import Image

from wayword.camera import Camera
from wayword.cli.launch import main
from wayword.cli.main import EVALUATIONS, Verb
from wayword.episodes import PlacedObject
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.look import Look
from wayword.sim.render.renderer import Renderer

SENTENCE = "stop in front of the globe"


def named(options: Any) -> Iterator[tuple[str, Any]]:
    """Names and classes of a union of subcommands."""
    for option in get_args(options):
        verb, *remarks = get_args(option)
        yield next(remark.name for remark in remarks if getattr(remark, "name", None)), verb


def every_verb(options: Any = Verb, before: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The words that call each verb, and its class; ``judge`` itself is none, ``judge make`` is one."""
    for name, verb in named(options):
        inner = get_type_hints(verb, include_extras=True).get("what")
        if all(is_dataclass(next(iter(get_args(option)), None)) for option in get_args(inner)) and inner is not None:
            yield from every_verb(inner, (*before, name))
        else:
            yield (*before, name), verb
    if not before:
        yield from ((("eval", name), verb) for name, verb in EVALUATIONS.items())


CLASSES = dict(every_verb())
VERBS = sorted(CLASSES)
FAMILIES = sorted({verb[:length] for verb in VERBS for length in range(len(verb))})


@pytest.mark.parametrize("words", [*FAMILIES, *VERBS], ids=" ".join)
def test_help(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([*words, "--help"])
    said = capsys.readouterr()
    assert (stop.value.code, said.err) == (0, "")
    assert "usage: wayword" in said.out
    if words == ("eval",):
        assert all(f"wayword eval {name}" in said.out for name in EVALUATIONS)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the miniatures need: photos of a globe, and of a checkerboard."""
    home = tmp_path_factory.mktemp("home")
    renderer = Renderer(MeshBank.of_catalogue(["globe"]), Camera(320, 180))
    for number, yaw in enumerate((0.0, 2.0)):
        scene = renderer.scene([PlacedObject("globe", 2.0, 2.0, yaw)], Look())
        photo = renderer.render([scene], [[1.2, 2.0, 0.7, 0.0, 0.0, 0.0]]).rgb[0]
        Image.fromarray(photo).save(home / f"globe{number}.png")
    return home


# In the order in which they are run: what one writes, a later one reads. A verb that is not here, and not below, fails.
MINIATURES: dict[tuple[str, ...], str] = {
    ("parse",): f'"{SENTENCE}" --db test --json',
    ("teach",): 'globe globe0.png globe1.png --phrase "the globe" --db mine',
    ("objects", "list"): "--db mine",
    ("objects", "show"): "globe --db mine",
    ("objects", "check"): "--db mine --out check.png",
    ("objects", "remove"): "globe --photo 002 --db mine",
    ("objects", "build"): "--which dev --views 1 --out built",
    ("ground",): 'globe0.png "the globe" --db test --out overlay.png',
    ("world", "layout"): "--seed 1 --out layout.png",
    ("world", "objects"): "--out objects.png",
    ("world", "demos"): "--count 2 --out demos.jsonl",
    ("world", "frames"): "--count 3 --world arena --out frames",
    ("data", "generate"): "--count 3 --processes 1 --out train.jsonl",
    ("data", "stats"): "train.jsonl",
    ("data", "export"): "--limit 2 --segments 1 --out lerobot",
    ("ar", "generate"): "--count 4 --shard-frames 4 --random-objects 24 --flights 1 --out shards",
    ("ar", "preview"): "--shards shards --frames-shown 4 --out ar.png",
    ("fly",): f'"{SENTENCE}" --out flight.png',
    ("flight", "check"): "",
    ("flight", "fly"): f'"{SENTENCE}" --out vehicle.png --no-film',
    ("flight", "replay"): "vehicle.box",
    ("flight", "faults"): "--count 1",
    ("eval",): "--policy average --split dev --limit 2 --out average.json",
    ("eval", "table"): "--systems stop --episodes natural --limit 2 --workers 1 --folder table --any-code",
    ("eval", "vehicles"): "--vehicles usual --limit 2 --workers 1",
    ("eval", "sides"): "--drills 2 --workers 1",
    ("eval", "swap"): "--grounder lab --limit 2 --workers 1 --folder swap",
    ("eval", "governed"): "--limit 1 --workers 1",
    ("eval", "paragraphs"): "--limit 1 --workers 1 --out paragraphs.json",
    ("eval", "commands"): "--limit 3 --workers 1 --out commands.jsonl",
    ("judge", "make"): "average.json --out study --raters 1 --checks 0 --examples 1",
    ("bench",): "policy --repeats 2",
    ("results",): "--docs docs",
}
SERVERS = {("studio",): "--port 0 --db none", ("judge", "serve"): "study --port 0"}
ELSEWHERE = {
    ("flight", "calibrate"): "tests/flight/test_flight_video.py",
    ("flight", "rehearse"): "tests/flight/test_rehearsal.py",
    ("train", "reader"): "tests/learning/language/test_reader_training.py",
    ("train", "reader-report"): "tests/learning/language/test_reader_training.py",
    ("judge", "report"): "tests/judge/test_judge_report.py",
    ("train", "language"): "tests/learning/language",
    ("train", "language-report"): "tests/learning/language",
    ("train", "grounding"): "tests/learning/grounding",
    ("train", "grounding-report"): "tests/learning/grounding",
    ("train", "frames-report"): "tests/learning/grounding/test_frame_report.py",
    ("train", "photos"): "tests/learning/grounding/test_train_photos.py",
    ("train", "policy"): "tests/learning/policy",
    ("train", "pvn2"): "tests/learning/policy/test_pvn2_training.py",
}
"""Verbs whose miniature takes minutes or people: their parts are tested there."""


def test_no_verb_is_forgotten() -> None:
    assert sorted({*MINIATURES, *SERVERS, *ELSEWHERE}) == VERBS
    assert all((Path(__file__).parents[2] / path).exists() for path in ELSEWHERE.values())


# What takes a database. One that ships is meant by its name wherever a database is read, and is never written to.
READS = {
    ("parse",): '"stop at the globe"',
    ("ground",): 'globe0.png "the globe" --out overlay.png',
    ("objects", "list"): "",
    ("objects", "show"): "globe",
    ("objects", "check"): "--out check.png",
    ("data", "generate"): "--count 1 --processes 1 --out about_test.jsonl",
    ("fly",): '"stop in front of the globe" --policy stop --out stop.png',
    ("flight", "fly"): f'"{SENTENCE}" --out vehicle.png --no-film',
    ("eval",): "--policy stop --limit 1",
}
WRITES = {("teach",): "globe globe0.png", ("objects", "remove"): "globe", ("studio",): ""}
NEEDS_AN_AUTOPILOT = {("flight", "rehearse")}


def test_databases_that_ship_are_meant_by_name_everywhere(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import shlex

    taking = {words for words, verb in CLASSES.items() if "db" in {field.name for field in fields(verb)}}
    assert taking | {("parse",)} == {*READS, *WRITES} | NEEDS_AN_AUTOPILOT
    monkeypatch.chdir(home)
    for words, options in READS.items():
        main([*words, *shlex.split(options), "--db", "test"])
    for words, options in WRITES.items():
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main([*words, *shlex.split(options), "--db", "test"])
        assert (stop.value.code, "ships with Wayword" in capsys.readouterr().err) == (2, True)


def test_every_verb_runs_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import shlex

    monkeypatch.chdir(home)
    docs = Path(__file__).parents[2] / "docs"
    (home / "docs").mkdir()
    (home / "docs" / "results.json").write_bytes((docs / "results.json").read_bytes())
    (home / "docs" / "cards").mkdir()
    for words, options in MINIATURES.items():
        print("wayword", *words, options)
        main([*words, *shlex.split(options)])
    assert {"flight.png", "overlay.png", "ar.png", "check.png"} <= {path.name for path in home.iterdir()}
    assert json.loads((home / "average.json").read_text())["n"] == 2
    assert np.asarray(Image.open(home / "ar.png")).std() > 10  # a sheet with something on it
    for words, options in SERVERS.items():
        assert serves([*words, *shlex.split(options)], home), words


def serves(words: list[str], folder: Path) -> bool:
    """Start a server in a process of its own, wait for the address it prints, end it with Ctrl-C."""
    # Jobs of a shell's background ignore Ctrl-C, and so would their children.
    heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = f"{heed}; from wayword.cli.launch import main; main({words!r})"
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen([sys.executable, "-c", code], cwd=folder, env=environment, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        said = server.stdout.readline().decode()
        server.send_signal(signal.SIGINT)
        try:
            server.communicate(timeout=60)
        finally:
            server.kill()
    return re.search(r"http://127\.0\.0\.1:\d+", said) is not None
