"""Work with large arrays bound to it, for processes of one machine: the arrays lie in one file, each process maps it.

The file has no name: it is gone with the last process that has it open, however that ends. The mapping is private
(copy on write): processes share the pages, and none can change what another sees.

Pickle is how a process is handed its arguments in any case; nothing that comes from a user's file is opened so.
"""

from __future__ import annotations

import mmap
import os
import pickle
import tempfile
from dataclasses import dataclass
from multiprocessing.reduction import DupFd
from typing import IO, Any

LEAST_BYTES = 2**20
"""Below this, a copy each is cheaper than a file."""


@dataclass(frozen=True)
class Packed:
    """An object without its arrays, and where these lie; can be an argument of a process that is being started."""

    stream: bytes
    spans: tuple[tuple[int, int], ...] = ()
    """Start and end of each array in the file."""
    file: IO[bytes] | None = None
    handle: Any = None
    """In the other process: the file that it was handed."""

    def __reduce__(self) -> tuple[Any, ...]:
        handle = None if self.file is None else DupFd(self.file.fileno())
        return Packed, (self.stream, self.spans, None, handle)

    def open(self) -> Any:
        """The object again, in the other process; once."""
        if self.handle is None:
            return pickle.loads(self.stream)
        number = self.handle.detach()
        mapping = memoryview(mmap.mmap(number, 0, access=mmap.ACCESS_COPY))
        os.close(number)
        return pickle.loads(self.stream, buffers=[mapping[start:end] for start, end in self.spans])


def pack(thing: object) -> Packed:
    """Take the arrays out of an object that a process is to be given."""
    buffers: list[pickle.PickleBuffer] = []
    stream = pickle.dumps(thing, protocol=5, buffer_callback=buffers.append)
    views = [buffer.raw() for buffer in buffers]
    if os.name != "posix" or sum(view.nbytes for view in views) < LEAST_BYTES:
        return Packed(pickle.dumps(thing, protocol=5))
    file, spans = tempfile.TemporaryFile(), []  # noqa: SIM115 -- it is open as long as workers are started
    for view in views:
        file.seek(-(-file.tell() // 64) * 64)  # kernels like their arrays aligned
        start = file.tell()
        file.write(view)
        spans.append((start, file.tell()))
    file.flush()
    return Packed(stream, tuple(spans), file)
