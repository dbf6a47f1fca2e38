"""What several verbs share: where episodes come from, which meshes they need, a progress bar."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from wayword.errors import WaywordError

if TYPE_CHECKING:
    from collections.abc import Callable

    from PIL import Image


class _Console(Console):
    """A console whose reader may go away (``| head``): the verb is then done, without a word."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


console = _Console()
stderr = Console(stderr=True)


@contextmanager
def progress_bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on stderr; yields the function that advances it."""
    if not stderr.is_terminal:  # nothing to draw a bar on
        yield lambda amount: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=stderr, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda amount: bar.advance(task, amount)


def visible(text: object, style: str = "") -> Text:
    """One line that is no markup and cannot steer the terminal: what does not print becomes a mark."""
    return Text("".join(c if c.isprintable() else " " if c in "\n\t" else "\ufffd" for c in str(text)), style)


def say(text: object) -> None:
    """Print lines as they are: no colours, nothing wrapped in the middle of a path."""
    console.print(_lines(text), highlight=False, soft_wrap=True)


def say_aside(text: object) -> None:
    """The same on stderr: remarks that are not the answer."""
    stderr.print(_lines(text), highlight=False, soft_wrap=True)


def _lines(text: object) -> Text:
    return Text("\n").join(visible(line) for line in str(text).split("\n"))


def check_png(path: Path) -> Path:
    """Pictures have one format."""
    if path.suffix.lower() != ".png":
        raise WaywordError(f"{path}: pictures are written as .png; change the ending of --out")
    return path


def save_picture(picture: Image.Image, path: Path) -> None:
    """Write a picture, atomically, and say where it is."""
    from wayword.io import atomic_path

    with atomic_path(check_png(path)) as temporary:
        picture.save(temporary)
    say(path)


def refuse_beside_config(verb: Any, beside: Sequence[str]) -> None:
    """A training that is run again has all its settings from --config: other options than ``beside`` are a mistake."""
    for field in fields(verb):
        default = field.default if field.default_factory is MISSING else field.default_factory()
        if field.name not in (*beside, "config") and getattr(verb, field.name) != default:
            option = field.name.replace("_", "-")
            raise WaywordError(f"--{option}: --config has all settings; leave it out, or change a copy of the file")


def need_torch() -> None:
    """Training and its reports need what flying does not."""
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise WaywordError('this needs PyTorch: pip install -e ".[train]"') from error
