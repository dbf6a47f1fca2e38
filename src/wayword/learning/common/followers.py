"""The other processes of a training that the first one starts: on this machine, or on a cluster of Ray.

They are told what to do as stages are (``stage_process``), and by the variables that ``torchrun`` sets: RANK and
WORLD_SIZE. They keep nothing, so they can be ended at any moment.
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from subprocess import TimeoutExpired
from types import TracebackType
from typing import Any, Protocol, Self

from torch.distributed import FileStore, TCPStore  # type: ignore[attr-defined]

from wayword.errors import WaywordError
from wayword.learning.common.stage_process import TrainingStage, call_stage, start_stage

STORE = "WAYWORD_TEAM_STORE"
"""Environment variable: a file through which processes of one machine find each other, so that none has to listen."""
RAY = "WAYWORD_TRAIN_RAY"
"""Environment variable: the cluster that the other processes of a training run on, if not on this machine."""
_GRACE_S = 20.0
"""Until one that has nothing left to do is ended."""
_LOOPBACK = {"GLOO_SOCKET_IFNAME": "lo0" if sys.platform == "darwin" else "lo", "NCCL_SOCKET_IFNAME": "lo"}


class Followers(Protocol):
    """All processes of a training but the first."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def store(self) -> Any:
        """Where the processes find each other."""

    def explain(self, error: RuntimeError) -> Exception:
        """What a user can put right about a lost connection, if one of these has said so."""


class LocalFollowers:
    """Processes of this machine, on the loopback interface."""

    def __init__(self, stage: TrainingStage, size: int, folder: Path) -> None:
        self.stage, self.size, self.folder = stage, size, folder
        self._processes: list[Any] = []

    def __enter__(self) -> Self:
        os.environ.update({name: value for name, value in _LOOPBACK.items() if name not in os.environ})
        for rank in range(1, self.size):
            place = {"RANK": str(rank), "WORLD_SIZE": str(self.size), "LOCAL_RANK": str(rank), STORE: str(self._file)}
            self._processes.append(start_stage(self.stage, self._answer(rank), place))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._processes:
            if error is None:  # it has made its last step as well
                with suppress(TimeoutExpired):
                    process.wait(timeout=_GRACE_S)
            process.kill()
        for process in self._processes:
            process.wait()

    def store(self) -> Any:
        """A file."""
        return FileStore(str(self._file), self.size)

    def explain(self, error: RuntimeError) -> Exception:
        """The words of the one that gave up, or that one was ended."""
        deadline = time.monotonic() + _GRACE_S  # a connection may be gone a moment before its process is
        while not any(process.poll() is not None for process in self._processes) and time.monotonic() < deadline:
            time.sleep(0.05)
        for rank, process in enumerate(self._processes, 1):
            if self._answer(rank).exists():
                return WaywordError(self._answer(rank).read_text(encoding="utf-8"))
            if process.poll() is not None and process.returncode < 0:
                return WaywordError(
                    "a process of the training was ended from outside; "
                    "run the same command again to go on from the last checkpoint"
                )
        return error

    @property
    def _file(self) -> Path:
        return self.folder / "store"

    def _answer(self, rank: int) -> Path:
        return self.folder / f"answer-{rank}"


class RayFollowers:
    """Tasks of a cluster, a core each; they and this process must reach each other, and share the run's folders."""

    def __init__(self, stage: TrainingStage, size: int, cluster: str, folder: Path) -> None:
        self.stage, self.size, self.cluster, self.folder = stage, size, cluster, folder
        self._tasks: list[Any] = []
        self._store: Any = None

    def __enter__(self) -> Self:
        from wayword.compute import Crew
        from wayword.compute.ray_engine import connect

        ray = connect(Crew(self.size - 1, self.cluster))
        place = {"WORLD_SIZE": str(self.size)}
        address = ray.util.get_node_ip_address()
        if address.startswith("127."):
            os.environ.update({name: value for name, value in _LOOPBACK.items() if name not in os.environ})
            self._store = str(self.folder / "store")
            place |= {STORE: self._store, **_LOOPBACK}
        else:
            self._store = TCPStore(address, 0, self.size, is_master=True, wait_for_workers=False)
            place |= {"MASTER_ADDR": address, "MASTER_PORT": str(self._store.port)}
        task = ray.remote(_follow).options(num_cpus=1, max_retries=0)
        record = self.stage.as_json(self.folder / "answer")
        self._tasks = [task.remote(record, place | {"RANK": str(rank)}) for rank in range(1, self.size)]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        import ray

        if error is None:
            ray.wait(self._tasks, num_returns=len(self._tasks), timeout=_GRACE_S)
        for task in self._tasks:
            ray.cancel(task, force=True)

    def store(self) -> Any:
        """A file on this machine; on a cluster a port of the first process."""
        return FileStore(self._store, self.size) if isinstance(self._store, str) else self._store

    def explain(self, error: RuntimeError) -> Exception:
        """The words of the task that gave up."""
        import ray

        ended, _ = ray.wait(self._tasks, num_returns=len(self._tasks), timeout=1.0)
        for task in ended:
            try:
                if words := ray.get(task):
                    return WaywordError(words)
            except ray.exceptions.RayError:
                return WaywordError(
                    "a process of the training was lost; run the same command again to go on from the last checkpoint"
                )
        return error


def _follow(record: str, place: dict[str, str]) -> str | None:
    """In a worker of the cluster: the training's words if it gave up."""
    os.environ.update(place)
    try:
        call_stage(json.loads(record), None)
    except WaywordError as error:
        return str(error)
    finally:
        for name in place:
            os.environ.pop(name, None)
    return None
