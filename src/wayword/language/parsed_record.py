"""How an instruction was understood, as plain values for JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from wayword.language.pipeline import Parsed, ParsedChunk


def parsed_record(parsed: Parsed) -> dict[str, Any]:
    """Plain values. Offsets count in ``text``, the corrected instruction; ``original`` ones in what was typed."""
    return {
        "original": parsed.original,
        "text": parsed.text,
        "corrections": [asdict(correction) for correction in parsed.corrections],
        "chunks": [_chunk_json(chunk) for chunk in parsed.chunks],
        "anonymised": parsed.anonymised.text,
        "placeholders": [list(span) for span in parsed.anonymised.placeholders],
    }


def _chunk_json(chunk: ParsedChunk) -> dict[str, Any]:
    values: dict[str, Any] = {
        "text": chunk.text,
        "start": chunk.start,
        "end": chunk.end,
        "original": list(chunk.original),
        "objref": round(chunk.objref, 6),
        "is_reference": chunk.is_reference,
    }
    if chunk.is_reference:
        values |= {
            "antecedent": chunk.antecedent,
            "antecedents": list(chunk.antecedents),
            "object": chunk.best,
            "probabilities": {name: round(value, 6) for name, value in chunk.probabilities.items()},
            "none": round(chunk.none, 6),
        }
    return values
