"""Several processes train one network: their gradients are averaged and their networks stay the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from support.extra_torch import load_file, torch
from support.tiny_training import Tiny, train
from wayword.errors import WaywordError
from wayword.learning.common.followers import RAY
from wayword.learning.common.loop import LoopConfig
from wayword.learning.common.team import seeded

TESTS = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def others_find_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]))


def check(folder: Path, ranks: tuple[int, ...]) -> None:
    """Every step's gradient is the mean over processes, and all have the same weights all the time."""
    rows = [json.loads((folder / f"rank-{rank}.json").read_text()) for rank in ranks]
    assert all(other == rows[0] for other in rows)
    assert len(rows[0]) == 4
    for step, (w, gradient) in enumerate(rows[0][:-1]):
        draws = [float(seeded(0, step, rank).random()) for rank in ranks]
        # d/dw (w x - 1)^2 = 2 x (w x - 1).
        assert gradient == pytest.approx(np.mean([2 * x * (w * x - 1) for x in draws]), rel=1e-5)
    assert rows[0][0][0] != rows[0][-1][0]


def test_alone_the_gradient_is_that_of_the_own_batch(tmp_path: Path) -> None:
    train(tmp_path, Tiny())
    check(tmp_path, (0,))


def test_two_processes_average_their_gradients_and_repeat_themselves(tmp_path: Path) -> None:
    for name in ("one", "two"):
        train(tmp_path / name, Tiny(workers=2))
        check(tmp_path / name, (0, 1))
    one, two = (load_file(tmp_path / name / "checkpoint.safetensors") for name in ("one", "two"))
    assert all(torch.equal(one[key], two[key]) for key in one)
    assert not torch.distributed.is_initialized()


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
def test_nothing_of_the_team_is_at_work_after_it(tmp_path: Path) -> None:
    # A thread of gloo that outlives its group aborts, now and then, a process that has done its work.
    code = "import sys; from pathlib import Path; from support.tiny_training import Tiny, train\n"
    code += "train(Path(sys.argv[1]), Tiny(workers=2))\n"
    code += "print('threads', *(p.read_text().strip() for p in Path('/proc/self/task').glob('*/comm')))"
    run = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, capture_output=True, text=True)
    threads = run.stdout.splitlines()[-1]
    assert threads.startswith("threads ")
    assert "gloo" not in threads


@pytest.mark.parametrize(
    ("trouble", "words"),
    [("killed", "a process of the training was ended from outside"), ("mistake", "^data/shard: is damaged")],
)
def test_trouble_in_another_process_is_one_line(tmp_path: Path, trouble: str, words: str) -> None:
    with pytest.raises(WaywordError, match=words):
        train(tmp_path, Tiny(workers=2, trouble=trouble))


def test_torchrun_starts_them_as_well(tmp_path: Path) -> None:
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    subprocess.run([*launcher, "-m", "support.tiny_training", str(tmp_path)], check=True, capture_output=True)
    check(tmp_path, (0, 1))


def test_another_number_than_the_settings_say_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "3")
    with pytest.raises(WaywordError, match="3 processes were started, the settings are for 2"):
        train(tmp_path, Tiny(workers=2))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(WaywordError, match="--device cuda: PyTorch finds no GPU"):
        train(tmp_path, Tiny(LoopConfig(3, 1.0, device="cuda")))


@pytest.mark.needs_ray
def test_ray_starts_them_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RAY, "local")
    try:
        train(tmp_path, Tiny(workers=2))
    finally:
        import ray  # not before: how it is loaded decides where it listens

        ray.shutdown()
    check(tmp_path, (0, 1))
