"""A mind in a process of its own: a crash, a hang or a lock it never gives back cannot reach the governor.

The child gets images and poses through a pipe and answers with wishes. If it dies, ``decide`` raises; if it hangs,
``decide`` waits, in the decider's thread, while the governor counts.
"""

from __future__ import annotations

import contextlib
import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection

import numpy as np
from numpy.typing import NDArray

from wayword.errors import WaywordError
from wayword.flight.decider import Mind, Wish
from wayword.flight.vehicle import Pose


class MindProcess:
    """``make`` is called in the child, so it must be importable (no lambda)."""

    def __init__(self, make: Callable[[], Mind], ready_s: float = 120.0) -> None:
        context = multiprocessing.get_context("spawn")  # a fork of a process with threads may start with locks held
        ours, theirs = context.Pipe()
        self._pipe = ours
        self.process = context.Process(target=_serve, args=(make, theirs), name="wayword mind", daemon=True)
        self.process.start()
        theirs.close()
        try:
            if not ours.poll(ready_s):
                self.close()
                raise WaywordError(f"the policy was not loaded after {ready_s:g} s")
            problem = ours.recv()
        except EOFError:
            raise WaywordError("the policy's process ended while it was loading") from None
        if problem:
            raise WaywordError(problem)

    def begin_anew(self) -> None:
        """Let the child take its instruction again."""
        self._ask(None)

    def decide(self, pixels: NDArray[np.uint8], pose: Pose) -> Wish:
        """Ask the child and wait for it."""
        answer = self._ask((pixels, pose))
        assert isinstance(answer, Wish)
        return answer

    def _ask(self, question: tuple[NDArray[np.uint8], Pose] | None) -> Wish | None:
        try:
            self._pipe.send(question)
            answer = self._pipe.recv()
        except (EOFError, OSError) as error:
            raise RuntimeError("the policy's process ended") from error
        if isinstance(answer, str):
            raise RuntimeError(answer)
        assert answer is None or isinstance(answer, Wish)
        return answer

    def close(self) -> None:
        """End the child."""
        self.process.kill()


def _serve(make: Callable[[], Mind], pipe: Connection) -> None:
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the governor: it lands
    with contextlib.suppress(EOFError, OSError):  # the parent is gone: nobody is left to be told
        _answer(make, pipe)


def _answer(make: Callable[[], Mind], pipe: Connection) -> None:
    try:
        mind = make()
    except Exception as error:
        pipe.send(str(error) or type(error).__name__)
        return
    pipe.send("")
    while True:
        question = pipe.recv()
        answer: Wish | str | None = None
        try:
            if question is None:
                mind.begin_anew()
            else:
                answer = mind.decide(*question)
        except Exception as error:
            answer = f"{type(error).__name__}: {error}"
        pipe.send(answer)
