"""The page's file as a browser gets it: viser's, under our name, with scripts and a style of our own.

viser has no setting for either, so its one file is changed on its way out. A file that is not as expected passes as it
is: the page then works, under viser's title.
"""

from __future__ import annotations

import gzip
from functools import cache, lru_cache
from pathlib import Path

TITLE = "Wayword"
HERE = "/wayword-is-here"
"""What the page asks for every two seconds; the gate answers it with nothing."""
_VISERS = b"<title>Viser</title>"
_FOLDER = Path(__file__).parent


@cache
def _head() -> bytes:
    """What stands in the page's head instead of viser's title."""
    style, *scripts = ((_FOLDER / name).read_text(encoding="utf-8") for name in ("page.css", "page.js", "webcam.js"))
    running = "".join(f"<script>{script}</script>" for script in scripts)
    return f"<title>{TITLE}</title><style>{style}</style>{running}".encode()


def dressed(body: bytes, encoding: str | None) -> bytes:
    """The body of an answer, changed if it is the page's file."""
    if encoding == "gzip":
        return _dressed_zipped(body) if body[:2] == b"\x1f\x8b" else body
    return _dress(body)


@lru_cache(maxsize=4)
def _dressed_zipped(body: bytes) -> bytes:
    plain = gzip.decompress(body)
    changed = _dress(plain)
    return body if changed is plain else gzip.compress(changed, 6)


def _dress(body: bytes) -> bytes:
    if _VISERS not in body[:20_000]:
        return body
    return body.replace(_VISERS, _head(), 1)
