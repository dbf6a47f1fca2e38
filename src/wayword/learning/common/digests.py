"""What data and weights are told apart by: digests of what they hold, not of when or where it was written.

Of weights and checkpoints the tensors count, and the numbers of a config.json beside them: a checkpoint also says how
many seconds it took, which is never the same twice. Of folders of data all files count, under their names in the
folder, but for notes about how they were made, and for runs that were put among them.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from wayword.errors import DataError

WEIGHTS, CHECKPOINT, CONFIG = "model.safetensors", "checkpoint.safetensors", "config.json"
NOTE = "train_config.json"
"""How something was made; what stands below it in a folder of data is a run and no data."""
_NOTES = (".done", ".lock", ".log", ".md", ".py", ".pyc")


def digest_of(path: Path) -> str:
    """SHA-256 of weights, of a run's checkpoint, of a folder of data, or of a file."""
    try:
        if path.is_file():
            return hashlib.sha256(path.read_bytes()).hexdigest()
        for name in (WEIGHTS, CHECKPOINT):
            if (path / name).is_file():
                return hashlib.sha256((tensor_digest(path / name) + _settings(path / CONFIG)).encode()).hexdigest()
        return _folder_digest(path)
    except (OSError, ValueError, KeyError) as error:
        raise DataError(path, "cannot be read to its end; is it complete?") from error


def tensor_digest(path: Path) -> str:
    """SHA-256 of the tensors of a .safetensors file, without an optimiser's and without its other notes."""
    total = hashlib.sha256()
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
        for name in sorted(header):
            if name != "__metadata__" and not name.startswith("optimiser."):
                start, end = header[name]["data_offsets"]
                file.seek(8 + length + start)
                kind = f"{name}\0{header[name]['dtype']}\0{header[name]['shape']}\0"
                total.update(kind.encode() + file.read(end - start))
    return total.hexdigest()


def _settings(path: Path) -> str:
    """What a config.json says of weights, without what it says about their past."""
    if not path.is_file():
        return ""
    settings = json.loads(path.read_text(encoding="utf-8"))
    return json.dumps({key: value for key, value in settings.items() if key != "about"}, sort_keys=True)


def _folder_digest(folder: Path) -> str:
    total = hashlib.sha256()
    runs = {path.parent for path in folder.rglob(NOTE)} - {folder}  # runs may be kept among the data
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and not runs.intersection(path.parents)):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if path.suffix in _NOTES or path.name == NOTE or hidden:
            continue
        total.update(path.relative_to(folder).as_posix().encode() + b"\0")
        with path.open("rb") as file:
            total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()
