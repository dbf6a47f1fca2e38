"""What the verbs share: lines that cannot steer a terminal, pictures, options beside --config."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from PIL import Image
from rich.console import Console

from wayword.cli import common
from wayword.cli.common import check_png, progress_bar, refuse_beside_config, save_picture, say, say_aside, visible
from wayword.cli.verb_names import quote_plainly
from wayword.errors import WaywordError


def test_answers_and_remarks_go_to_different_places(capsys: pytest.CaptureFixture[str]) -> None:
    say("the answer")
    say_aside("a remark")
    printed = capsys.readouterr()
    assert printed.out == "the answer\n"
    assert printed.err == "a remark\n"


def test_nothing_printed_steers_the_terminal_or_is_markup(capsys: pytest.CaptureFixture[str]) -> None:
    say("\x1b[31mred\x07 [bold]name[/bold]\nsecond line")
    assert capsys.readouterr().out == "\ufffd[31mred\ufffd [bold]name[/bold]\nsecond line\n"
    assert visible("a\tb\nc").plain == "a b c"


def test_a_long_path_is_not_broken(capsys: pytest.CaptureFixture[str]) -> None:
    path = "/".join(["folder"] * 60)
    say(path)
    assert capsys.readouterr().out == f"{path}\n"


@pytest.mark.parametrize("name", ["a.png", "a.PNG", "folder/a.png"])
def test_pictures_are_png(name: str) -> None:
    assert check_png(Path(name)) == Path(name)


@pytest.mark.parametrize("name", ["a.jpg", "a", "png", "a.png.txt"])
def test_other_endings_are_refused(name: str) -> None:
    with pytest.raises(WaywordError, match=r"pictures are written as \.png; change the ending of --out"):
        check_png(Path(name))


def test_a_picture_is_written_and_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_picture(Image.new("RGB", (4, 3), (10, 20, 30)), tmp_path / "new" / "a.png")
    assert capsys.readouterr().out == f"{tmp_path / 'new' / 'a.png'}\n"
    assert Image.open(tmp_path / "new" / "a.png").getpixel((0, 0)) == (10, 20, 30)


def test_without_a_terminal_there_is_no_bar(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar("flying", 3) as advance:
        advance(1)
    assert capsys.readouterr().err == ""


def test_on_a_terminal_the_bar_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(common, "stderr", Console(file=screen, force_terminal=True, width=80))
    with progress_bar("flying", 3) as advance:
        advance(2)
    assert "flying" in screen.getvalue()
    assert "2/3" in screen.getvalue()


@dataclass(frozen=True)
class Verb:
    """A training with some options."""

    config: Path | None = Path("train_config.json")
    out: Path = Path("out")
    minutes: float = 5.0
    parts: tuple[str, ...] = field(default_factory=lambda: ("a", "b"))


def test_options_beside_a_config_are_those_that_say_where() -> None:
    refuse_beside_config(Verb(), ("out",))
    refuse_beside_config(Verb(out=Path("elsewhere")), ("out",))


@pytest.mark.parametrize(("verb", "option"), [(Verb(minutes=6.0), "minutes"), (Verb(parts=("a",)), "parts")])
def test_settings_beside_a_config_are_refused_by_name(verb: Verb, option: str) -> None:
    with pytest.raises(WaywordError, match=f"--{option}: --config has all settings"):
        refuse_beside_config(verb, ("out",))


@pytest.mark.parametrize(
    ("sentence", "quoted"),
    [
        ("turn left", '"turn left"'),
        ("it's there", '"it\'s there"'),
        ("pass $it", "'pass $it'"),
        ('say "stop"', "'say \"stop\"'"),
        ("stop!", "'stop!'"),
    ],
)
def test_sentences_are_quoted_as_people_type_them(sentence: str, quoted: str) -> None:
    assert quote_plainly(sentence) == quoted
