"""How a database is written: aside first, then moved into place, by one writer at a time.

Files wait in ``.work`` inside the database. A reader sees none of them, and what a writer that died leaves there is
thrown away by the next one.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from wayword.errors import WaywordError
from wayword.objects import files
from wayword.objects.files import Manifest
from wayword.objects.lock import locked

WORK = ".work"


@dataclass
class WriteSession:
    """Files that wait in ``.work`` to be moved into place together."""

    root: Path
    waiting: list[tuple[Path, Path]] = field(default_factory=list)

    def write(self, target: Path, data: bytes) -> None:
        """Let ``data`` become ``target`` at the next commit."""
        aside = self.root / WORK / f"{len(self.waiting):04d}"
        aside.write_bytes(data)
        self.waiting.append((aside, target))

    def write_folder(self, target: Path, contents: dict[str, bytes]) -> None:
        """Let a new folder appear at the next commit."""
        aside = self.root / WORK / f"{len(self.waiting):04d}"
        aside.mkdir()
        for name, data in contents.items():
            (aside / name).write_bytes(data)
        self.waiting.append((aside, target))

    def write_manifest(self, manifest: Manifest) -> None:
        """Let the manifest be replaced at the next commit."""
        self.write(self.root / files.MANIFEST, files.manifest_file(manifest))

    def commit(self) -> None:
        """Move everything into place, in the order in which it was written."""
        for aside, target in self.waiting:
            os.replace(aside, target)
        self.waiting.clear()


@contextmanager
def begin_session(root: Path) -> Iterator[WriteSession]:
    """Hold the lock and an empty ``.work``; trouble with the disk becomes one line."""
    with locked(root):
        try:
            shutil.rmtree(root / WORK, ignore_errors=True)
            (root / WORK).mkdir()
            yield WriteSession(root)
        except OSError as error:
            raise WaywordError(
                f"{root}: cannot be written ({error.strerror or error}); make room or check its permissions"
            ) from error
        finally:
            shutil.rmtree(root / WORK, ignore_errors=True)
