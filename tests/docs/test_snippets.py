"""The Python of the pages runs as it stands, with the names that the text around it speaks of.

Tutorials, pilot.md and extending.md are run elsewhere, in order and in full.
"""

from __future__ import annotations

import operator
import re
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wayword.camera import Camera
from wayword.episodes import PlacedObject
from wayword.episodes.commands import Step
from wayword.grounding import Grounder
from wayword.objects import ObjectDatabase
from wayword.pilot.pilot import SHIPPED_OBJECTS
from wayword.policy.baselines import Stop
from wayword.sim import Look, MeshBank, Renderer

DOCS = Path(__file__).parents[2] / "docs"
FENCED = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"^((?: {4}(?:from|import) .*\n)(?:(?: {4}.*)?\n)*)", re.MULTILINE)
ELSEWHERE = {"pilot.md": "tests/pilot/test_pilot.py", "extending.md": "tests/docs/test_extending.py"}
POSE = [2.0, 1.0, 0.7, 0.0, 0.0, np.pi / 2]


def snippets(page: str) -> list[str]:
    """Blocks of Python, fenced or indented, as they stand."""
    text = (DOCS / page).read_text(encoding="utf-8")
    indented = INDENTED.findall(FENCED.sub("", text))
    return [*FENCED.findall(text), *(re.sub(r"^ {4}", "", block, flags=re.MULTILINE) for block in indented)]


def run(page: str, **names: Any) -> dict[str, Any]:
    """Run the blocks of a page one after the other; returns the names they leave."""
    for code in snippets(page):
        exec(compile(code, page, "exec"), names)
    return names


def picture() -> np.ndarray:
    """A globe, 0.9 m ahead of ``POSE``."""
    renderer = Renderer(MeshBank.of_catalogue(["globe"]), Camera())
    scene = renderer.scene([PlacedObject("globe", 2.0, 1.9, 0.0)], Look())
    return renderer.render([scene], [POSE]).rgb


def test_no_page_is_forgotten() -> None:
    tested = {"commands.md", "evaluation.md", "grounding.md", "language.md", "mapping.md", "recordings.md", "scale.md",
              "world.md"}  # fmt: skip
    assert {page.name for page in DOCS.glob("*.md") if snippets(page.name)} == tested | set(ELSEWHERE)


def test_language() -> None:
    names = run("language.md")
    second = names["parsed"].references[1]
    assert second.best == "globe"
    assert second.none < second.probabilities["globe"]
    assert names["parsed"].anonymised.text == "go past <obj> on its left then stop in front of <obj>"
    assert names["reading"].kind == "steps"


def test_world() -> None:
    names = run("world.md")
    assert names["rgb"].shape == (1, 72, 128, 3)
    assert set(names["observation"]) == {"image", "pose", "instruction"}
    assert names["envs"].num_envs == 32


def test_commands() -> None:
    rows = [[0.1 * k, 1.0, 1.0, 0.0] for k in range(10)]
    layout = [PlacedObject("globe", 1.4, 1.0, 0.0)]
    names = run("commands.md", steps=[Step("goto", "globe")], layout=layout, rows=rows)
    assert names["judgement"].done


def test_grounding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(SHIPPED_OBJECTS / "test", "my-objects")
    known = list(ObjectDatabase.load(Path("my-objects")).crops())
    meaning = np.eye(len(known) + 1)[[known.index("globe")]]
    answer = run("grounding.md", frames=picture(), p_object_of_reference=meaning)["answer"]
    assert answer.masks.shape == (1, 72, 128)
    assert answer.masks[0].max() > 0.5


def test_mapping() -> None:
    (regions,) = Grounder.load("sim").regions(picture())
    count = len(regions.masks)
    names = run(
        "mapping.md", regions=regions, pose=POSE, p_box=np.ones(count), alignment=np.full((2, count), 0.5),
        start=[POSE[0], POSE[1], POSE[5]], psi=np.ones((2, 5), np.float32),
    )  # fmt: skip
    assert names["world"].references.shape == (2, 32, 32)
    context = names["object_context_map"](names["psi"][None], names["references"][None], names["others"][None])
    assert context.shape == (1, 5 + 6, 64, 64)


def test_evaluation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    names = run("evaluation.md", MyPolicy=Stop)
    assert len(names["flights"]) == len(names["examples"]) > 50
    assert "mine" in capsys.readouterr().out


def test_scale() -> None:
    (code,) = snippets("scale.md")
    if find_spec("ray") is None:
        code = "".join(line for line in code.splitlines(True) if "ray=" not in line)
    # Two workers are as good as eight here, and quicker to start.
    names: dict[str, Any] = {"fly": operator.add, "meshes": 1, "jobs": [1, 2]}
    exec(compile(code.replace("workers=8", "workers=2"), "scale.md", "exec"), names)
    assert names["answer"] in (2, 3)


@pytest.mark.needs_rerun
def test_recordings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from wayword.cli.launch import main

    monkeypatch.chdir(tmp_path)
    main(["fly", "stop at the globe", "--policy", "stop", "--out", "f.png", "--rerun", "flight.rrd"])
    run("recordings.md")
    assert "/world/drone" in capsys.readouterr().out
