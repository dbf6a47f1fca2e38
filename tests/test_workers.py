from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from wayword.errors import DataError, WaywordError
from wayword.workers import each


def work(job: int) -> tuple[int, str | None]:
    """What the tests give to workers: some jobs end badly."""
    if job == 100:
        raise DataError("weights/config.json", "is damaged; train again", 3)
    if job == 200:
        raise ZeroDivisionError("ours")
    if job == 300:
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid(), os.environ.get("OMP_NUM_THREADS")


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


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux's /proc")
def test_workers_leave_when_their_parent_is_killed() -> None:
    code = "import time; from wayword.workers import each; list(each(time.sleep, [600, 600], 2))"
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
