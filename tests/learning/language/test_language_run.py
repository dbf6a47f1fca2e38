"""Settings of `wayword train language`: complete, through JSON and back, with one seed in every stage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import support.extra_torch  # noqa: F401 - what follows needs it
from wayword.cli.train import Language
from wayword.errors import WaywordError
from wayword.learning.common.typed_json import from_plain, to_plain
from wayword.learning.language.language_run import LanguageSettings, LanguageSources, train_language


def test_the_options_of_the_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    usual = Language().settings()
    assert usual == LanguageSettings()
    assert usual.repeatable
    assert from_plain(LanguageSettings, json.loads(json.dumps(to_plain(usual)))) == usual
    made = Language(chunker_hidden=8, chunker_blocks=1, alignment_hidden=4, objref_hidden=2, seed=5).settings()
    assert made.chunker is not None
    assert (made.chunker.head.hidden, made.chunker.head.blocks) == (8, 1)
    assert (made.rest.alignment.hidden, made.rest.objref.hidden) == (4, 2)
    assert json.dumps(to_plain(made)).count('"seed": 5') == json.dumps(to_plain(made)).count('"seed"') == 5
    assert Language(skip_chunker=True).settings().chunker is None
    assert Language(chunker=tmp_path).settings().chunker is None
    Language(show=True, generated=3).run()
    (tmp_path / "mine.json").write_text(capsys.readouterr().out)
    again = Language(config=tmp_path / "mine.json", seed=5).settings()
    assert (again.rest.generated, again.seed) == (3, 5)
    with pytest.raises(WaywordError, match="--generated: --config has all settings"):
        Language(config=tmp_path / "mine.json", generated=4).settings()


def test_what_cannot_be_trained_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(WaywordError, match="name its folder with --ewt"):
        train_language(LanguageSettings(), LanguageSources(), tmp_path)
    with pytest.raises(WaywordError, match="leave one of the two out"):
        train_language(LanguageSettings(), LanguageSources(ewt=tmp_path, chunker=tmp_path), tmp_path)
    assert not list(tmp_path.iterdir())
