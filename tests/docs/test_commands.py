"""Every `wayword` command line of README and docs can be typed: its verb and options exist as they are written there.

They are run in miniature by ``test_commands_run.py``, and the tutorials in full by ``test_tutorials.py``.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.page_commands import PAGES, ROOT, shown
from wayword.cli.main import read

INLINE = re.compile(r"`(wayword [^`]+)`")


def mentioned(text: str) -> Iterator[tuple[list[str], list[str]]]:
    """Verbs and options that running text mentions, often without the rest."""
    for command in INLINE.findall(text):
        for part in re.split(r"&&", command):
            words = part.split()[1:]
            verb = [word for word in words[:2] if re.fullmatch(r"[a-z-]+", word) and not word.startswith("-")]
            options = [match for word in words if (match := word.split("=")[0].rstrip(",")).startswith("--")]
            if verb and options:
                yield verb, options


def test_commands_are_found() -> None:
    text = "see `wayword fly --seed 3`\n\n    wayword eval \\\n      --limit 2\n\n```sh\nwayword bench sim\n```\n"
    assert shown(text) == ["wayword bench sim", "wayword eval --limit 2"]
    assert list(mentioned(text)) == [(["fly"], ["--seed"])]


def can_be_read(words: list[str]) -> bool:
    try:
        read(words)
    except SystemExit as stop:  # --help ends with 0
        return stop.code == 0
    return True


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_commands_can_be_typed(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = page.read_text(encoding="utf-8")
    for line in shown(text):
        words = shlex.split(line.replace("$(openssl rand -hex 16)", "0123456789abcdef"), comments=True)[1:]
        words = words[: words.index(">")] if ">" in words else words
        if any(word == "..." or word.isupper() for word in words):
            continue  # only a part of it is shown
        assert can_be_read(words), line
    for verb, options in mentioned(text):
        with pytest.raises(SystemExit):
            read([*verb, "--help"])
        explained = capsys.readouterr().out
        assert all(option in explained for option in options), (verb, options)
