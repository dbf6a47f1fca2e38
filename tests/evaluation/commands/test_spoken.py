"""What is said of a flight that was flown from a reading, and of which things of the layout its steps are."""

from __future__ import annotations

import numpy as np
import pytest

from support.flown_by_hand import Drawn
from wayword.episodes import Episode, Pose2, Segment, examples
from wayword.episodes.commands import Step
from wayword.episodes.commands.steps import Select
from wayword.episodes.format import Example, PlacedObject
from wayword.evaluation.commands.spoken import judge_by_reading, steps_in_layout
from wayword.language.reader import Reading, Thing
from wayword.pilot.verdict import FlightEnd

MODELS = {"my robot": "robot", "my rocket": "rocket", "my ship": "ship"}
"""What the layout calls an object of the database; there is no ship in it."""


def here() -> Example:
    path = np.array([[0.0, 0.0], [0.5, 0.0]])
    placed = (
        PlacedObject("robot", 2.0, 0.0, 0.0),
        PlacedObject("rocket", 0.0, 3.0, 0.0),
        PlacedObject("mug", 1.0, -1.0, 0.0),
    )
    episode = Episode("e", "dev", 4.7, placed, Pose2(0.0, 0.0, 0.0), path, (Segment(1, "Go."),), "me")
    return examples(episode)[0]


def ended(drawn: Drawn, ending: str = "policy", contacts: int = 0) -> FlightEnd:
    rows = np.array(drawn.rows)
    pose = np.array([*rows[-1, :2], 0.7, 0.0, 0.0, rows[-1, 2]])
    return FlightEnd(here(), rows[:, :2], pose, ending, 12, contacts, 6.04, rows)  # type: ignore[arg-type]


def named(name: str, **others: float) -> Thing:
    return Thing(f"the {name}", {name: 0.7, **others})


TO_ROBOT = Reading("steps", (Step("goto", object="0"),), {"0": named("my robot", **{"my ship": 0.2})})


def said(reading: Reading, end: FlightEnd, complaint: str | None = None) -> tuple[str, bool | None]:
    verdict = judge_by_reading(reading, MODELS.get, lambda: complaint, 0.1)(end)
    return verdict.outcome, verdict.success


def test_one_line_says_step_by_step_what_came_of_it() -> None:
    near = Drawn().ahead(1.5)
    assert said(TO_ROBOT, ended(near)) == ("done in 6.0 s: stopped at the robot: yes, 0.50 m", True)
    assert said(TO_ROBOT, ended(Drawn().ahead(1.0))) == (
        "not done in 6.0 s: stopped at the robot: no, 1.00 m away",
        False,
    )
    late = "not done in 6.0 s: stopped at the robot: yes, 0.50 m; it ended by itself: no, it ran out of time"
    assert said(TO_ROBOT, ended(near, "horizon")) == (late, False)
    verdict = judge_by_reading(TO_ROBOT, MODELS.get, lambda: None, 0.1)(ended(near, "horizon"))
    assert [part.done for part in verdict.parts] == [True, False]


@pytest.mark.parametrize(("contacts", "words"), [(0, ""), (1, "once"), (2, "twice"), (3, "3 times")])
def test_contacts_are_counted_at_the_end(contacts: int, words: str) -> None:
    line, success = said(TO_ROBOT, ended(Drawn().ahead(1.5), contacts=contacts), "I saw no ship")
    tail = f"; touched something {words}" if words else ""
    assert line == f"done in 6.0 s: stopped at the robot: yes, 0.50 m; I saw no ship{tail}"
    assert success


def test_what_does_not_stand_here_cannot_be_done() -> None:
    ship = Reading("steps", (Step("goto", object="0"),), {"0": named("my ship")})
    assert said(ship, ended(Drawn())) == ("not all of it stands here", False)
    line = said(ship, ended(Drawn(), contacts=1), "I saw no ship")
    assert line == ("I saw no ship; touched something once", False)
    assert steps_in_layout(ship, ended(Drawn()), MODELS.get) is None


def test_to_do_nothing_is_to_stay() -> None:
    refused = Reading("refusal", refusal="that is a question")
    assert said(refused, ended(Drawn()), "that is a question") == (
        "done in 6.0 s: stayed where it was: yes, 0.00 m; said why it does not fly: yes, that is a question; "
        "that is a question",
        True,
    )


def test_things_are_meant_by_name_or_by_where_they_stand() -> None:
    things = {
        "0": named("my rocket"),
        "1": Thing("the nearest thing", select=Select("nearest")),
        "2": Thing("the thing beside the robot", select=Select("beside", of="3")),
        "3": named("my robot"),
        "4": Thing("the second nearest", select=Select("nearest", rank=2)),
        "5": Thing("the thing on the left", select=Select("leftmost")),
    }
    steps = tuple(Step("goto", object=key) for key in things)
    found = steps_in_layout(Reading("steps", steps, things), ended(Drawn()), MODELS.get)
    assert found is not None
    # The mug is 1.41 m away, the robot 2 and the rocket 3; beside the robot stands the mug. The rocket is on the left.
    assert [step.object for step in found] == ["rocket", "mug", "mug", "robot", "robot", "rocket"]
    # From the start of the flight, not from where it ended.
    away = steps_in_layout(Reading("steps", steps[1:2], things), ended(Drawn().to((0.0, 2.5))), MODELS.get)
    assert away is not None
    assert away[0].object == "mug"
    beside_none = {"0": named("my ship"), "1": Thing("beside it", select=Select("beside", of="0"))}
    assert steps_in_layout(Reading("steps", steps[1:2], beside_none), ended(Drawn()), MODELS.get) is None


def test_a_trace_is_thinned_to_a_tenth_of_a_second() -> None:
    """Poses come every fiftieth of a second: a circle of 6 s is judged from 60 samples of them."""
    circle = Drawn(1.4, 0.0, 90).around((2.0, 0.0), 360)
    rows = np.repeat(np.array(circle.rows), 5, axis=0)
    end = FlightEnd(here(), rows[:, :2], np.zeros(6), "policy", 12, 0, 7.3, rows)
    round_it = Reading("steps", (Step("circle", object="0"),), TO_ROBOT.things)
    verdict = judge_by_reading(round_it, MODELS.get, lambda: None, 0.02)(end)
    assert verdict.outcome == "done in 7.3 s: circled the robot once: yes, 1.00 turns"
