"""Jobs on several processes of this machine, with an end to everything that can happen to them.

A worker that is killed, by a person or for want of memory, is an error (or its job is done again by a new one) and not
a wait for ever. Workers whose parent is killed leave at once. What a user can put right (``WaywordError``) is raised in
the parent in the same words.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from wayword.compute.answers import WorkerAnswer, answer_to, result_of
from wayword.compute.crew import Crew, Job, Result
from wayword.compute.shared_arrays import Packed, pack
from wayword.errors import WaywordError


@dataclass
class _Worker:
    """A process, and the job it has."""

    process: BaseProcess
    end: Connection
    number: int
    job: Any
    tries: int = 1

    def take(self, number: int, job: Any, tries: int = 1) -> None:
        self.number, self.job, self.tries = number, job, tries
        _send(self.end, job)

    def answer(self) -> WorkerAnswer | None:
        """What it says of its job; None if it is not there any more."""
        try:
            answer: WorkerAnswer = self.end.recv()
        except (EOFError, ConnectionError):
            return None
        return answer

    def stop(self) -> None:
        self.process.terminate()
        self.end.close()


def run_on_processes(work: Callable[[Job], Result], jobs: Iterable[Job], crew: Crew) -> Iterator[tuple[int, Result]]:
    """Results with the numbers of their jobs, as they come."""
    waiting, packed = iter(enumerate(jobs)), pack(work)
    crowd: list[_Worker] = []
    everybody: list[BaseProcess] = []

    def hire(number: int, job: Any, tries: int = 1) -> None:
        worker = _start(packed, number)
        everybody.append(worker.process)
        crowd.append(worker)
        worker.take(number, job, tries)

    try:
        for number, job in islice(waiting, crew.count):
            hire(number, job)
        while crowd:
            ready = wait([worker.end for worker in crowd])
            for worker in [worker for worker in crowd if worker.end in ready]:
                answer = worker.answer()
                if answer is None:
                    crowd.remove(worker)
                    worker.stop()
                    if worker.tries > crew.again:
                        raise WaywordError("a worker was ended from outside; the same command goes on where it was")
                    hire(worker.number, worker.job, worker.tries + 1)
                    continue
                yield worker.number, result_of(answer)
                for number, job in islice(waiting, 1):
                    worker.take(number, job)
                    break
                else:
                    crowd.remove(worker)
                    worker.stop()
    finally:
        for worker in crowd:
            worker.stop()
        for process in everybody:
            process.join()


def _start(packed: Packed, number: int) -> _Worker:
    """What the work is bound to goes to the process as it starts, once."""
    context = multiprocessing.get_context("spawn")  # forking is unsafe beside the progress bar's thread
    end, other = context.Pipe()
    with one_thread_each():
        process = context.Process(target=_serve, args=(packed, other), daemon=True)
        process.start()
    other.close()
    return _Worker(process, end, number, None)


def _send(end: Connection, what: object) -> None:
    with suppress(ConnectionError):  # nobody there: the next answer says so
        end.send(what)


def _serve(packed: Packed, end: Connection) -> None:
    """A worker: job after job until the parent closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent stops its workers
    threading.Thread(target=leave_with_parent, daemon=True).start()
    work = packed.open()
    while True:
        try:
            job = end.recv()
        except (EOFError, ConnectionError):
            return
        _send(end, answer_to(work, job))


def leave_with_parent() -> None:
    """Wait for the parent process to end, then leave: for a thread of a process that must not be left behind."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


@contextmanager
def one_thread_each() -> Iterator[None]:
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
