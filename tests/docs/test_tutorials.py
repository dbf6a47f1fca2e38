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


@pytest.mark.parametrize("page", sorted(path.name for path in TUTORIALS.glob("*.md") if path.name != "index.md"))
def test_a_tutorial_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if page == "train.md":
        pytest.importorskip("torch")
    if page == "learn.md":
        pytest.importorskip("stable_baselines3", reason="needs stable-baselines3: pip install stable-baselines3")
        monkeypatch.setenv("WAYWORD_LEARN_STEPS", "128")
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
    elif page == "learn.md":
        assert names["curve"].points[-1][0] == 128
    elif page == "drone.md":
        assert names["pilot"].unknown == ()
    else:
        raise AssertionError(f"{page}: say here what it promises")
