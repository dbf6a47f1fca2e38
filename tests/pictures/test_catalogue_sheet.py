"""The sheet of the catalogue."""

from __future__ import annotations

import numpy as np
import pytest

from wayword.errors import WaywordError
from wayword.pictures.catalogue_sheet import PORTRAIT_HEIGHT, PORTRAIT_WIDTH, SPLIT_COLOURS, catalogue_sheet
from wayword.pictures.colours import LIGHT_PAGE
from wayword.sim.render.bank import MeshBank


def test_each_object_stands_in_its_tile() -> None:
    names = ["globe", "robot"] * 5  # of the splits test and dev
    page = catalogue_sheet(names, MeshBank.of_catalogue(["globe", "robot"]))
    # 8 tiles of two portraits with 2 pixels between them; 10 between tiles, 20 at the sides, two rows below 40.
    tile = (2 * PORTRAIT_WIDTH + 2, PORTRAIT_HEIGHT + 26)
    assert page.size == (2 * 20 + 8 * tile[0] + 7 * 10, 40 + 2 * tile[1] + 10 + 20)
    pixels = np.asarray(page)
    first, other = (pixels[40 : 40 + tile[1], left : left + tile[0]] for left in (20, 20 + 2 * (tile[0] + 10)))
    np.testing.assert_array_equal(first, other)  # the globe, twice
    assert (pixels[40 + tile[1] + 10 :, 20 + 2 * (tile[0] + 10) :] == LIGHT_PAGE).all()  # ten objects, not sixteen
    for split, present in (("test", True), ("dev", True), ("seen", False)):
        assert (pixels[:40] == SPLIT_COLOURS[split]).all(axis=2).any() == present


def test_unknown_objects_and_none_are_refused() -> None:
    bank = MeshBank.of_catalogue(["globe"])
    with pytest.raises(WaywordError, match="unicorn"):
        catalogue_sheet(["unicorn"], bank)
    with pytest.raises(WaywordError, match="nothing to draw"):
        catalogue_sheet([], bank)
