"""Atomic file writes: a reader, or a run that is killed half-way, never sees half a file."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from wayword.errors import WaywordError


@contextmanager
def atomic_path(path: Path | str) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; it replaces ``path`` only if the block succeeds."""
    target = check_target(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.stem[:60]}-", suffix=target.suffix)
    except OSError as error:
        raise _unwritable(target, error) from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)  # mkstemp makes private files; outputs are ordinary ones
        os.replace(temporary, target)
    except OSError as error:  # a full disk, a folder that went away
        raise _unwritable(target, error) from error
    finally:
        temporary.unlink(missing_ok=True)


def check_target(path: Path | str) -> Path:
    """The real file behind ``path``, refused if it can never be written: ask before hours of work, not after."""
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise WaywordError(f"{path}: is not an ordinary file; choose another name")
    folder = target.parent
    while not folder.exists():
        folder = folder.parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise WaywordError(f"{path}: cannot be written ({folder} is no writable folder); choose another place")
    return target


def _unwritable(target: Path, error: OSError) -> WaywordError:
    return WaywordError(f"{target}: cannot be written ({error.strerror or error}); choose another place")


def write_text(path: Path | str, text: str) -> None:
    """Write ``text`` as UTF-8, atomically."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path | str, value: Any) -> None:
    """Write ``value`` as indented JSON, atomically; NaN and infinity are refused."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
