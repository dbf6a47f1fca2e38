"""The one kind of error a user can cause.

Anything a person can get wrong (a missing file, a malformed episode, an unknown object) raises
``WaywordError`` with one line that says what is wrong and what to do. The command line prints that
line and exits with code 2; every other exception is a defect of ours and keeps its traceback.
"""

from __future__ import annotations

from pathlib import Path


class WaywordError(Exception):
    """A problem in the user's input, described in one line."""

    exit_code = 2


class RefusedError(WaywordError):
    """A text that is not flown, with the reason; the command line exits with code 3."""

    exit_code = 3


class DataError(WaywordError):
    """A problem at a known place of a data file."""

    def __init__(self, path: Path | str, message: str, line: int | None = None) -> None:
        self.path = Path(path)
        self.line = line
        self.reason = message
        where = f"{path}:{line}" if line is not None else f"{path}"
        super().__init__(f"{where}: {message}")
