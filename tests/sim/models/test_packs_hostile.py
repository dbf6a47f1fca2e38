from __future__ import annotations

import base64
import io
import os
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from support.pack_files import OBJ, OFF, data_uri, glb, gltf, pack_folder, ply, png, reason, stl
from wayword.errors import DataError, WaywordError
from wayword.sim.models import packs
from wayword.sim.models.packs import load_pack


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return pack_folder(tmp_path)


def test_a_missing_path_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(WaywordError, match="no such object pack"):
        load_pack(tmp_path / "nothing")


def test_a_plain_file_is_no_pack(tmp_path: Path) -> None:
    (tmp_path / "mesh.obj").write_text(OBJ)
    with pytest.raises(WaywordError, match="folder of mesh files"):
        load_pack(tmp_path / "mesh.obj")


def test_a_pack_without_a_usable_mesh_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(WaywordError, match="no usable mesh"):
        load_pack(tmp_path)
    (tmp_path / "a.obj").write_text("hello")
    with pytest.raises(WaywordError, match=r"no usable mesh.*a\.obj") as caught:
        load_pack(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_repeated_name_is_skipped(folder: Path) -> None:
    assert "second object named 'good one'" in reason(folder, "good_one.off", OFF)


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("empty.obj", "", "is empty"),
        ("notes.obj", "dear diary\n" * 50, "faces|read"),
        ("binary.obj", bytes(range(256)) * 40, "not text"),
        ("points.obj", OBJ.split("f ")[0], "no faces"),
        ("zero.obj", "v 0 0 0\n" * 3 + "f 1 2 3\n", "no extent"),
        ("line.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", "no area"),
        ("nan.obj", OBJ.replace("v 0 1 0", "v nan 1 0"), "finite"),
        ("inf.off", OFF.replace("0 1 0\n", "inf 1 0\n"), "finite"),
        ("index.obj", OBJ + "f 1 2 99\n", "read|points"),
        ("index.off", OFF.replace("3 3 4 0", "3 3 4 77"), "read|points"),
        ("ngon.obj", OBJ + "f" + " 1 2 3" * 9_000 + "\n", "faces|lines"),
        ("lines.obj", OBJ + "\n" * 2_100_000, "lines"),
        ("materials.obj", OBJ + "usemtl a\n" * 3_000, "material"),
        ("cut.ply", ply()[:120], "header"),
        ("short.ply", ply()[:-60], "read|points|truncated"),
        ("huge.ply", ply(vertices=10**15), "more elements"),
        ("faces.ply", ply(faces=10**9), "decimate"),
        ("cloud.ply", ply(faces=0), "no faces|read"),
        ("counts.off", "OFF\n", "counts"),
        ("many.off", OFF.replace("5 6 0", "5 999999999 0"), "decimate"),
        ("cut.stl", stl()[:-10], "truncated"),
        ("huge.stl", bytes(80) + b"\xff\xff\xff\xff", "truncated|decimate"),
        ("cut.glb", glb(gltf())[:200], "truncated"),
        ("stub.glb", b"glTF", "not a GLB"),
        ("old.glb", b"glTF" + struct.pack("<IIII", 1, 20, 0, 0), "version"),
        ("text.gltf", "{", "JSON"),
        ("deep.gltf", "[" * 100_000, "JSON"),
        ("list.gltf", "[]", "broken"),
        ("nothing.gltf", {"asset": {"version": "2.0"}}, "read|no faces"),
        ("model.fbx", "Kaydara", "mesh format"),
    ],
    ids=lambda value: value if isinstance(value, str) and "." in value and len(value) < 16 else "",
)
def test_bad_files_are_skipped_with_a_reason(
    folder: Path, name: str, content: str | bytes | dict[str, Any], why: str
) -> None:
    text = reason(folder, name, content)
    assert any(part in text for part in why.split("|")), text
    assert "\n" not in text


def test_a_file_over_the_size_limit_is_not_read(folder: Path) -> None:
    with (folder / "big.glb").open("wb") as file:
        file.truncate(8 * 2**30)  # sparse: takes no space
    tracemalloc.start()
    pack = load_pack(folder)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "at most 64 MB are taken" in pack.skipped[0].reason
    assert most < 64 * 2**20


