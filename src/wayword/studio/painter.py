"""A worker that does the newest thing it was asked for: what it had no time for is left out, never queued."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Painter:
    """One thread; ``ask`` never waits."""

    def __init__(self, failed: Callable[[Exception], None], name: str = "painter") -> None:
        self._failed = failed
        self._change = threading.Condition()
        self._job: Callable[[], None] | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._run, name=f"wayword-studio-{name}", daemon=True)
        self._thread.start()

    def ask(self, job: Callable[[], None]) -> None:
        """Do this as soon as possible, unless something newer comes."""
        with self._change:
            self._job = job
            self._change.notify()

    def close(self) -> None:
        """Finish what is being done and end the thread."""
        with self._change:
            self._closed, self._job = True, None
            self._change.notify()
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._closed or self._job is not None)
                if self._closed:
                    return
                job, self._job = self._job, None
            assert job is not None
            try:
                job()
            except Exception as error:  # a picture that cannot be drawn must not end the page
                self._failed(error)
