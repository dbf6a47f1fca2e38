"""SVG by hand: well-formed whatever the words are."""

from __future__ import annotations

from xml.etree import ElementTree

from wayword.pictures import svg


def test_elements_are_written_as_they_should_be() -> None:
    assert svg.element("circle", class_="s1", cx=1.04, cy=2, r=5) == '<circle class="s1" cx="1" cy="2" r="5"/>'
    assert svg.text(3, 4.26, "a < b", "end", font_size=12) == (
        '<text x="3" y="4.3" text-anchor="end" font-size="12">a &lt; b</text>'
    )
    assert svg.polyline([(1, 2), (3.5, 4)]) == '<polyline points="1,2 3.5,4"/>'
    assert svg.polyline([(1, 2)], closed=True, class_="band") == '<polygon points="1,2" class="band"/>'
    assert svg.line(0, 1, 2, 3) == '<path d="M0 1L2 3"/>'
    # From 10 to 20 at height 5, strokes from 3 to 7 at both ends.
    assert svg.whisker(10, 20, 5, 2) == '<path d="M10 5H20M10 3v4M20 3v4"/>'
    assert svg.element("rect", width=1234567.0) == '<rect width="1234567"/>'  # never 1.23e+06


def test_an_image_has_words_for_those_who_cannot_see_it() -> None:
    odd = "<&\"'>"
    root = ElementTree.fromstring(svg.image(odd, odd, 10, 20, [svg.text(1, 2, odd, class_=odd)], class_="plot"))
    assert (root.attrib["role"], root.attrib["viewBox"], root.attrib["class"]) == ("img", "0 0 10 20", "plot")
    assert [node.text for node in root] == [odd, odd, odd]
    assert root[2].attrib["class"] == odd
