"""Folders of trained weights: found by name or path, read with one line about whatever is wrong with them.

    weights/fspvn/config.json        {"schema": 1, sizes and fitted numbers ..., "sha256": {"text.onnx": "3f2a..."}}
    weights/fspvn/text.onnx          a network that is run only if its digest is the one config.json states
    weights/fspvn/model.safetensors  the tensors it was made from

Whoever takes weights takes them as ``weights=`` (or ``grounder=``, for those of the segmentation): the name of a folder
that ships with Wayword, or the path of one of your own. Errors name the file and say what to do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wayword.errors import DataError, WaywordError
from wayword.guarded import check_finite, parse_json, read_bytes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CONFIG, TENSORS = "config.json", "model.safetensors"
MAX_BYTES = 2**30
"""No file of weights may be larger."""
REMEDY = "reinstall or train again"


def shipped_names(shipped: Path) -> tuple[str, ...]:
    """The names of the weights in a folder of folders."""
    return tuple(sorted(path.parent.name for path in shipped.glob(f"*/{CONFIG}")))


def locate(weights: Path | str, shipped: Path) -> Path:
    """The folder that is meant: a shipped one by its name, otherwise the path itself, which need not exist."""
    return shipped / str(weights) if str(weights) in shipped_names(shipped) else Path(weights)


def holds_weights(folder: Path) -> bool:
    """Whether there are weights in a folder at all."""
    return (folder / CONFIG).is_file()


def read_settings(path: Path, schema: int | None = None, message: str | None = None) -> dict[str, Any]:
    """What a config.json says; with ``schema``, only if it is of this one."""
    with reading(path, message):
        settings = parse_json(_content(path, 2**24, message))
        if not isinstance(settings, dict):
            raise TypeError("not a JSON object")
        if schema is not None and settings["schema"] != schema:
            raise DataError(path, f"has schema {settings['schema']}; this version reads {schema}")
    return settings


@contextmanager
def reading(path: Path, message: str | None = None) -> Iterator[None]:
    """In this block a file that cannot be read, or does not hold what it must, is an error in one line.

    ``message`` says which weights these are, if the name of the file does not. Errors that already name a file pass.
    """
    try:
        yield
    except DataError:
        raise
    except WaywordError as error:
        raise DataError(path, f"{error}; {REMEDY}") from error
    except OSError as error:
        text = message or f"cannot be read ({error.strerror}); {REMEDY}"
        raise DataError(path, text) from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DataError(path, message or f"is damaged; {REMEDY}") from error


def _content(path: Path, limit: int, message: str | None = None) -> bytes:
    try:
        return read_bytes(path, limit, remedy=REMEDY)
    except DataError as error:
        raise (DataError(path, message) if message else error) from error


def read_checked(path: Path, sha256: str | None = None) -> bytes:
    """A file's content, if it has the digest that its config.json states."""
    with reading(path):
        content = _content(path, MAX_BYTES)
    if sha256 is not None and content_digest(content) != sha256:
        raise DataError(path, f"is not the file its {CONFIG} describes; {REMEDY}")
    return content


def read_tensors(path: Path, message: str | None = None) -> dict[str, NDArray[np.float32]]:
    """The arrays of a .safetensors file, by name."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        with reading(path, message):
            tensors = load(_content(path, MAX_BYTES, message))
    except SafetensorError as error:
        raise DataError(path, message or f"is damaged; {REMEDY}") from error
    check_finite(path, tensors, REMEDY)
    return tensors


def content_digest(content: bytes) -> str:
    """As "sha256" of a config.json has it."""
    return hashlib.sha256(content).hexdigest()


def folder_digest(folder: Path) -> str:
    """Changes whenever a file of weights or data in a folder does; code is counted elsewhere."""
    total = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        if path.suffix not in (".py", ".pyc", ".nbi", ".nbc", ".md"):
            total.update(path.relative_to(folder).as_posix().encode() + b"\0")
            total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


@dataclass(frozen=True)
class WeightFolder:
    """A folder of weights whose settings have been read."""

    path: Path
    settings: Mapping[str, Any]
    config: str = CONFIG

    @classmethod
    def read(cls, path: Path, schema: int | None = None, config: str = CONFIG) -> WeightFolder:
        """The folder at ``path``; ``config`` is the file with its settings."""
        return cls(path, read_settings(path / config, schema), config)

    @contextmanager
    def parsing(self) -> Iterator[Mapping[str, Any]]:
        """The settings; what they lack or hold wrongly is, in this block, damage to their file."""
        with reading(self.path / self.config):
            yield self.settings

    def file(self, name: str) -> tuple[Path, str]:
        """A file of the folder and the digest it must have."""
        with self.parsing() as settings:
            return self.path / name, str(settings["sha256"][name])
