from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from support.pack_files import FACES, POINTS, mean_color
from wayword.errors import DataError, WaywordError
from wayword.sim.models.baked import BakedPack
from wayword.sim.models.packs import Pack, load_pack


def jpeg(color: tuple[int, int, int]) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (128, 128), color).save(stream, "JPEG", quality=95)
    return stream.getvalue()


class Baker:
    """Writes a small baked pack of pyramids; tests break one thing before ``write``."""

    def __init__(self, path: Path) -> None:
        self.path = path / "small.npz"
        upright = np.array([(x, -z, y) for x, y, z in POINTS], dtype=np.float16) / 2
        textures = [jpeg((200, 20, 20)), jpeg((20, 20, 200))]
        self.index: Any = [
            {"name": name, "noun": noun, "source": "test", "license": "CC0", "extent": [1, 1, 0.5],
             "vertices": 5, "faces": 6, "texture_bytes": len(texture)}
            for name, noun, texture in zip(("Red_Tent", "Blue tent"), ("tent", None), textures, strict=True)
        ]  # fmt: skip
        self.arrays: dict[str, np.ndarray] = {
            "v": np.concatenate([upright, upright]),
            "uv": np.full((10, 2), 0.25, np.float16),
            "f": np.array(FACES * 2, dtype=np.uint16),
            "tex": np.frombuffer(b"".join(textures), np.uint8).copy(),
        }

    def write(self) -> Path:
        np.savez_compressed(self.path, allow_pickle=True, **self.arrays)
        self.path.with_suffix(".json").write_text(json.dumps(self.index))
        return self.path


@pytest.fixture
def baker(tmp_path: Path) -> Baker:
    return Baker(tmp_path)


def test_a_baked_pack_is_read_by_index(baker: Baker) -> None:
    baked = BakedPack(baker.write())
    assert len(baked) == 2
    assert baked.names == ("Red_Tent", "Blue tent")
    assert baked.nouns == ("tent", "")
    mesh = baked.mesh(1, longest_edge_m=0.6)
    np.testing.assert_allclose(np.ptp(mesh.vertices, axis=0), [0.6, 0.6, 0.3], atol=1e-3)
    assert mesh.vertices[:, 2].min() == 0.0
    assert mesh.two_sided
    np.testing.assert_allclose(mean_color(mesh), (20, 20, 200), atol=4)
    assert mesh.uv is not None
    np.testing.assert_allclose(mesh.uv, 0.25, atol=1e-3)  # v is not turned round
    for number in (-1, 2):
        with pytest.raises(WaywordError, match=f"no object {number}"):
            baked.mesh(number)


def test_a_baked_pack_loads_like_a_folder(baker: Baker) -> None:
    pack = load_pack(baker.write())
    assert isinstance(pack, Pack)
    assert list(pack.meshes) == ["Red Tent", "Blue tent"]
    assert pack.meshes["Red Tent"].longest_edge == pytest.approx(0.4, abs=1e-6)


def test_baked_names_that_repeat_are_skipped(baker: Baker) -> None:
    baker.index[1]["name"] = "Red Tent"
    pack = load_pack(baker.write())
    assert [entry.name for entry in pack.skipped] == ["Red Tent"]


def set_nan(baker: Baker) -> None:
    baker.arrays["v"][7, 1] = np.nan


def set_index(baker: Baker) -> None:
    baker.arrays["f"][8, 0] = 5


def set_uv(baker: Baker) -> None:
    baker.arrays["uv"][6] = np.inf


def set_flat(baker: Baker) -> None:
    baker.arrays["v"][5:] = 1.0


def set_texture(baker: Baker) -> None:
    baker.arrays["tex"][baker.index[0]["texture_bytes"] :] = 0


@pytest.mark.parametrize("damage", [set_nan, set_index, set_uv, set_flat, set_texture])
def test_one_damaged_object_of_a_baked_pack_is_skipped(baker: Baker, damage: Callable[[Baker], None]) -> None:
    damage(baker)
    path = baker.write()
    pack = load_pack(path)
    assert list(pack.meshes) == ["Red Tent"]
    assert [entry.name for entry in pack.skipped] == ["Blue tent"]
    with pytest.raises(DataError, match="object 1"):
        BakedPack(path).mesh(1)


def test_a_baked_pack_without_its_index(baker: Baker) -> None:
    baker.write().with_suffix(".json").unlink()
    with pytest.raises(DataError, match=r"small\.json"):
        load_pack(baker.path)


@pytest.mark.parametrize("count", [4, 6, -1, 1.0, True, None, 10**9])
def test_baked_counts_that_do_not_fit(baker: Baker, count: object) -> None:
    baker.index[0]["vertices"] = count
    with pytest.raises(DataError, match=r"vertices|counts"):
        load_pack(baker.write())


@pytest.mark.parametrize("index", [[], {}, 3, [3], [{"name": ""}], [{"name": "a"}]])
def test_baked_index_of_the_wrong_kind(baker: Baker, index: object) -> None:
    baker.index = index
    with pytest.raises(DataError, match=r"small\.json"):
        load_pack(baker.write())


def test_baked_arrays_of_the_wrong_kind(baker: Baker) -> None:
    baker.arrays["f"] = baker.arrays["f"].astype(np.float32)
    with pytest.raises(DataError, match="array f"):
        load_pack(baker.write())


def test_baked_arrays_that_are_missing(baker: Baker) -> None:
    del baker.arrays["uv"]
    with pytest.raises(DataError, match="must hold"):
        load_pack(baker.write())


def test_pickled_arrays_are_never_loaded(baker: Baker) -> None:
    baker.arrays["v"] = np.array([{"a": 1}], dtype=object)
    with pytest.raises(DataError, match="damaged or not a baked pack"):
        load_pack(baker.write())


def test_a_truncated_baked_pack(baker: Baker) -> None:
    path = baker.write()
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(DataError, match="damaged or not a baked pack"):
        load_pack(path)


def test_a_baked_pack_that_unpacks_to_gigabytes(baker: Baker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wayword.sim.models.baked.MAX_BAKED_BYTES", 2**20)
    baker.arrays["tex"] = np.zeros(2**21, np.uint8)  # two megabytes of zeros in two kilobytes
    path = baker.write()
    assert path.stat().st_size < 2**14
    with pytest.raises(DataError, match="unpacks to more than"):
        load_pack(path)


def test_one_oversized_object_is_skipped_and_the_others_are_taken(baker: Baker) -> None:
    """20,001 faces in the first object: more than can be drawn in time, and no reason to refuse the second."""
    many = np.tile(np.array(FACES, dtype=np.uint16), (3334, 1))[:20_001]
    baker.index[0]["faces"] = len(many)
    baker.arrays["f"] = np.concatenate([many, np.array(FACES, dtype=np.uint16)])
    pack = load_pack(baker.write())
    assert list(pack.meshes) == ["Blue tent"]
    assert [(item.name, item.reason) for item in pack.skipped] == [
        ("Red_Tent", "has 20,001 faces; at most 20,000 are taken")
    ]
