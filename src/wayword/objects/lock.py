"""One writer at a time: a lock on the file ``.lock`` of a database.

The operating system holds the lock for the process and lets go of it when the process ends, however it ends.
A ``.lock`` that was left behind is therefore only a file: there is no stale lock to find out about or to break.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from wayword.errors import WaywordError

LOCK = ".lock"
_BUSY = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


@contextmanager
def locked(root: Path, wait_s: float = 20.0) -> Iterator[None]:
    """Hold the database's lock for the block; wait for another writer at most ``wait_s`` seconds."""
    try:
        file = open(root / LOCK, "a+", encoding="ascii", errors="replace")  # noqa: SIM115
    except OSError as error:
        raise WaywordError(f"{root}: cannot be written ({error.strerror})") from error
    with file:
        _wait(file, root, wait_s)
        try:
            file.seek(0)
            file.truncate()
            file.write(f"{os.getpid()}\n")  # only for the message that a waiting process gives
            file.flush()
        except OSError as error:
            raise WaywordError(f"{root}: cannot be written ({error.strerror})") from error
        yield  # closing the file gives the lock back


def _wait(file: IO[str], root: Path, wait_s: float) -> None:
    until = time.monotonic() + wait_s
    while True:
        try:
            _lock(file)
            return
        except OSError as error:
            if error.errno not in _BUSY:
                message = f"{root}: this place cannot be locked ({error.strerror}); put the database on a local disk"
                raise WaywordError(message) from error
        if time.monotonic() >= until:
            file.seek(0)
            holder = file.read(20).strip()
            who = f" (process {holder})" if holder.isdigit() else ""
            raise WaywordError(f"{root}: another wayword{who} is writing there; try again when it has finished")
        time.sleep(0.01)


if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[str]) -> None:
        file.seek(1_000)  # beyond the text: a locked byte cannot be read by others
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(file: IO[str]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
