"""Who does the jobs: how many workers, where, and how often work that is lost is done again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sized
from dataclasses import dataclass
from typing import TypeVar

from wayword.errors import WaywordError

Job = TypeVar("Job")
Result = TypeVar("Result")
LOCAL_WORKERS = 2
RAY_RETRIES = 3


@dataclass(frozen=True)
class Crew:
    """Workers of one engine."""

    workers: int | None = None
    """Jobs done at a time, one core each; None: 2 here, or as many as the cluster has cores."""
    ray: str | None = None
    """None: processes of this machine. ``local``: a Ray of our own on this machine; otherwise a cluster's address."""
    retries: int | None = None
    """How often the job of a worker that died is done again, before that is an error; None: never here, where the
    machine has no other memory to offer, and 3 times on a cluster, where nodes come and go."""
    apart: bool = False
    """Also one worker has a process of its own."""

    def __post_init__(self) -> None:
        if self.workers is not None and self.workers < 1:
            raise WaywordError(f"{self.workers} workers: at least 1 is needed")

    @property
    def count(self) -> int:
        """Workers on this machine, or on a Ray of our own."""
        if self.workers is not None:
            return self.workers
        return LOCAL_WORKERS if self.ray is None else os.cpu_count() or LOCAL_WORKERS

    @property
    def again(self) -> int:
        """``retries``, or what is usual with this engine."""
        if self.retries is not None:
            return self.retries
        return 0 if self.ray is None else RAY_RETRIES


Workers = Crew | int
"""A crew; a number is that many processes of this machine."""


def each(work: Callable[[Job], Result], jobs: Iterable[Job], workers: Workers = LOCAL_WORKERS) -> Iterator[Result]:
    """Results of ``work``, a function of a module, for all jobs, as they come.

    Jobs are taken in order, each when a worker is free for it: ``jobs`` may be made on the way.
    """
    for _, result in _numbered(work, jobs, workers):
        yield result


def in_order(work: Callable[[Job], Result], jobs: Iterable[Job], workers: Workers = LOCAL_WORKERS) -> Iterator[Result]:
    """The same in the order of the jobs; what is early waits."""
    early: dict[int, Result] = {}
    turn = 0
    for number, result in _numbered(work, jobs, workers):
        early[number] = result
        while turn in early:
            yield early.pop(turn)
            turn += 1


def _numbered(work: Callable[[Job], Result], jobs: Iterable[Job], workers: Workers) -> Iterator[tuple[int, Result]]:
    crew = Crew(workers) if isinstance(workers, int) else workers
    if isinstance(jobs, Sized) and not len(jobs):
        return iter(())
    if crew.ray is not None:
        from wayword.compute.ray_engine import run_on_ray

        return run_on_ray(work, jobs, crew)
    few = isinstance(jobs, Sized) and len(jobs) < 2
    if not crew.apart and (crew.count == 1 or few):
        return ((number, work(job)) for number, job in enumerate(jobs))
    from wayword.compute.local_engine import run_on_processes

    return run_on_processes(work, jobs, crew)
