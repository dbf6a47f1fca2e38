"""Jobs on several processes, with an end to everything that can happen to them.

A worker that is killed, by a person or for want of memory, is an error and not a wait for ever. Workers whose
parent is killed leave at once. What a user can put right (``WaywordError``) is raised in the parent in the same words.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from wayword.errors import WaywordError

Job = TypeVar("Job")
Result = TypeVar("Result")


def each(work: Callable[[Job], Result], jobs: Sequence[Job], workers: int) -> Iterator[Result]:
    """Results of ``work``, a function of a module, for all jobs, as they come; jobs are taken in order."""
    if workers == 1 or len(jobs) < 2:
        yield from map(work, jobs)
        return
    context = multiprocessing.get_context("spawn")  # forking is unsafe beside the progress bar's thread
    waiting, processes, working = iter(jobs), [], []
    try:
        with _one_thread_each():
            for job in islice(waiting, workers):
                end, other = context.Pipe()
                processes.append(context.Process(target=_serve, args=(work, other), daemon=True))
                processes[-1].start()
                other.close()
                working.append(end)
                _send(end, job)
        while working:
            for end in [end for end in wait(working) if isinstance(end, Connection)]:
                yield _answer(end)
                for job in islice(waiting, 1):
                    _send(end, job)
                    break
                else:
                    working.remove(end)
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()


def _send(end: Connection, what: object) -> None:
    with suppress(ConnectionError):  # nobody there: the next answer says so
        end.send(what)


def _answer(end: Connection) -> Any:
    try:
        how, what = end.recv()
    except (EOFError, ConnectionError) as error:
        raise WaywordError("a worker was ended from outside; the same command goes on where it was") from error
    if how == "mistake":
        raise WaywordError(what)
    if how == "defect":
        raise RuntimeError(f"in a worker:\n{what}")
    return what


def _serve(work: Callable[[Any], Any], end: Connection) -> None:
    """A worker: job after job until the parent closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent stops its workers
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    while True:
        try:
            job = end.recv()
        except (EOFError, ConnectionError):
            return
        try:
            answer = ("result", work(job))
        except WaywordError as error:
            answer = ("mistake", str(error))
        except Exception:
            answer = ("defect", traceback.format_exc())
        _send(end, answer)


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes started inside do their linear algebra on one core."""
    before = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["OMP_NUM_THREADS"]
        else:
            os.environ["OMP_NUM_THREADS"] = before