def test_a_folder_of_very_many_files_or_bytes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packs, "MAX_PACK_BYTES", len(OBJ) // 2)
    with pytest.raises(WaywordError, match="its meshes have more than"):
        load_pack(folder)
    for number in range(packs.MAX_FILES):
        (folder / f"{number}.txt").touch()
    with pytest.raises(WaywordError, match="holds more than 2,000 files"):
        load_pack(folder)


def test_an_accessor_that_asks_for_a_terabyte(folder: Path) -> None:
    tree = gltf()
    tree["accessors"][0] = {"componentType": 5126, "count": 10**11, "type": "VEC3"}
    assert "more data" in reason(folder, "bomb.gltf", tree)


def test_buffer_views_that_copy_one_buffer_many_times(folder: Path) -> None:
    tree = gltf()
    tree["bufferViews"] += [{"buffer": 0, "byteLength": 60 * 2**20}] * 20
    assert "more data" in reason(folder, "copies.gltf", tree)


def test_nodes_that_repeat_a_mesh_a_thousand_times(folder: Path) -> None:
    tree = gltf(nodes=[{"mesh": 0}] * 1_999, scenes=[{"nodes": list(range(1_999))}])
    tree["accessors"][1]["count"] = 3 * 11  # 11 faces each: 21,989 together
    assert "decimate" in reason(folder, "crowd.gltf", tree)


def test_nodes_in_a_ring(folder: Path) -> None:
    tree = gltf(nodes=[{"mesh": 0, "children": [1]}, {"children": [0]}])
    assert "tree" in reason(folder, "ring.gltf", tree)


def test_nodes_in_a_long_chain(folder: Path) -> None:
    tree = gltf(nodes=[*({"children": [i + 1]} for i in range(500)), {"mesh": 0}])
    assert "nested" in reason(folder, "chain.gltf", tree)


def test_a_node_with_two_parents(folder: Path) -> None:
    tree = gltf(nodes=[{"children": [1, 1]}, {"mesh": 0}])
    assert "tree" in reason(folder, "twice.gltf", tree)


def test_negative_and_fractional_counts(folder: Path) -> None:
    for number, value in enumerate((-1, 1.5, True, "9", None)):
        tree = gltf()
        tree["accessors"][0]["count"] = value
        assert "broken" in reason(folder, f"count{number}.gltf", tree)
        (folder / f"count{number}.gltf").unlink()


def test_nan_in_a_gltf_buffer(folder: Path) -> None:
    tree = gltf()
    blob = base64.b64decode(tree["buffers"][0]["uri"].split(",")[1])
    tree["buffers"][0]["uri"] = data_uri(struct.pack("<f", float("nan")) + blob[4:])
    assert "finite" in reason(folder, "nan.gltf", tree)


def test_a_required_extension_is_named(folder: Path) -> None:
    tree = gltf(extensionsRequired=["KHR_draco_mesh_compression"])
    assert "KHR_draco_mesh_compression" in reason(folder, "packed.gltf", tree)


def test_a_texture_of_too_many_pixels(folder: Path) -> None:
    # 5000 x 5000 black pixels are 75 MB decoded but 30 KB as a file.
    stream = io.BytesIO()
    Image.new("L", (5_000, 5_000)).save(stream, "PNG")
    assert "5000 x 5000" in reason(folder, "bomb.glb", glb(gltf(data_uri(stream.getvalue()))))


def test_a_texture_beside_the_mesh_of_too_many_pixels(folder: Path) -> None:
    Image.new("L", (5_000, 5_000)).save(folder / "bomb.png")
    (folder / "bomb.mtl").write_text("newmtl a\nmap_Kd bomb.png\n")
    assert "5000 x 5000" in reason(folder, "bomb.obj", "mtllib bomb.mtl\nusemtl a\n" + OBJ)


def test_a_header_that_claims_billions_of_pixels(folder: Path) -> None:
    claimed = png().replace(struct.pack(">II", 4, 4), struct.pack(">II", 60_000, 60_000))
    assert "texture" in reason(folder, "claim.gltf", gltf(data_uri(claimed)))


