"""Stages of a training in processes of their own: one core each, told what to do by typed settings as JSON.

A stage is a function ``train(folder, config, stop=...)`` or ``train(folder, config, inputs, stop=...)`` of a module,
whose ``config`` and ``inputs`` are frozen dataclasses. The process gets their JSON on its standard input and builds
them again from the function's annotations. Two one-thread processes scale by 2.0 on two cores, and how many threads
linear algebra takes is decided before it is loaded: hence a process, and hence a fresh one.

    run_stages([[Stage(train_metric.train, folder, config, inputs)], [Stage(...), Stage(...)]])

runs queues side by side. Ctrl-C, or the death of the command, ends each stage with a checkpoint after its step. What a
user can put right (``WaywordError``) is raised here in the same words.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_type_hints

from wayword.errors import WaywordError
from wayword.learning.common.typed_json import from_plain, to_plain

PARENT = "WAYWORD_TRAINING_PARENT"
"""Environment variable with the id of the process that started a training, if it should end with that process."""


@dataclass(frozen=True)
class TrainingStage:
    """One training, to be run in a process of its own."""

    train: Callable[..., object]
    """A function of a module of Wayword."""
    folder: Path
    """Its run folder, which also names it."""
    config: object
    """Its settings, a frozen dataclass."""
    inputs: object = None
    """Folders it starts with, a frozen dataclass, if it takes any."""

    def as_json(self, answer: Path) -> str:
        """All of it for the process that runs it; ``answer`` is where that writes what a user can put right."""
        named = f"{self.train.__module__}:{self.train.__qualname__}"
        record = {"train": named, "folder": to_plain(self.folder), "config": to_plain(self.config)}
        if self.inputs is not None:
            record["inputs"] = to_plain(self.inputs)
        return json.dumps({**record, "answer": to_plain(answer)}, allow_nan=False)


def run_stages(queues: Sequence[Sequence[TrainingStage]], variables: Mapping[str, str] | None = None) -> None:
    """Run the stages of each queue one after the other, the queues side by side; all with these ``variables``."""
    waiting = [list(queue) for queue in queues if queue]
    running: dict[int, tuple[TrainingStage, subprocess.Popen[str], Path]] = {}
    with tempfile.TemporaryDirectory() as answers:
        try:
            while waiting or running:
                for number, queue in enumerate(waiting):
                    if number not in running and queue:
                        answer = Path(answers) / f"{number}-{len(queue)}"
                        running[number] = (queue[0], start_stage(queue.pop(0), answer, variables), answer)
                time.sleep(0.1)
                for number, (stage, process, answer) in list(running.items()):
                    if process.poll() is not None:
                        del running[number]
                        _check(stage, process.returncode, answer)
                if not running and not any(waiting):
                    return
        finally:
            for _, process, _ in running.values():
                process.terminate()
            for _, process, _ in running.values():
                process.wait()


def run_stage(stage: TrainingStage, variables: Mapping[str, str] | None = None) -> None:
    """Run one stage to its end."""
    run_stages([[stage]], variables)


def run_here(stage: TrainingStage) -> None:
    """Run one stage in this process, told in the same way: for tests, and where a process is too much."""
    call_stage(json.loads(stage.as_json(Path())), None)


def stop_on_signals() -> threading.Event:
    """An event that Ctrl-C and a request to terminate set, so that a run ends with a checkpoint after its step.

    So does the death of the process named in ``PARENT``: a killed command must not leave trainings behind that
    would write into the same folder as the next one's.
    """
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    if PARENT in os.environ:
        threading.Thread(target=_watch, args=(int(os.environ[PARENT]), stop), daemon=True).start()
    return stop


def start_stage(
    stage: TrainingStage, answer: Path, variables: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    """Start the process of a stage, with ``variables`` in its environment; ``answer`` is for what it has to say."""
    # Two OpenMP threads per process fight for two cores; one each does not.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE", PARENT: str(os.getpid())}
    environment |= variables or {}
    # A session of its own: Ctrl-C reaches this process alone, which then ends the trainings in good order.
    process = subprocess.Popen(
        [sys.executable, "-m", __name__],
        env=environment, start_new_session=True, stdin=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdin is not None
    with process.stdin as pipe:
        pipe.write(stage.as_json(answer))
    return process


def _check(stage: TrainingStage, code: int, answer: Path) -> None:
    if answer.exists():
        raise WaywordError(answer.read_text(encoding="utf-8"))
    if code:
        raise WaywordError(
            f"training of {stage.folder.name} stopped with code {code}; its messages are above. "
            f"Run the same command again to go on from the last checkpoint"
        )


def _watch(parent: int, stop: threading.Event) -> None:
    while not stop.wait(1.0):
        if os.getppid() != parent:
            stop.set()


def call_stage(record: dict[str, Any], stop: threading.Event | None) -> None:
    """In the process: build the settings again and train."""
    module, name = record["train"].split(":")
    train = getattr(importlib.import_module(module), name)
    hints = get_type_hints(train)
    arguments = {key: from_plain(hints[key], record[key]) for key in ("config", "inputs") if key in record}
    train(Path(record["folder"]), stop=stop, **arguments)


def _serve(record: dict[str, Any]) -> None:
    """In the process."""
    stop = stop_on_signals()
    try:
        call_stage(record, stop)
    except WaywordError as error:
        Path(record["answer"]).write_text(str(error), encoding="utf-8")
        raise SystemExit(2) from None
    if stop.is_set():  # not at its end: nothing may be made of it yet
        raise SystemExit(130)


if __name__ == "__main__":
    _serve(json.loads(sys.stdin.read()))
