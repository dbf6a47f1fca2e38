"""The pages raters see: one HTML file per rater with everything in it, which needs no server and no network.

It holds the pictures, the tracks and the texts of the rater's sheet in the order of the sheet, and nothing about
who flew.
"""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from wayword.episodes import Example
from wayword.errors import WaywordError
from wayword.io import write_text
from wayword.judge.flights import StudyFlight
from wayword.judge.study import FORMAT, Study, StudyItem
from wayword.pictures.data_urls import data_url
from wayword.pictures.topdown import TopDown
from wayword.sim.render.bank import MeshBank

SIZE_PX = 560
NARROW_M, WIDE_M = 0.2, 1.15
"""Margins around the arena; the net stands at most 1 m outside."""
CONSENT = (
    "I am an adult, I take part of my own free will and may stop at any time. I agree that my scores are kept "
    "without my name and used for research."
)
FlightTable = Mapping[str, Mapping[str, StudyFlight]]


def make_study(
    folder: Path,
    study: Study,
    rows: FlightTable,
    bank: MeshBank,
    consent: str = CONSENT,
    progress: Callable[[int], None] = lambda done: None,
) -> list[Path]:
    """Write a study's folder; ``rows`` holds the flights by example and system. Returns the pages."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise WaywordError(f"{folder}: is not an empty folder; a study with answers is not overwritten, choose another")
    arenas = _Arenas(bank, rows)
    for example in dict.fromkeys(item.example for item in study.items.values()):
        arenas.add(next(iter(rows[example].values())).example)
        progress(1)
    with _new_folder(folder) as temporary:
        study.save(temporary)
        for code in study.sheets:
            page = rater_page(_content(code, study, rows, arenas, consent))
            write_text(temporary / "pages" / f"{code}.html", page)
    return [folder / "pages" / f"{code}.html" for code in study.sheets]


@contextmanager
def _new_folder(folder: Path) -> Iterator[Path]:
    """A folder that appears only when everything is in it."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name[:60]}-"))
    except OSError as error:
        raise WaywordError(f"{folder}: cannot be written ({error.strerror}); choose another place") from error
    try:
        yield temporary
        temporary.chmod(0o755)
        temporary.replace(folder)  # also over an empty folder
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def rater_page(content: Mapping[str, Any]) -> str:
    """The page around its content."""
    parts = files("wayword.judge") / "web"
    html, style, script = ((parts / f"page.{kind}").read_text(encoding="utf-8") for kind in ("html", "css", "js"))
    rules = (
        f"default-src 'none'; img-src data: blob:; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "connect-src 'self'; form-action 'none'; base-uri 'none'"
    )
    # "<" cannot end the script element, or begin a comment in it, if there is none.
    data = json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    for mark, text in (("@CSP@", rules), ("@STYLE@", style), ("@SCRIPT@", script), ("@STUDY@", data)):
        before, separator, after = html.partition(mark)
        assert separator
        html = before + text + after
    return html


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


class _Arenas:
    """The empty arenas of all examples as data URLs; examples of one episode share theirs.

    The margin is wide in episodes in which anybody left the arena, and then for everybody.
    """

    def __init__(self, bank: MeshBank, rows: FlightTable) -> None:
        self._bank, self._maps = bank, dict[tuple[float, float], TopDown]()
        flights = [flight for row in rows.values() for flight in row.values()]
        self._left = {flight.example.episode.id for flight in flights if _left_arena(flight)}
        self.urls: dict[str, str] = {}

    def map_of(self, example: Example) -> TopDown:
        side, margin = example.episode.arena_m, WIDE_M if example.episode.id in self._left else NARROW_M
        if (side, margin) not in self._maps:
            self._maps[side, margin] = TopDown(self._bank, arena_m=side, size_px=SIZE_PX, margin_m=margin)
        return self._maps[side, margin]

    def add(self, example: Example) -> None:
        if example.episode.id in self.urls:
            return
        top = self.map_of(example)
        image = top.picture(example.objects)
        top.draw_names(image, example.objects, font_px=16)
        self.urls[example.episode.id] = data_url(image, "webp")


def _left_arena(flight: StudyFlight) -> bool:
    places = flight.track[:, :2]
    return bool(places.min() < 0 or places.max() > flight.example.episode.arena_m)


def _content(code: str, study: Study, rows: FlightTable, arenas: _Arenas, consent: str) -> dict[str, Any]:
    items, used = [], dict[str, int]()
    for name in study.sheets[code]:
        item = study.items[name]
        flight = rows[item.example][item.system]
        top, episode = arenas.map_of(flight.example), flight.example.episode.id
        places = top.to_pixels(flight.track[:, :2])
        track = [[round(x, 1), round(y, 1), round(h)] for (x, y), h in zip(places, flight.track[:, 2], strict=True)]
        number = used.setdefault(episode, len(used))
        text, metre = _text(item, flight.example), round(top.px_per_m, 1)
        items.append({"id": item.id, "picture": number, "metre": metre, "text": text, "track": track})
    return {
        "format": FORMAT,
        "study": study.id,
        "rater": code,
        "consent": consent,
        "pictures": [arenas.urls[episode] for episode in used],
        "items": items,
    }


def _text(item: StudyItem, example: Example) -> str:
    if item.check is None:
        return example.instruction
    goal, path = item.check
    return (
        f"{example.instruction} To show that you have read this, please give goal score {goal} and path score {path}, "
        "whatever the drone does."
    )
