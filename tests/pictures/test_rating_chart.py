"""The chart of human judgements."""

from __future__ import annotations

from xml.etree import ElementTree

from wayword.intervals import Interval
from wayword.pictures.rating_chart import COLOURS, Ratings, rating_chart

SVG = "{http://www.w3.org/2000/svg}"


def test_bars_are_as_long_as_their_shares() -> None:
    # 20 judgements on 420 pixels: 5 of score 2 take 105, 15 of score 5 take 315 and begin at 150 + 105.
    ratings = Ratings((0, 5, 0, 0, 15), Interval(4.25, 4.0, 4.5, 10))
    root = ElementTree.fromstring(rating_chart({"Goal score": {"<A&A>": ratings}, "Path score": {"<A&A>": ratings}}))
    bars = [node.attrib for node in root.iter(f"{SVG}rect") if node.attrib.get("height") == "26"]
    assert [(bar["x"], bar["width"], bar["fill"]) for bar in bars] == 2 * [
        ("150", "105", COLOURS[1]),
        ("255", "315", COLOURS[4]),
    ]
    words = ["".join(node.itertext()) for node in root.iter(f"{SVG}text")]
    assert words.count("25%") == words.count("75%") == words.count("<A&A>") == 2
    assert "4.25 [4.00, 4.50]" in words
    assert words.index("Goal score") < words.index("Path score")
    # Means stand on an axis of 180 pixels for scores 1 to 5 that begins at 600: 4.25 is at 600 + 3.25 / 4 * 180.
    assert {node.attrib["cx"] for node in root.iter(f"{SVG}circle")} == {"746.2"}
