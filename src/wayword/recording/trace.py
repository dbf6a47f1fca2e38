"""The trace of a flight as a text: JSON that people look into and tools compare."""

from __future__ import annotations

import json
from typing import Any


def format_trace(trace: dict[str, Any]) -> str:
    """JSON with a line per entry, and per element of long lists: people look into it, tools compare it."""
    parts = []
    for key, value in trace.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            body = "[\n" + ",\n".join(f"    {_text(item)}" for item in value) + "\n  ]"
        else:
            body = _text(value)
        parts.append(f"  {_text(key)}: {body}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
