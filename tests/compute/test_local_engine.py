from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from support.light_work import describe, killed_once, work
from wayword.compute import Crew, each, in_order
from wayword.errors import WaywordError


def test_all_jobs_are_done_by_others_on_one_thread_each() -> None:
    done = list(each(work, range(7), 2))
    assert len(done) == 7
    assert os.getpid() not in {pid for pid, _ in done}
    assert len({pid for pid, _ in done}) <= 2
    assert {threads for _, threads in done} == {"1"}


def test_one_worker_is_this_process() -> None:
    assert [pid for pid, _ in each(work, range(3), 1)] == [os.getpid()] * 3
    assert list(each(work, [], 2)) == []


def test_a_mistake_keeps_its_words() -> None:
    with pytest.raises(WaywordError, match=r"^weights/config.json:3: is damaged; train again$"):
        list(each(work, [0, 100], 2))


def test_a_defect_keeps_its_traceback() -> None:
    with pytest.raises(RuntimeError, match=r"(?s)in work.*ZeroDivisionError: ours"):
        list(each(work, [0, 200, 1], 2))


def test_a_killed_worker_is_an_error_and_not_a_wait() -> None:
    with pytest.raises(WaywordError, match="ended from outside"):
        list(each(work, [300, 300, 0], 2))


def test_what_a_killed_worker_had_is_done_again_if_asked(tmp_path: Path) -> None:
    crew = Crew(2, retries=1)
    assert list(in_order(partial(killed_once, tmp_path), range(6), crew)) == [0, 1, 4, 9, 16, 25]
    assert (tmp_path / "died").exists()
    with pytest.raises(WaywordError, match="ended from outside"):
        list(each(work, [0, 300], crew))


def test_results_come_in_order_if_asked() -> None:
    assert list(in_order(abs, range(-9, 0), 3)) == [9, 8, 7, 6, 5, 4, 3, 2, 1]


def test_jobs_are_made_when_a_worker_is_free_for_them() -> None:
    waiting: list[int] = []
    results = each(abs, map(lambda job: waiting.append(job) or job, range(10)), Crew(1, apart=True))  # type: ignore[func-returns-value]
    assert next(results) == 0
    assert waiting == [0]
    results.close()  # type: ignore[attr-defined]


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="needs Linux's /proc")
def test_large_arrays_are_shared_and_not_copied() -> None:
    array = np.ones(20_000_000)  # 160 MB
    bare = max(private for _, private, _ in each(partial(describe, np.ones(8)), range(4), 2))  # the worker itself
    for total, private, size in each(partial(describe, array), range(4), 2):
        assert total in (2e7, 2e7 - 2, 2e7 - 4, 2e7 - 6)  # less by what this worker itself has set to -1 before
        assert private - bare < size / 2
    assert array.sum() == 2e7


@pytest.mark.parametrize("workers", [0, -1])
def test_nobody_is_no_crew(workers: int) -> None:
    with pytest.raises(WaywordError, match="at least 1"):
        Crew(workers)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux's /proc")
def test_workers_leave_when_their_parent_is_killed() -> None:
    code = "import time; from wayword.compute import each; list(each(time.sleep, [600, 600], 2))"
    parent = subprocess.Popen([sys.executable, "-c", code])
    _wait(lambda: len(_children(parent.pid)) >= 3)  # two workers, and Python's own tracker of resources
    time.sleep(1.0)  # both have a job
    children = _children(parent.pid)
    parent.kill()
    parent.wait()
    _wait(lambda: not any(_alive(child) for child in children))


def _wait(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
