"""The flight card: everything in its place, and a frame leaves no traces in the next one."""

from __future__ import annotations

import time

import numpy as np
import pytest
from PIL import Image, ImageDraw

from wayword.episodes import PlacedObject
from wayword.errors import WaywordError
from wayword.pictures.colours import FLIGHT
from wayword.pictures.flight_card import CardLayout, FlightCard, draw_outcome, outcome_room
from wayword.pictures.lettering import fit_text
from wayword.pictures.thought_card import LAYOUT as THOUGHTS
from wayword.pictures.topdown import TopDown
from wayword.sim.models.mesh import finish
from wayword.sim.models.primitives import cylinder
from wayword.sim.render.bank import MeshBank

BANK = MeshBank({"drum": finish([cylinder(0.2, 0.1)])})
MAP = TopDown(BANK, size_px=552)
PATH = np.column_stack([np.linspace(1.0, 3.5, 40), 2 + np.sin(np.linspace(0, 3, 40))])


def card() -> FlightCard:
    return FlightCard(
        "flight", "Go there.", MAP, [PlacedObject("drum", 1.0, 3.5, 0.0)], demonstration=PATH, policy="policy"
    )


def test_flight_card() -> None:
    view = np.full((72, 128, 3), (10, 200, 90), dtype=np.uint8)
    one = card()
    frame = one.frame(view, [*PATH[9], 0.7, 0, 0, 0.3], PATH[:10], {"time": "1.0 s"})
    assert frame.shape == (720, 1280, 3)
    assert frame.dtype == np.uint8
    box = one.layout.view
    np.testing.assert_array_equal(frame[box.top + 180, box.left + 320], (10, 200, 90))
    at = MAP.to_pixels(PATH[4:5])[0].astype(int) + one.layout.map.corner
    np.testing.assert_array_equal(frame[at[1], at[0]], FLIGHT)
    # A frame leaves no traces in the next one, and the outcome changes nothing but its own corner.
    np.testing.assert_array_equal(frame, one.frame(view, [*PATH[9], 0.7, 0, 0, 0.3], PATH[:10], {"time": "1.0 s"}))
    done = one.frame(view, [*PATH[9], 0.7, 0, 0, 0.3], PATH[:10], {"time": "1.0 s"}, "Arrived", True)
    rows, columns = np.nonzero((done != frame).any(axis=-1))
    assert rows.min() >= one.layout.status.top
    assert columns.min() >= one.layout.map.left - 2


@pytest.mark.parametrize("layout", [CardLayout(), THOUGHTS])
def test_every_part_of_an_outcome_is_written_and_can_be_read(layout: CardLayout) -> None:
    parts = [f"circled the fire truck counter-clockwise {k} times: yes, 2.05 turns" for k in range(2, 5)]
    short, long = "done in 9.5 s: stopped: yes", f"not done in 44.5 s: {'; '.join(parts)}; touched something twice"
    assert outcome_room(short, layout).left == layout.map.left
    room = outcome_room(long, layout)
    assert room == layout.status
    lines, size = fit_text(long, room.width, room.height, 20)
    assert " ".join(lines) == long  # nothing is cut off
    assert size >= 12
    page = Image.new("RGB", (layout.width, layout.height))
    draw_outcome(ImageDraw.Draw(page), room, long, False, 20)
    rows, columns = np.nonzero(np.asarray(page).any(axis=-1))
    assert rows.min() >= room.top - 2
    assert rows.max() < room.top + room.height + 2
    assert columns.max() < room.left + room.width + 2


def test_flight_card_of_nothing() -> None:
    bare = FlightCard("", "", MAP)
    frame = bare.frame(np.zeros((360, 640, 3), np.uint8), [1, 1, 0], np.zeros((0, 2)), {})
    assert frame.shape == (720, 1280, 3)
    with pytest.raises(WaywordError, match="size_px"):
        FlightCard("", "", TopDown(BANK, size_px=300))


def test_flight_card_is_quick() -> None:
    one, view = card(), np.zeros((72, 128, 3), np.uint8)
    times = []
    for i in range(2, 12):
        start = time.process_time()
        one.frame(view, [*PATH[i], 0.7, 0, 0, 0.3], PATH[: 3 * i], {"time": "1 s", "speed": "0.7 m/s"})
        times.append(time.process_time() - start)
    assert min(times) < 0.025
