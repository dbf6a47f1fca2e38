"""spaCy's noun chunks behind the same contract: the paper's chunker, for comparison. Optional."""

from __future__ import annotations

from typing import Any

from wayword.errors import WaywordError
from wayword.language.chunker import Chunk
from wayword.language.encoder import check_text


class SpacyChunker:
    """``Chunker`` that calls a spaCy pipeline with a parser, such as en_core_web_md."""

    def __init__(self, model: str = "en_core_web_md") -> None:
        self._pipeline = _load(model)

    def chunk(self, text: str) -> list[Chunk]:
        """The noun chunks of ``text``, in order and disjoint."""
        spans = self._pipeline(check_text(text)).noun_chunks
        return [Chunk(span.start_char, span.end_char, text[span.start_char : span.end_char]) for span in spans]


def _load(model: str) -> Any:
    try:
        import spacy  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError as error:
        raise WaywordError("the spaCy chunker needs spaCy; install it with: pip install spacy") from error
    try:
        pipeline = spacy.load(model)
    except OSError as error:
        raise WaywordError(
            f"spaCy has no model {model!r} here; install it with: python -m spacy download {model}"
        ) from error
    if not pipeline.has_pipe("parser"):
        raise WaywordError(f"the spaCy model {model!r} has no parser, so it finds no noun chunks; use another")
    return pipeline
