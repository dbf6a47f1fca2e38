"""spaCy behind the contract of every chunker."""

from __future__ import annotations

from pathlib import Path

import pytest

from wayword.errors import WaywordError
from wayword.language import SpacyChunker


def test_without_spacy_or_its_model_one_line_says_what_to_install() -> None:
    with pytest.raises(WaywordError, match="install it with"):
        SpacyChunker("no_such_model")


@pytest.mark.needs_spacy
def test_spacy_chunks_keep_the_contract() -> None:
    try:
        chunker = SpacyChunker()
    except WaywordError as error:
        pytest.skip(f"{error}, or with Python 3.12 or later: pip install -e '.[spacy]'")
    text = "Go past  the red barrel\non your left."
    chunks = chunker.chunk(text)
    assert "the red barrel" in [chunk.text for chunk in chunks]
    assert all(text[chunk.start : chunk.end] == chunk.text for chunk in chunks)
    assert chunker.chunk("") == []
    assert chunker.version.startswith("spaCy 3")
    assert "en_core_web_md 3" in chunker.version
    with pytest.raises(WaywordError):
        chunker.chunk("a " * 15_000)


@pytest.mark.needs_spacy
def test_spacy_model_without_a_parser_is_refused(tmp_path: Path) -> None:
    import spacy

    spacy.blank("en").to_disk(tmp_path / "model")
    with pytest.raises(WaywordError, match="has no parser"):
        SpacyChunker(str(tmp_path / "model"))
