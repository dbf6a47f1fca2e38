from __future__ import annotations

import base64
import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from support.pack_files import FACES, OBJ, OFF, data_uri, glb, gltf, mean_color, pack_folder, ply, png, reason, stl
from wayword.errors import WaywordError
from wayword.sim.models.packs import load_pack, object_name, select
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.renderer import Renderer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return pack_folder(tmp_path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("thing.obj", OBJ.encode()),
        ("thing.off", OFF.encode()),
        ("thing.ply", ply().encode()),
        ("thing.stl", stl()),
        ("thing.gltf", json.dumps(gltf()).encode()),
        ("thing.glb", glb(gltf())),
        ("thing.OBJ", OBJ.encode()),
        ("latin.obj", "# Schöpfer: Müller\n".encode("latin-1") + OBJ.encode()),
    ],
)
def test_every_format_stands_upright_at_its_size(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    (tmp_path / "pack.json").write_text(json.dumps({"objects": {name: {"up": "y"}}, "longest_edge_m": 0.5}))
    (mesh,) = load_pack(tmp_path).meshes.values()
    np.testing.assert_allclose(mesh.vertices.min(axis=0), [-0.25, -0.25, 0.0], atol=1e-6)
    np.testing.assert_allclose(mesh.vertices.max(axis=0), [0.25, 0.25, 0.25], atol=1e-6)
    assert mesh.two_sided
    assert len(mesh.faces) == 6
    # Sides slope 45 degrees, so no two faces but those of the base share a normal: 4 + 4 * 3 vertices.
    assert len(mesh.vertices) == 16
    np.testing.assert_allclose(np.linalg.norm(mesh.normals, axis=1), 1.0, atol=1e-5)


def test_default_size_and_axes(tmp_path: Path) -> None:
    (tmp_path / "a.obj").write_text(OBJ)
    (tmp_path / "b.stl").write_bytes(stl())
    pack = load_pack(tmp_path)
    np.testing.assert_allclose(np.ptp(pack.meshes["a"].vertices, axis=0), [0.4, 0.4, 0.2], atol=1e-6)
    np.testing.assert_allclose(np.ptp(pack.meshes["b"].vertices, axis=0), [0.4, 0.2, 0.4], atol=1e-6)  # z up


def test_pack_json_renames_sizes_and_turns(tmp_path: Path) -> None:
    (tmp_path / "garden_chair-2.obj").write_text(OBJ)
    (tmp_path / "lamp.obj").write_text(OBJ)
    settings = {"garden chair 2": {"name": "deck chair", "longest_edge_m": 1, "up": "z"}, "ghost.obj": {}}
    (tmp_path / "pack.json").write_text(json.dumps({"objects": settings}))
    pack = load_pack(tmp_path)
    assert list(pack.meshes) == ["deck chair", "lamp"]
    np.testing.assert_allclose(np.ptp(pack.meshes["deck chair"].vertices, axis=0), [1.0, 0.5, 1.0], atol=1e-6)
    assert [entry.name for entry in pack.skipped] == ["ghost.obj"]


def test_materials_become_colours_or_the_texture(tmp_path: Path) -> None:
    (tmp_path / "plain.gltf").write_text(json.dumps(gltf()))
    (tmp_path / "inside.glb").write_bytes(glb(gltf(data_uri(png()))))
    (tmp_path / "beside.gltf").write_text(json.dumps(gltf("skin%20one.png")))
    (tmp_path / "skin one.png").write_bytes(png(color=(10, 20, 250)))
    (tmp_path / "green.ply").write_text(ply())
    with_uv = OBJ.replace("f 1 2 3", "f 1/1 2/1 3/1")
    for face in FACES[1:]:
        a, b, c = (i + 1 for i in face)
        with_uv = with_uv.replace(f"f {a} {b} {c}\n", f"f {a}/1 {b}/1 {c}/1\n")
    (tmp_path / "skinned.obj").write_text("mtllib m.mtl\nvt 0.5 0.5\nusemtl skin\n" + with_uv)
    (tmp_path / "m.mtl").write_text("newmtl skin\nKd 0.1 0.1 0.1\nmap_Kd skin one.png\n")
    pack = load_pack(tmp_path)
    assert pack.skipped == ()
    colors = {name: mean_color(mesh) for name, mesh in pack.meshes.items()}
    assert colors == {
        "plain": (255, 0, 0), "inside": (250, 10, 20), "beside": (10, 20, 250), "green": (10, 200, 30),
        "skinned": (10, 20, 250),
    }  # fmt: skip
    textured = {name for name, mesh in pack.meshes.items() if mesh.texture is not None}
    assert textured == {"inside", "beside", "skinned"}


def test_v_counts_from_the_top_of_the_image(tmp_path: Path) -> None:
    # glTF's v = 0 is the top row. The image is red above and blue below, and all uv say v = 0.25.
    image = Image.fromarray(np.repeat(np.array([[[255, 0, 0]], [[0, 0, 255]]], np.uint8), 2, axis=1))
    stream = io.BytesIO()
    image.save(stream, "PNG")
    tree = gltf(data_uri(stream.getvalue()))
    blob = base64.b64decode(tree["buffers"][0]["uri"].split(",")[1])
    blob = blob[:96] + np.tile(np.array([0.5, 0.25], "<f4"), (5, 1)).tobytes()
    tree["buffers"][0]["uri"] = data_uri(blob)
    (tmp_path / "a.gltf").write_text(json.dumps(tree))
    mesh = load_pack(tmp_path).meshes["a"]
    assert mesh.uv is not None
    assert mesh.texture is not None
    np.testing.assert_allclose(mesh.uv[:, 1], 0.25, atol=1e-6)
    assert tuple(mesh.texture[32, 64]) == (255, 0, 0)


def test_two_materials_share_an_atlas(tmp_path: Path) -> None:
    tree = gltf(data_uri(png()))
    tree["materials"].append({"pbrMetallicRoughness": {"baseColorFactor": [0.0, 0.0, 1.0, 1.0]}})
    tree["meshes"].append({"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "material": 1}]})
    tree["nodes"] = [{"children": [1, 2]}, {"mesh": 0}, {"mesh": 1, "translation": [0, 3, 0]}]
    (tmp_path / "two.gltf").write_text(json.dumps(tree))
    mesh = load_pack(tmp_path).meshes["two"]
    assert mesh.uv is not None
    assert mesh.texture is not None
    column, row = (mesh.uv * 128).astype(int).T
    shown = {tuple(int(c) for c in color) for color in mesh.texture[row, column]}
    assert shown == {(250, 10, 20), (0, 0, 255)}
    high = mesh.vertices[:, 2] > mesh.longest_edge * 0.7
    assert {tuple(int(c) for c in color) for color in mesh.texture[row, column][high]} == {(0, 0, 255)}


def test_a_pack_can_be_drawn(folder: Path) -> None:
    renderer = Renderer(MeshBank(load_pack(folder).meshes))

    class Put:
        name, x, y, yaw = "good one", 2.35, 2.35, 0.0

    frames = renderer.render([renderer.scene([Put()])], [[2.35, 1.0, 0.7, 0, 0, np.pi / 2]])
    assert (frames.ids > 0).sum() > 50


def test_a_missing_texture_is_noted_and_the_object_taken(folder: Path) -> None:
    (folder / "good_one.obj").write_text("mtllib gone.mtl\n" + OBJ)
    pack = load_pack(folder)
    assert [(note.name, "gone.mtl is missing" in note.reason) for note in pack.notes] == [("good one", True)]


def test_many_faces_are_noted_and_too_many_refused(folder: Path) -> None:
    def strip(count: int) -> str:
        points = "".join(f"v {i} {i % 2} {i % 3}\n" for i in range(count + 2))
        return points + "".join(f"f {i} {i + 1} {i + 2}\n" for i in range(1, count + 1))

    (folder / "good_one.obj").write_text(strip(1500))
    assert "1,500 faces" in load_pack(folder).notes[0].reason
    assert "decimate" in reason(folder, "heavy.obj", strip(20_001))


def test_select_keeps_the_order_and_suggests(folder: Path) -> None:
    (folder / "another.obj").write_text(OBJ)
    pack = load_pack(folder)
    assert list(select(pack, ["good one", "another"]).meshes) == ["good one", "another"]
    assert list(select(pack, ["another"]).meshes) == ["another"]
    with pytest.raises(WaywordError, match="did you mean 'good one'"):
        select(pack, ["god one"])


def test_names_from_files() -> None:
    assert object_name("garden_chair--2") == "garden chair 2"
