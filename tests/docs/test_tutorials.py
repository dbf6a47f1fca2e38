"""The tutorials do what they say: their blocks run in order, in an empty folder, as a reader would type them.

```python blocks of one page share a namespace; ```sh blocks run in bash with the `wayword` of this tree. Indented
blocks show what is printed, or what needs a drone, and are not run.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
TUTORIALS = ROOT / "docs" / "tutorials"
BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


def run_page(page: Path, folder: Path) -> dict[str, Any]:
    """Run every block of ``page`` in ``folder``, which is the working directory; returns the Python names it leaves."""
    command = folder / "bin" / "wayword"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "from wayword.cli.launch import main; main()" "$@"\n')
    command.chmod(0o755)
    paths = [str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {
        **os.environ,
        "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(paths),
    }
    names: dict[str, Any] = {"__name__": page.stem}
    blocks = list(BLOCK.finditer(page.read_text(encoding="utf-8")))
    assert blocks, f"{page.name} has nothing to run"
    for block in blocks:
        line = page.read_text(encoding="utf-8")[: block.start()].count("\n") + 1
        if block["language"] == "python":
            exec(compile("\n" * line + block["code"], str(page), "exec"), names)
        else:
            assert block["language"] == "sh", f"{page.name}:{line}: who runs {block['language']}?"
            done = subprocess.run(
                ["bash", "-eu", "-c", block["code"]], cwd=folder, env=environment, capture_output=True, text=True
            )
            assert done.returncode == 0, f"{page.name}:{line}: {done.stderr or done.stdout}"
    return names


ELSEWHERE = ("index.md", "learn.md")
"""Pages that have nothing to run, or show parts of a script that is run below."""


@pytest.mark.parametrize("page", sorted(path.name for path in TUTORIALS.glob("*.md") if path.name not in ELSEWHERE))
def test_a_tutorial_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if page == "train.md":
        pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    names = run_page(TUTORIALS / page, tmp_path)
    # What each page promises its reader.
    if page == "fly.md":
        assert (tmp_path / "flight.png").stat().st_size > 10_000
        assert [chunk["object"] for chunk in names["references"]] == ["flower pot", "globe"]
        assert names["success"]
    elif page == "teach.md":
        assert (tmp_path / "mask.png").is_file()
        assert (tmp_path / "duck.png").is_file()
    elif page == "world.md":
        assert names["metrics"]["sr"]["mean"] == 0.0  # of `stop`, the last one printed
        assert (tmp_path / "fspvn.json").is_file()
    elif page == "train.md":
        assert names["run"].step == 20
        assert (tmp_path / "mine.png").is_file()
    elif page == "drone.md":
        assert names["pilot"].unknown == ()
    else:
        raise AssertionError(f"{page}: say here what it promises")


def lines_of(code: str) -> str:
    return "\n".join(line.strip() for line in code.splitlines() if line.strip())


def test_the_page_about_learning_shows_its_script() -> None:
    blocks = BLOCK.findall((TUTORIALS / "learn.md").read_text(encoding="utf-8"))
    script = lines_of((TUTORIALS / "learn.py").read_text(encoding="utf-8"))
    assert len(blocks) == 3
    assert all(language == "python" and lines_of(code) in script for language, code in blocks)


@pytest.mark.needs_sb3
def test_learning_is_one_command_that_writes_its_curve(tmp_path: Path) -> None:
    """In miniature; Stable-Baselines3's check of the environment is a part of it."""
    paths = [str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, str(TUTORIALS / "learn.py"), "--steps", "128", "--seed", "3", "--out", str(tmp_path / "out")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = (tmp_path / "out" / "curve.csv").read_text().splitlines()
    assert rows[0] == "steps,seconds,flights,arrived"
    assert rows[1].startswith("128,")
    assert (tmp_path / "out" / "curve.svg").read_text().startswith("<svg")