def test_a_truncated_texture(folder: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)
    stream = io.BytesIO()
    Image.fromarray(noise).save(stream, "PNG")
    assert "damaged" in reason(folder, "cut.gltf", gltf(data_uri(stream.getvalue()[:2_000])))


def test_a_texture_that_is_a_program(folder: Path) -> None:
    postscript = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\nshowpage\n"
    assert "no image" in reason(folder, "eps.gltf", gltf(data_uri(postscript)))


# No way out of the folder

ESCAPES: list[Callable[[Path], str]] = [
    lambda secret: "../secret.png",
    lambda secret: "textures/../../secret.png",
    lambda secret: "..%2Fsecret.png",
    lambda secret: "..\\secret.png",
    str,
    lambda secret: secret.as_uri(),
    lambda secret: "http://127.0.0.1:9/secret.png",
    lambda secret: "C:\\secret.png",
    lambda secret: "link.png",
]


@pytest.fixture(params=range(len(ESCAPES)))
def way_out(request: pytest.FixtureRequest, folder: Path) -> str:
    """A name that leads to an existing image outside of the pack, or to the network."""
    secret = folder.parent / "secret.png"
    secret.write_bytes(png())
    (folder / "link.png").symlink_to(secret)
    way: str = ESCAPES[request.param](secret)
    return way


def test_gltf_image_outside_the_folder(folder: Path, way_out: str) -> None:
    assert "pack folder" in reason(folder, "spy.gltf", gltf(way_out))


def test_gltf_buffer_outside_the_folder(folder: Path, way_out: str) -> None:
    tree = gltf(buffers=[{"byteLength": 136, "uri": way_out}])
    assert "pack folder" in reason(folder, "spy.gltf", tree)
    (folder / "spy.gltf").unlink()
    assert "pack folder" in reason(folder, "spy.glb", glb(tree))


def test_mtl_outside_the_folder(folder: Path, way_out: str) -> None:
    assert "pack folder" in reason(folder, "spy.obj", f"mtllib {way_out}\n" + OBJ)


def test_mtl_image_outside_the_folder(folder: Path, way_out: str) -> None:
    (folder / "m.mtl").write_text(f"newmtl a\nmap_Kd {way_out}\n")
    assert "pack folder" in reason(folder, "spy.obj", "mtllib m.mtl\nusemtl a\n" + OBJ)


def test_ply_image_outside_the_folder(folder: Path, way_out: str) -> None:
    text = ply().replace("element vertex", f"comment TextureFile {way_out}\nelement vertex", 1)
    assert "pack folder" in reason(folder, "spy.ply", text)


def test_a_mesh_that_is_a_link_out(folder: Path) -> None:
    (folder.parent / "outside.obj").write_text(OBJ)
    (folder / "link.obj").symlink_to(folder.parent / "outside.obj")
    (folder / "loop.obj").symlink_to(folder / "loop.obj")
    os.mkfifo(folder / "pipe.obj")  # reading it would wait forever
    (folder / "folder.obj").mkdir()
    pack = load_pack(folder)
    assert list(pack.meshes) == ["good one"]
    assert {entry.name for entry in pack.skipped} == {"link.obj", "loop.obj", "pipe.obj", "folder.obj"}


@pytest.mark.parametrize(
    "text",
    [
        "{", "[]", "3", '{"size": 3}', '{"objects": []}', '{"objects": {"a": 3}}', '{"objects": {"a": {"colour": 1}}}',
        '{"objects": {"a": {"up": "x"}}}', '{"objects": {"a": {"name": ""}}}', '{"objects": {"a": {"name": 3}}}',
        '{"longest_edge_m": 0}', '{"longest_edge_m": -1}', '{"longest_edge_m": NaN}', '{"longest_edge_m": 1e9}',
        '{"longest_edge_m": true}', '{"longest_edge_m": "big"}', "[" * 100_000,
    ],
    ids=range(17),
)  # fmt: skip
def test_a_bad_pack_json_is_an_error_that_names_it(folder: Path, text: str) -> None:
    (folder / "pack.json").write_text(text)
    with pytest.raises(DataError, match=r"pack\.json"):
        load_pack(folder)
