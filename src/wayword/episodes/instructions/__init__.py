"""Instructions for generated demonstrations: a grammar that says only what is true of the path.

``phrases`` holds what objects are called, ``facts`` what can be said of a segment, ``plan`` what is said,
``grammar`` and ``expand`` how, ``voices`` and ``typing_habits`` in whose manner. ``truth`` checks the claims an
instruction makes against the path.
"""

from wayword.episodes.instructions.bulk import Recipe, write_dataset
from wayword.episodes.instructions.expand import Claim
from wayword.episodes.instructions.phrases import Phrase, may_denote, parts, phrases, telling_phrases
from wayword.episodes.instructions.statistics import TextStatistics, text_statistics
from wayword.episodes.instructions.truth import check_claims
from wayword.episodes.instructions.voices import VOICES, Voice, find_voice
from wayword.episodes.instructions.writer import (
    Reference,
    WrittenInstruction,
    generate_written,
    write_episode,
    write_instruction,
)

__all__ = [
    "VOICES",
    "Claim",
    "Phrase",
    "Recipe",
    "Reference",
    "TextStatistics",
    "Voice",
    "WrittenInstruction",
    "check_claims",
    "find_voice",
    "generate_written",
    "may_denote",
    "parts",
    "phrases",
    "telling_phrases",
    "text_statistics",
    "write_dataset",
    "write_episode",
    "write_instruction",
]
