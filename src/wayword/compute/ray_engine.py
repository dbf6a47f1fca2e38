"""Jobs on a cluster of Ray: an extra (``pip install -e ".[ray]"``), for those who outgrow one machine.

What ``work`` is bound to is put into the object store once; a worker takes it out once, and arrays in it are not
copied but read where they lie, by all workers of a node. A job whose worker or node dies is done again elsewhere.

A Ray of our own (``local``) listens on the loopback interface only, has no dashboard and ends with this process. No Ray
that is started here reports its use to anybody.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

from wayword.compute.answers import WorkerAnswer, answer_to, result_of
from wayword.compute.crew import Crew, Job, Result
from wayword.compute.local_engine import one_thread_each
from wayword.errors import WaywordError

LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""On every system: without it Ray takes 127.0.0.1 for an address to be replaced by one that others can reach."""
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",  # as processes of our own; Ray's 15 makes way for everything else
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # or Ray warns of a change in its next version
}
_STORE_BYTES = 512 * 2**20
"""Of a Ray of our own: meshes and weights are tens of megabytes, and memory put aside is gone for others."""


def run_on_ray(work: Callable[[Job], Result], jobs: Iterable[Job], crew: Crew) -> Iterator[tuple[int, Result]]:
    """Results with the numbers of their jobs, as they come."""
    ray = connect(crew)
    task = ray.remote(_do).options(num_cpus=1, max_retries=crew.again)
    workers = crew.workers or cluster_cores(ray)
    shared = [ray.put((os.getcwd(), sys.path)), ray.put(work)]  # a bare reference would be opened for every job
    waiting, pending = iter(enumerate(jobs)), dict[Any, int]()
    try:
        for number, job in islice(waiting, workers):
            pending[task.remote(shared, job)] = number
        while pending:
            ready, _ = ray.wait(list(pending), num_returns=1)
            answer = _answer(ray, ready[0])
            yield pending.pop(ready[0]), result_of(answer)
            for number, job in islice(waiting, 1):
                pending[task.remote(shared, job)] = number
    finally:
        for reference in pending:
            ray.cancel(reference, force=True)


def connect(crew: Crew) -> Any:
    """The module ``ray``, connected; a process has one Ray, which later calls find as it is."""
    own = crew.ray == "local"
    with environment(QUIET | LOOPBACK if own else QUIET), one_thread_each():
        ray = need_ray()
        if not ray.is_initialized():
            _start(ray, crew.count) if own else _join(ray, str(crew.ray))
    return ray


def need_ray() -> Any:
    """The module, or one line that says how to get it."""
    try:
        import ray
    except ImportError as error:
        raise WaywordError('--ray needs Ray: pip install -e ".[ray]"') from error
    return ray


def cluster_cores(ray: Any) -> int:
    """Cores of all nodes."""
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def _start(ray: Any, cores: int) -> None:
    address = ray.util.get_node_ip_address()  # where it would listen
    if not address.startswith("127."):
        raise WaywordError(f"Ray was loaded before, and would listen on {address}; name a cluster's address instead")
    ray.init(
        address="local", num_cpus=cores, include_dashboard=False, _node_ip_address="127.0.0.1",
        object_store_memory=_STORE_BYTES, log_to_driver=False, logging_level=logging.ERROR,
    )  # fmt: skip


def _join(ray: Any, address: str) -> None:
    host, _, port = address.rpartition(":")
    if port.isdecimal() and "/" not in host:  # Ray itself would end this process after a while, with a page of text
        try:
            socket.create_connection((host, int(port)), timeout=10).close()
        except OSError as error:
            raise WaywordError(f"--ray {address}: nobody answers there ({error.strerror or error})") from error
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, ValueError, RuntimeError, OSError, AssertionError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise WaywordError(f"--ray {address}: no cluster could be joined there ({reason})") from error


def _answer(ray: Any, reference: Any) -> WorkerAnswer:
    try:
        answer: WorkerAnswer = ray.get(reference)
    except ray.exceptions.RayTaskError as error:  # what is raised in the job is in the answer: this came before it
        raise RuntimeError(f"in a worker:\n{error}") from error
    except ray.exceptions.RayError as error:
        reason = type(error).__name__
        raise WaywordError(f"a job was lost more often than it is done again ({reason}); is memory short?") from error
    return answer


_WORK: dict[str, Callable[[Any], Any]] = {}
"""In a worker: what it has taken out of the object store, under its reference."""


def _do(shared: list[Any], job: Any) -> WorkerAnswer:
    """In a worker of the cluster."""
    import ray

    place, work = shared
    key = work.hex()
    if key not in _WORK:
        _WORK.clear()  # one kind of work at a time: what the last one held may be large
        folder, modules = ray.get(place)
        if os.path.isdir(folder):  # where there is such a folder, paths mean what they mean to who gave the command
            os.chdir(folder)
        sys.path += [entry for entry in modules if entry not in sys.path]  # a policy of one's own may lie anywhere
        _WORK[key] = ray.get(work)
    return answer_to(_WORK[key], job)


@contextmanager
def environment(values: dict[str, str]) -> Iterator[None]:
    """Ray reads these as it is loaded and started, and hands them on to what it starts."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
