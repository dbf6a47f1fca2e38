"""The studio without a browser: what was understood, addresses, flights that are kept, repeated and gone on from."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from wayword.episodes import PlacedObject, Pose2
from wayword.errors import RefusedError, WaywordError
from wayword.pilot.verdict import Verdict, VerdictPart
from wayword.studio.abreast import Abreast
from wayword.studio.address import PageAddress
from wayword.studio.afterwards import headline
from wayword.studio.downloads import take_home
from wayword.studio.kept_flight import KeptFlight, StudioStep, moment_of, seconds_of
from wayword.studio.layout import StudioLayout
from wayword.studio.letters import Letterbox
from wayword.studio.session import FIRST_INSTRUCTION, Choices, Session
from wayword.studio.understood import taught_name
from wayword.studio.workshop import Workshop

LAYOUT = StudioLayout(
    "mine", (PlacedObject("globe", 2.0, 2.0, 0.0), PlacedObject("strawberry", 3.5, 2.0, 0.0)), Pose2(1.0, 1.0, 0.5)
)


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop(tmp_path_factory.mktemp("studio") / "objects")


def flown(session: Session) -> KeptFlight:
    while not session.next_leg().ended:
        pass
    assert session.flight is not None
    return session.flight


# What was understood -------------------------------------------------------------------------------------


def test_parts_before_and_verdicts_after(workshop: Workshop) -> None:
    understood = workshop.understand(FIRST_INSTRUCTION, workshop.database("test"), steps=True)
    assert [part.words for part in understood.parts] == ["pass the watermelon", "go to the front of the globe"]
    passed, stopped = "passed the watermelon: no, 1.80 m", "stopped before the globe: yes, 0.41 m"
    verdict = Verdict(
        f"not done in 6.0 s: {passed}; {stopped}; touched something once",
        False,
        (VerdictPart(passed, False), VerdictPart(stopped, True)),
    )
    judged = understood.judged(verdict)
    assert [part.words for part in judged] == [
        "pass the watermelon: no, 1.80 m",
        "go to the front of the globe: yes, 0.41 m",
    ]
    assert [part.done for part in judged] == [False, True]
    assert headline(verdict) == "not done in 6.0 s; touched something once"
    assert understood.judged(Verdict("ran out of time", None))[-1].words == "ran out of time"


def test_what_is_unknown_has_a_name_that_it_can_be_taught_under(workshop: Workshop) -> None:
    session = Session(workshop)
    with pytest.raises(RefusedError, match="rocket"):
        session.begin("fly to the rocket")
    assert session.understood is not None
    assert session.understood.unknown == ("rocket",)
    assert session.understood.parts == ()
    assert taught_name(" The  Red Rocket.") == "red rocket"


def test_a_policy_that_reads_no_steps_takes_a_sentence_for_a_description(workshop: Workshop) -> None:
    session = Session(workshop, Choices(policy="fspvn"))
    understood = session.understand("go past the globe and stop at the strawberry")
    assert understood.reading is None
    assert [part.words for part in understood.parts] == [
        "a way as it is described: go past the globe and stop at the strawberry"
    ]


# Addresses -----------------------------------------------------------------------------------------------


def test_an_address_holds_what_the_page_shows(workshop: Workshop) -> None:
    session = Session(workshop, Choices(seed=5))
    session.draw_layout("stop at the globe & the flower pot")
    for layout in (session.layout, session.layout.headed_to(0.0, 0.0)):
        if layout.by_hand:
            session.layout = layout
        query = session.address("stop at the globe & the flower pot").query
        other = Session(workshop)
        address = PageAddress.read(query)
        other.restore(address)
        assert address.say == "stop at the globe & the flower pot"
        assert other.layout.objects == layout.objects
        assert other.layout.start == layout.start
        assert other.address(address.say).query == query
    example = Session(workshop, Choices(seed=3, database="dev"))
    say = example.take_example()
    other = Session(workshop)
    other.restore(PageAddress.read(example.address(say).query))
    assert other.layout.instruction == say
    assert other.choices.database == "dev"


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("seed=many", "cannot be read"),
        ("objects=globe,1,2,0", "objects and start belong together"),
        ("objects=globe,1,99,0&start=1,1,0", "outside"),
        ("objects=globe,1,nan,0&start=1,1,0", "3 numbers"),
        ("objects=unicorn,1,1,0&start=2,2,0", "no model"),
        ("policy=mine", "'mine', which is not here"),
        ("knows=/etc", "no database"),
        ("seed=-1", "seed -1"),
    ],
)
def test_an_address_that_makes_no_sense_is_refused(workshop: Workshop, query: str, why: str) -> None:
    with pytest.raises(WaywordError, match=why):
        Session(workshop).restore(PageAddress.read(query))


def test_letters_reach_the_one_who_has_the_key() -> None:
    box, got = Letterbox(), list[tuple[str, str]]()
    key = box.open(lambda about, value: got.append((about, value)))
    assert box.deliver(f"/wayword-letter?key={key}&about=address&value=say%3Da%26b")
    assert not box.deliver("/wayword-letter?key=guessed&about=address&value=x")
    assert not box.deliver(f"/wayword-letter?key={key}&about=address&value={'x' * 9000}")
    assert not box.deliver(f"/elsewhere?key={key}&about=address&value=x")
    box._pool.shutdown(wait=True)
    assert got == [("address", "say=a&b")]
    box.close(key)
    assert not box.deliver(f"/wayword-letter?key={key}&about=address&value=x")


# Start and heading ---------------------------------------------------------------------------------------


def test_the_drone_is_put_elsewhere_and_turned() -> None:
    moved = LAYOUT.started_at(3.0, 3.0)
    assert (moved.start.x, moved.start.y, moved.start.yaw) == (3.0, 3.0, 0.5)
    assert moved.by_hand
    turned = moved.headed_to(3.0, 4.0)
    assert turned.start.yaw == pytest.approx(np.pi / 2, abs=1e-3)
    with pytest.raises(WaywordError, match="too close to the globe"):
        LAYOUT.started_at(2.1, 2.0)
    with pytest.raises(WaywordError, match="no direction"):
        LAYOUT.headed_to(1.0, 1.0)


# Flights that are kept -----------------------------------------------------------------------------------


def test_a_flight_taken_home_is_the_flight_that_was_seen(workshop: Workshop) -> None:
    session = Session(workshop)
    session.begin(FIRST_INSTRUCTION)
    flight = flown(session)
    trace = json.loads(take_home(flight, "Trace"))
    assert len(trace["decisions"]) == len(flight.legs)
    np.testing.assert_allclose(trace["flown"][-1], flight.legs[-1].poses[-1][:2], atol=1e-3)
    assert trace["outcome"] == flight.verdict.outcome
    assert trace["reading"]["kind"] == "steps"
    with pytest.raises(WaywordError, match="press Fly"):
        take_home(
            KeptFlight(
                "x", "stop", 0, flight.layout, flight.start, flight.understood, flight.database, flight.bank,
                flight.camera, 50,
            ),
            "Film",
        )  # fmt: skip


@pytest.mark.needs_rerun
def test_a_rerun_recording_is_taken_home(workshop: Workshop, tmp_path: Path) -> None:
    from rerun.chunk import RrdReader

    session = Session(workshop)
    session.begin("turn left 90 degrees")
    flight = flown(session)
    (tmp_path / "flight.rrd").write_bytes(take_home(flight, "Rerun"))
    chunks = [*RrdReader(tmp_path / "flight.rrd").stream()]
    pictures = sum(chunk.num_rows for chunk in chunks if str(chunk.entity_path) == "/world/drone/camera/image")
    assert pictures >= len(flight.legs)


def test_any_moment_of_a_flight_is_found(workshop: Workshop) -> None:
    session = Session(workshop, Choices(policy="average"))
    session.begin(FIRST_INSTRUCTION)
    legs = flown(session).legs
    assert moment_of(legs, 0.0) == (legs[0], 0.0)
    leg, share = moment_of(legs, 0.7)
    assert leg is legs[1]
    assert share == pytest.approx(0.4)
    assert moment_of(legs, 999.0)[0] is legs[-1]
    assert seconds_of(legs) == legs[-1].time_s  # a stop takes no time
    assert seconds_of(()) == 0.0


def test_going_on_begins_where_the_drone_stands_with_what_it_has_seen(workshop: Workshop) -> None:
    session = Session(workshop)
    session.begin(FIRST_INSTRUCTION)
    first = flown(session)
    session.begin("turn left 90 degrees", go_on=True)
    flight = session.flight
    assert flight is not None
    assert flight.start == first.end == session.stands
    assert len(flight.before) == len(first.legs)
    known = session.next_leg().thought
    assert known is not None
    assert (known.coverage > 0).sum() > (first.legs[0].thought.coverage > 0).sum()  # type: ignore[union-attr]
    session.begin("turn left 90 degrees")
    assert session.flight is not None
    assert session.flight.before == []
    assert session.flight.start == session.layout.start
    masks = Session(workshop, Choices(masks="true"))
    masks.begin("stop at the globe")
    masks.next_leg()
    masks.begin("stop at the globe", go_on=True)  # is shown the true masks of what it saw, too
    assert masks.next_leg().thought is not None


def test_who_arrives_first_waits_for_the_other(workshop: Workshop) -> None:
    first = Session(workshop, Choices(policy="stop"))
    first.begin(FIRST_INSTRUCTION)
    second = first.twin("average", None)
    second.begin(FIRST_INSTRUCTION)
    assert second.layout is first.layout
    both = Abreast(first.next_leg, second.next_leg)
    legs: list[StudioStep] = [both.next_leg()]
    while not legs[-1].ended:
        legs.append(both.next_leg())
    assert len(legs) > 2
    assert legs[0].verdict is not None  # the one that stops at once
    assert all(leg.beside is not None and (leg.beside.verdict is None) for leg in legs[:-1])
    assert [leg.number for leg in legs] == list(range(len(legs)))
    np.testing.assert_array_equal(legs[-1].poses[-1], legs[0].poses[-1])


def test_the_folder_is_not_made_by_any_of_this(workshop: Workshop) -> None:
    assert not Path(workshop.folder).exists()
