"""Where recordings go, checked before anything flies, and the recordings of a whole evaluation."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from wayword.episodes import Example
from wayword.errors import WaywordError
from wayword.io import check_target
from wayword.policy import Policy, Thinking
from wayword.policy.control import Control
from wayword.recording.film import FilmedFlight, RecorderConfig

if TYPE_CHECKING:
    from wayword.pilot.episode_loop import RunConfig
    from wayword.recording.rerun_log import FlightLog
    from wayword.sim.render.bank import MeshBank
    from wayword.sim.render.renderer import Frames

_LONGEST = 60
"""Characters of an example's id in the name of its file."""


def need_rerun() -> None:
    """Recordings need what flying does not."""
    os.environ.setdefault("RUST_LOG", "off")  # what goes wrong is said by us, once
    try:
        from rerun import RecordingStream  # noqa: F401
        from rerun.chunk import RrdReader  # noqa: F401
    except ImportError as error:
        raise WaywordError('a recording for Rerun needs its SDK: pip install -e ".[rerun]"') from error


def check_recording(path: Path) -> None:
    """Refuse a file that cannot be a recording."""
    if path.suffix != ".rrd":
        raise WaywordError(f"{path}: recordings end in .rrd; change the ending of --rerun")
    _check_parent(path)
    check_target(path)


def check_recordings(folder: Path) -> None:
    """Refuse a folder with anything in it: recordings of two evaluations would be taken for one."""
    if folder.exists() and not folder.is_dir():
        raise WaywordError(f"{folder}: is not a folder; choose another name for --rerun")
    if folder.is_dir() and any(folder.iterdir()):
        raise WaywordError(f"{folder}: is not empty; choose an empty or new folder for --rerun")
    _check_parent(folder)
    check_target(folder / "0000.rrd")


def _check_parent(path: Path) -> None:
    parent = Path(os.path.realpath(path)).parent
    if not parent.is_dir():
        raise WaywordError(f"{path}: there is no folder {parent}; make it first or choose another place for --rerun")


class FlownEpisode(Protocol):
    """What is recorded of a flight that is over."""

    @property
    def path(self) -> NDArray[np.float64]:
        """(P, 2)."""
        ...

    @property
    def poses(self) -> NDArray[np.float64]:
        """(T, 6) at each decision."""
        ...

    @property
    def actions(self) -> NDArray[np.float64]:
        """(T, 3)."""
        ...

    @property
    def outcome(self) -> str:
        """In one line."""
        ...


class ControlTap:
    """Stands before a policy's control network and keeps its last answer; flights are the same with it."""

    def __init__(self, control: Control) -> None:
        self._control, self._network = control, control._network
        self.outputs: NDArray[np.float32] | None = None
        control._network = self

    @staticmethod
    def of(policy: Policy) -> ControlTap | None:
        """The tap of a policy that has such a network."""
        control = getattr(policy, "control", None)
        return ControlTap(control) if isinstance(control, Control) else None

    def __call__(self, inputs: NDArray[np.float32]) -> tuple[NDArray[np.float32], ...]:
        """What the network answers."""
        answer = self._network(inputs)
        self.outputs = answer[0]
        return answer

    def remove(self) -> None:
        """As it was before."""
        self._control._network = self._network

    def row(self, number: int) -> NDArray[np.float32] | None:
        """The last answer (5,) for one drone."""
        return None if self.outputs is None else self.outputs[number]


class FilmLog:
    """The recording of one film: hears of its decisions, and is told at the end what happened."""

    def __init__(self, path: Path, policy: Policy, example: Example, bank: MeshBank, config: RecorderConfig) -> None:
        from wayword.recording.rerun_log import FlightLog

        self._policy, self._rest = policy, ExitStack()
        thinking = isinstance(policy, Thinking)
        self._log = FlightLog(path, example, bank, config.arena, policy.name, thinking, config.look)

    def __enter__(self) -> Self:
        self._tap = ControlTap.of(self._policy)
        if self._tap is not None:
            self._rest.callback(self._tap.remove)
        self._rest.enter_context(self._log)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._rest.__exit__(kind, error, trace)

    def decided(self, pose: NDArray[np.float64], image: NDArray[np.uint8]) -> None:
        """After each decision, with the picture it is about and where the drone was."""
        thought: Any = self._policy.thought(0) if isinstance(self._policy, Thinking) else None
        self._log.decided(pose, image, thought, None if self._tap is None else self._tap.row(0))

    def ended(self, flight: FilmedFlight) -> None:
        """Once."""
        poses = np.array([decision.pose for decision in flight.decisions])
        actions = np.array([decision.action for decision in flight.decisions])
        self._log.ended(poses, actions, flight.end.path, flight.outcome)


class Recordings:
    """A ``Witness`` that writes ``folder/NUMBER-EXAMPLE.rrd`` for every flight of an evaluation.

    Files appear as batches end; leaving the ``with`` block early leaves those and nothing half-written.
    """

    def __init__(self, folder: Path, policy: Policy, bank: MeshBank, config: RunConfig) -> None:
        self.folder, self._policy, self._bank, self._config = folder, policy, bank, config
        self._open: dict[int, FlightLog] = {}
        self._count = 0
        self._rest = ExitStack()

    def __enter__(self) -> Self:
        self._tap = ControlTap.of(self._policy)
        if self._tap is not None:
            self._rest.callback(self._tap.remove)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._rest:
            for log in self._open.values():
                log.__exit__(kind or KeyboardInterrupt, error, trace)
            self._open.clear()

    def saw(
        self,
        policy: Policy,
        chunk: Sequence[Example],
        slots: NDArray[np.int64],
        frames: Frames,
        poses: NDArray[np.float64],
    ) -> None:
        """After each decision."""
        if not self._open:
            self._begin(policy, chunk)
        for row, slot in enumerate(slots.tolist()):
            thought: Any = policy.thought(slot) if isinstance(policy, Thinking) else None
            outputs = None if self._tap is None else self._tap.row(row)
            self._open[slot].decided(poses[row], frames.rgb[row], thought, outputs)

    def ended(self, slot: int, flight: FlownEpisode) -> None:
        """Once per flight, when its batch is over."""
        log = self._open[slot]
        log.ended(flight.poses, flight.actions, flight.path, flight.outcome)
        del self._open[slot]
        log.__exit__(None, None, None)

    def _begin(self, policy: Policy, chunk: Sequence[Example]) -> None:
        from wayword.recording.rerun_log import FlightLog

        config, thinking = self._config, isinstance(policy, Thinking)
        for slot, example in enumerate(chunk):
            path = self.folder / f"{self._count:04d}-{file_name(example.id)}.rrd"
            log = FlightLog(path, example, self._bank, config.arena, policy.name, thinking, config.look)
            self._open[slot] = log.__enter__()
            self._count += 1


def file_name(example: str) -> str:
    """An example's id as a part of a file's name: ids are people's own, and may hold anything."""
    return re.sub(r"[^A-Za-z0-9.-]+", "-", example).strip("-.")[:_LONGEST] or "flight"
