"""From an instruction to noun phrases, phrase vectors and corrected words."""

from wayword.language.chunker import BioChunker, Chunk, Chunker, load_chunker
from wayword.language.encoder import CachedPhrases, PhraseConfig, PhraseEncoder, TokenEncoder, TokenFeatures
from wayword.language.minilm import MiniLM, MiniLMConfig
from wayword.language.spacy_chunker import SpacyChunker
from wayword.language.spelling import CorrectedText, Correction, Speller, SpellingConfig

__all__ = [
    "BioChunker",
    "CachedPhrases",
    "Chunk",
    "Chunker",
    "CorrectedText",
    "Correction",
    "MiniLM",
    "MiniLMConfig",
    "PhraseConfig",
    "PhraseEncoder",
    "SpacyChunker",
    "Speller",
    "SpellingConfig",
    "TokenEncoder",
    "TokenFeatures",
    "load_chunker",
]
