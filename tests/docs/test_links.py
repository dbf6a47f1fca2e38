"""Every relative link, anchor and picture of the documentation leads somewhere, on GitHub and on the site alike.

The two make anchors from headings by rules of their own; a link must suit both. Pages of docs/ must not link out of it,
where the site cannot follow. Needs no site generator.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
CARDS = sorted((ROOT / "src").rglob("*_CARD.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md")), *CARDS]

LINK = re.compile(r"\]\((?P<target>[^()\s]+(?:\([^()\s]*\))?)(?:\s+\"[^\"]*\")?\)")
HTML = re.compile(r"<(?:a|img)\b[^>]*?\b(?:href|src)=\"(?P<target>[^\"]+)\"")
HEADING = re.compile(r"^#{1,6}\s+(?P<text>.+?)\s*#*$", re.MULTILINE)
FENCE = re.compile(r"^(?P<mark>```+|~~~+).*?^(?P=mark)\s*$", re.MULTILINE | re.DOTALL)
INLINE_CODE = re.compile(r"(`+)(?:.+?)\1")


def prose(text: str) -> str:
    """A page without its code, where brackets are no links and # is no heading."""
    return INLINE_CODE.sub("", FENCE.sub("", text))


def links(text: str) -> list[str]:
    """Targets of all links and pictures of a page that are not addresses on a network."""
    targets = [found["target"] for pattern in (LINK, HTML) for found in pattern.finditer(prose(text))]
    return [target for target in targets if not re.match(r"[a-z]+:", target)]


def github_slug(heading: str) -> str:
    kept = "".join(c for c in heading.lower() if c.isalnum() or c in " -_")
    return kept.replace(" ", "-")


def site_slug(heading: str) -> str:
    plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


def anchors(text: str) -> set[str]:
    """What a link to this page may name behind #, on both sides; a heading that stands there twice may not be named."""
    headings = [re.sub(r"[`*]|\]\([^)]*\)|\[", "", found["text"]) for found in HEADING.finditer(FENCE.sub("", text))]
    slugs = [(github_slug(heading), site_slug(heading)) for heading in headings]
    counts = Counter(on_github for on_github, _ in slugs)
    return {on_github for on_github, on_site in slugs if on_github == on_site and counts[on_github] == 1}


def problems(page: Path) -> Iterator[str]:
    """One line for every link of a page that leads nowhere."""
    text = page.read_text(encoding="utf-8")
    for target in links(text):
        path, _, anchor = unquote(target).partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.is_file():
            yield f"{target}: there is no such file"
        elif page.is_relative_to(DOCS) and not file.is_relative_to(DOCS):
            yield f"{target}: lies outside docs/, where the site cannot lead"
        elif anchor and anchor not in anchors(file.read_text(encoding="utf-8")):
            yield f"{target}: no heading makes this anchor on GitHub and on the site"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    assert list(problems(page)) == []


def test_broken_links_are_noticed(tmp_path: Path) -> None:
    (tmp_path / "there.md").write_text("# A title, with signs\n\n## Twice\n\n## Twice\n\n```sh\n# no heading\n```\n")
    (tmp_path / "page.md").write_text(
        "[a](there.md) [b](there.md#a-title-with-signs) `[c](code.md)` ![d](gone.png) [e](gone.md)\n"
        "[f](there.md#twice) [g](there.md#no-heading) [h](https://example.org/x) [i](#own)\n\n# Own\n"
    )
    assert [line.partition(":")[0] for line in problems(tmp_path / "page.md")] == [
        "gone.png",
        "gone.md",
        "there.md#twice",
        "there.md#no-heading",
    ]


def test_anchors_by_both_rules() -> None:
    # Worked by hand: GitHub keeps both hyphens of "a & b", the site makes one of them, so neither may be linked.
    assert (github_slug("The lab: a & b"), site_slug("The lab: a & b")) == ("the-lab-a--b", "the-lab-a-b")
    assert anchors("# The lab: a & b\n## `wayword fly`, and more\n") == {"wayword-fly-and-more"}


def pages_of(nav: list[Any]) -> Iterator[str]:
    for entry in nav:
        if isinstance(entry, str):
            yield entry
        else:
            for value in entry.values():
                yield from [value] if isinstance(value, str) else pages_of(value)


def test_every_page_is_in_the_navigation_once() -> None:
    config = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))
    assert sorted(pages_of(config["project"]["nav"])) == sorted(
        p.relative_to(DOCS).as_posix() for p in DOCS.rglob("*.md")
    )


def test_the_site_fetches_nothing() -> None:
    """Offline is a promise: no fonts, scripts or styles from a network."""
    config = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]
    assert config["theme"]["font"] is False
    own = [*config["extra_css"], *config["extra"]["polyfills"]]
    assert all((DOCS / path).is_file() for path in own)
    # Zensical adds a shim from a network for search without a server, unless one of this name is there.
    assert any("iframe-worker" in path for path in config["extra"]["polyfills"])
    for path in [*(DOCS / path for path in own), *DOCS.rglob("*.svg")]:
        addresses = set(re.findall(r"https?://[^\s\"')]+", path.read_text(encoding="utf-8")))
        assert addresses <= {"http://www.w3.org/2000/svg"}, path.name
