"""The page's file under our name."""

from __future__ import annotations

import gzip

from wayword.studio.front import HERE, dressed

PAGE = b"<html><head><title>Viser</title></head><body></body></html>"


def test_the_title_and_the_words_are_put_in() -> None:
    plain = dressed(PAGE, None)
    assert b"<title>Wayword</title>" in plain
    assert HERE.encode() in plain
    assert gzip.decompress(dressed(gzip.compress(PAGE), "gzip")) == plain


def test_everything_else_passes_as_it_is() -> None:
    for body in (b"", b"console.log(1)", bytes(range(256))):
        assert dressed(body, None) == body
        assert dressed(gzip.compress(body), "gzip") == gzip.compress(body)
        assert dressed(body, "gzip") == body or body[:2] == b"\x1f\x8b"
