"""docs/extending.md does what it says: its files are written and its commands run, in an empty folder."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from wayword.episodes import examples, load_natural
from wayword.pilot import open_database
from wayword.policy import Observations, make_policy

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
TEXT = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that holds the page's modules."""
    names = []
    for block in BLOCK.finditer(TEXT):
        if block["language"] == "python":
            first, _, code = block["code"].partition("\n")
            names.append(first.removeprefix("# "))
            (tmp_path / names[-1]).write_text(code)
    assert names == ["mypolicy.py", "chaser.py", "mydrone.py", "mychunker.py"]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name in names:
        sys.modules.pop(name.removesuffix(".py"), None)


def run(command: str, folder: Path) -> str:
    """Run one `wayword` command as a reader would; nothing puts ``folder`` on the path for it."""
    program = f'{sys.executable} -c "from wayword.cli.launch import main; main()"'
    path = os.pathsep.join([str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1", "COLUMNS": "200"}
    words = re.sub(r"^wayword ", f"{program} ", command)
    done = subprocess.run(["bash", "-c", words], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stderr or done.stdout}"
    return done.stdout


def test_the_policy_has_twenty_lines(here: Path) -> None:
    lines = (here / "mypolicy.py").read_text().strip().splitlines()
    assert sum(bool(line.strip()) for line in lines) <= 20


def test_the_commands_of_the_page(here: Path) -> None:
    blocks = [block["code"].strip() for block in BLOCK.finditer(TEXT) if block["language"] == "sh"]
    said = {command.split()[1]: run(command, here) for block in blocks for command in block.split("\n")}
    assert list(said) == ["eval", "fly", "flight", "parse"]
    report = json.loads((here / "flights.json").read_text())
    assert (report["policy"], report["n"], report["privileged"]) == ("mypolicy:MyPolicy", 2, False)
    assert report["ended_by"]["policy"] == 2
    assert "mypolicy:MyPolicy" in said["eval"]  # the row of the table
    table = json.loads((here / "runs" / "eval" / "table-dev.json").read_text())
    assert list(table["cells"]) == ["average.dev.natural", "mypolicy-MyPolicy.dev.natural"]
    assert "stopped after 6.0 s" in said["fly"]
    assert "ok   battery" in said["flight"]
    assert "the globe" in said["parse"]


def test_the_chaser_sees_and_turns(here: Path) -> None:
    example = examples(load_natural("test")[0], 1)[0]
    policy = make_policy("chaser:Chaser")
    policy.reset([example.instruction], [open_database("test")])
    grey = Observations(np.zeros(1, np.int64), np.full((1, 72, 128, 3), 90, np.uint8), np.zeros((1, 6)))
    np.testing.assert_array_equal(policy.act(grey), [[0.0, 0.6, 0.0]])  # nothing there: it looks around
