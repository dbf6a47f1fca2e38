"""The experiments' object databases: chosen views, written folders, and those that ship."""

from __future__ import annotations

import math
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from support.pack_files import write_pack
from wayword.errors import WaywordError
from wayword.language.phrases_db import load_phrases
from wayword.learning.ar.databases import (
    BuildConfig,
    Candidate,
    build_database,
    build_pack_database,
    choose_exemplars,
)
from wayword.objects import Box, ObjectDatabase
from wayword.sim.models.catalogue import names

FRAME = np.zeros((72, 128, 3), np.uint8)


def seen(flight: int, distance_m: float, side_deg: float) -> Candidate:
    return Candidate(flight, distance_m, math.radians(side_deg), FRAME, Box(0, 0, 20, 20))


def test_chosen_views_differ_in_side_and_distance_and_flight() -> None:
    views = [seen(0, 1.0, 0), seen(1, 1.0, 5), seen(2, 1.0, 180), seen(0, 1.0, 170), seen(3, 2.0, 0)]
    # By log distance the middle one of five is views[2] (four at 1 m in order of listing, then 2 m).
    # Farthest from it: views[4], sqrt((2 ln 2)^2 + 2^2) = 2.43, against 2.0 for views[0].
    # Next: views[0] is 2 ln 2 = 1.39 from views[4] and 2 from views[2]; views[1] is 1.39 too, a hair more by its side.
    assert choose_exemplars(views, 3) == [views[2], views[4], views[1]]
    assert len({view.flight for view in choose_exemplars(views, 4)}) == 4


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("databases") / "dev"
    build_database(out, "dev", BuildConfig(views=2, seed=1))
    return out


def test_a_database_is_built_from_flights(built: Path, tmp_path: Path) -> None:
    database = ObjectDatabase.load(built)
    assert set(database.names) == set(names("dev"))
    assert database.notes == ()
    for item, written in ((database.find(entry.name), entry) for entry in load_phrases("dev")):
        assert item.phrases == written.phrases
        assert len(item.photos) == 2
        assert all(len(photo) >= 16 and photo.std() > 5 for photo in item.photos)
    again = tmp_path / "again"
    build_database(again, "dev", BuildConfig(views=2, seed=1))
    files = sorted(path.relative_to(built) for path in built.rglob("*") if path.is_file())
    assert files == sorted(path.relative_to(again) for path in again.rglob("*") if path.is_file())
    assert all((built / file).read_bytes() == (again / file).read_bytes() for file in files)
    assert not list(tmp_path.glob(".*"))  # nothing unfinished is left


def test_nothing_is_overwritten(built: Path) -> None:
    with pytest.raises(WaywordError, match="there already"):
        build_database(built, "dev")
    with pytest.raises(WaywordError, match="at least one view"):
        build_database(built.with_name("other"), "dev", BuildConfig(views=0))


def test_an_object_that_is_never_seen_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(WaywordError, match="hardly ever seen whole in 16 flights"):
        build_database(tmp_path / "x", "dev", BuildConfig(max_flights=16, min_side_px=500.0))
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("split", ["dev", "test"])
def test_the_shipped_databases_are_whole(split: str) -> None:
    database = ObjectDatabase.load(Path(str(resources.files("wayword.objects").joinpath("data", split))))
    assert set(database.names) == set(names(split))
    assert database.notes == ()
    assert all(len(item.photos) == 5 and len(item.phrases) == 5 for item in database.objects)
    assert database.crops(32)[names(split)[0]].shape == (5, 32, 32, 3)


def test_a_pack_is_photographed_and_called_by_its_names(tmp_path: Path) -> None:
    colours = [(200, 40, 40), (40, 200, 40), (40, 40, 200), (200, 200, 40), (40, 200, 200), (200, 40, 200)]
    things = [(f"crate_{k}", f"crate{k}", (0.8, 0.8, 1), colour) for k, colour in enumerate(colours)]
    pack = write_pack(tmp_path / "mine.npz", things)
    remarks: list[str] = []
    database = build_pack_database(tmp_path / "db", pack, BuildConfig(views=1, max_flights=16), remark=remarks.append)
    assert set(database.names) <= {f"crate {k}" for k in range(6)}
    assert len(database) + len(remarks) == 6  # what was hardly ever seen whole is left out with a line
    assert all(item.phrases == (f"the {item.name}",) for item in database.objects)


def test_a_pack_of_which_nothing_is_seen_is_one_line(tmp_path: Path) -> None:
    things = [(f"crate_{k}", "crate", (1, 1, 1), (30 * k + 60, 90, 40)) for k in range(6)]
    pack = write_pack(tmp_path / "mine.npz", things)
    with pytest.raises(WaywordError, match="seen whole"):
        build_pack_database(tmp_path / "db", pack, BuildConfig(views=1, max_flights=16, min_side_px=500.0))
