"""Whole paragraphs: what counts as having got through to the end."""

from __future__ import annotations

import numpy as np
import pytest

from wayword.cli.eval_paragraphs import EvalParagraphs
from wayword.episodes import examples, load_natural
from wayword.episodes.format import paragraph
from wayword.errors import WaywordError
from wayword.evaluation.table.paragraphs import fly_paragraphs, paragraph_examples, reached_in_order, segment_ends

THERE = np.array([(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (3.0, 0.0)])


def test_ends_are_reached_one_after_the_other() -> None:
    assert reached_in_order(THERE, [(1.0, 0.4), (3.0, 0.0)])
    assert not reached_in_order(THERE, [(3.0, 0.0), (1.0, 0.4)])  # both were passed, the other way round
    assert not reached_in_order(THERE, [(1.0, 0.5)])  # 0.5 m is more than 0.47 m
    assert reached_in_order(THERE, [(1.0, 0.1), (1.0, -0.1)])  # two ends at one place
    assert reached_in_order(THERE, [])


def test_a_paragraph_is_all_of_its_episode() -> None:
    episode = load_natural("dev")[0]
    whole, pairs = paragraph(episode), examples(episode, 2)
    assert whole.count == len(episode.segments) >= 4
    assert whole.instruction.startswith(pairs[0].instruction)
    assert whole.instruction.endswith(pairs[-1].instruction)
    assert len(whole.path) == len(episode.path)
    assert segment_ends(whole)[-1] == pytest.approx(tuple(episode.path[-1][:2]))


def test_limits_spread_over_the_split() -> None:
    some = paragraph_examples("dev", 5)
    assert len({cut.id for cut in some}) == 5
    assert len(paragraph_examples("dev", 10**6)) == len(load_natural("dev"))


def test_the_oracle_gets_through() -> None:
    flights = fly_paragraphs("oracle", "dev", limit=2, workers=1)
    assert [bool(flight.metrics.sr) for flight in flights] == [True, True]
    assert all(flight.all_ends for flight in flights)


def test_figures_of_flights_worked_by_hand() -> None:
    """One of two arrived, and it had been everywhere: 50 % both."""
    arrived = fly_paragraphs("oracle", "dev", limit=1, workers=1)[0]
    lost = fly_paragraphs("stop", "dev", limit=1, workers=1)[0]
    figures = EvalParagraphs().figures([arrived, lost])
    assert figures["paragraphs.dev.end"].value == figures["paragraphs.dev.all_ends"].value == 50.0
    assert figures["paragraphs.dev.end"].n == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [({"workers": 0}, "--workers 0"), ({"limit": 0}, "--limit 0"), ({"policy": "nobody"}, "nobody")],
)
def test_mistakes_are_one_line(options: dict[str, object], words: str) -> None:
    with pytest.raises(WaywordError, match=words):
        EvalParagraphs(**options).run()  # type: ignore[arg-type]
