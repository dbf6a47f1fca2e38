"""Augmented-reality training data: what is in a shard, which objects may be in it, and what survives a kill."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from support.pack_files import CUBE, write_pack
from wayword.camera import Camera, camera_axes
from wayword.cli.ar import FrameSource
from wayword.errors import DataError, WaywordError
from wayword.learning.ar import fitness
from wayword.learning.ar.backgrounds import FolderFrames, SimulatedFlights
from wayword.learning.ar.compose import Compositor, augment
from wayword.learning.ar.config import ARConfig, ARLayoutConfig, AugmentConfig, PoolConfig, ViewConfig
from wayword.learning.ar.generate import MIN_PIXELS, Generator, ShardArrays, cut, projected_box
from wayword.learning.ar.layout import random_ar_layout
from wayword.learning.ar.nouns import LOOKALIKES, held_out, kind, lookalike
from wayword.learning.ar.objects import ObjectPool
from wayword.learning.ar.preview import fresh_sheet, stored_sheet
from wayword.learning.ar.shards import ar_shard_path, generate_shards, read_objects, read_shard, shards
from wayword.sim.models.catalogue import catalogue, catalogue_mesh
from wayword.sim.models.mesh import finish
from wayword.sim.models.primitives import box, torus
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.look import Light, random_light, random_look

SMALL = ARConfig(
    shard_frames=12,
    objects=PoolConfig(random_objects=24),
    views=ViewConfig(frames_per_layout=4, flights=2),
)


@pytest.fixture(scope="module")
def pool() -> ObjectPool:
    return ObjectPool.build((), SMALL.objects, "train")


@pytest.fixture(scope="module")
def generator(pool: ObjectPool) -> Generator:
    return Generator(pool, SimulatedFlights(), SMALL, seed=3)


@pytest.fixture(scope="module")
def shard(generator: Generator) -> ShardArrays:
    return generator.shard(0)


def equal(a: ShardArrays, b: ShardArrays) -> bool:
    return all(np.array_equal(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a))


# What is in a shard


def test_a_shard_depends_on_seed_and_number_alone(generator: Generator, shard: ShardArrays) -> None:
    again = Generator(ObjectPool.build((), SMALL.objects, "train"), SimulatedFlights(), SMALL, seed=3)
    other = again.shard(1)
    assert equal(again.shard(0), shard)  # after another shard, from a pool built anew
    assert not np.array_equal(other.rgb, shard.rgb)
    assert not np.array_equal(Generator(generator.pool, SimulatedFlights(), SMALL, seed=4).shard(0).rgb, shard.rgb)


def test_boxes_and_pixels_are_those_of_the_ids(shard: ShardArrays) -> None:
    assert len(shard.boxes) > 12
    for row in range(len(shard.boxes)):
        mask = shard.ids[shard.frame[row]] == shard.instance[row]
        ys, xs = np.nonzero(mask)
        assert shard.boxes[row].tolist() == [xs.min(), ys.min(), xs.max() + 1, ys.max() + 1]
        assert shard.pixels[row] == mask.sum() >= MIN_PIXELS
        # The projected box holds all that is seen; half a pixel either way for rounding to whole pixels.
        x0, y0, x1, y1 = shard.amodal[row]
        assert x0 - 1 <= xs.min()
        assert y0 - 1 <= ys.min()
        assert x1 + 1 >= xs.max() + 1
        assert y1 + 1 >= ys.max() + 1
        assert 0 <= x0 <= x1 <= 128
        assert 0 <= y0 <= y1 <= 72
    # Every object with enough pixels has its row, and only one.
    for frame in range(len(shard.ids)):
        counts = np.bincount(shard.ids[frame].reshape(-1), minlength=256)[1:]
        assert sorted(shard.instance[shard.frame == frame]) == (np.flatnonzero(counts >= MIN_PIXELS) + 1).tolist()


def test_an_instance_keeps_its_identity_through_the_frames_of_a_layout(shard: ShardArrays, pool: ObjectPool) -> None:
    numbers = {entry.number for entry in pool.entries}
    assert set(shard.identity.tolist()) <= numbers
    for first in range(0, 12, 4):
        seen: dict[int, int] = {}
        for row in np.flatnonzero((shard.frame >= first) & (shard.frame < first + 4)):
            assert seen.setdefault(int(shard.instance[row]), int(shard.identity[row])) == shard.identity[row]


def test_projected_box_of_a_cube_by_hand() -> None:
    # Camera at (0, 0, 0.5) looking along +x, level; focal 10, centre (20, 10). A unit cube centred at x = 2.5:
    # its near face is at depth 2, so it spans +-0.5 / 2 * 10 = +-2.5 px about the centre, both ways.
    camera = Camera(40, 20, hfov_deg=2 * float(np.degrees(np.arctan(2.0))), mount_pitch_deg=0.0)
    pose = np.array([0, 0, 0.5, 0, 0, 0.0])
    stand = np.column_stack([np.eye(3), [2.5, 0, 0]]).astype(np.float32)
    found = projected_box(CUBE.astype(np.float32), stand, pose[:3], camera_axes(pose, 0.0), camera)
    assert found == pytest.approx((17.5, 7.5, 22.5, 12.5), abs=1e-4)
    assert cut((-3.0, 5.0, 50.0, 19.0), camera) == (0.0, 5.0, 40.0, 19.0)


def test_some_frames_stay_clean_and_augmentation_only_changes_colours(rng: np.random.Generator) -> None:
    frame = rng.integers(0, 256, (72, 128, 3)).astype(np.uint8)
    before = frame.copy()
    assert np.array_equal(augment(frame, np.random.default_rng(1), AugmentConfig(clean_share=1.0)), frame)
    varied = [augment(frame, np.random.default_rng(i), AugmentConfig(clean_share=0.0)) for i in range(4)]
    assert all(not np.array_equal(v, frame) and v.shape == frame.shape and v.dtype == np.uint8 for v in varied)
    assert np.array_equal(frame, before)


# Layouts


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), tilt=st.floats(0, 0.3), gap=st.floats(0, 0.4))
def test_layouts_keep_their_distance_and_stand_on_the_ground(
    pool: ObjectPool, seed: int, tilt: float, gap: float
) -> None:
    config = ARLayoutConfig(tilt_rad=tilt, gap_m=gap)
    layout = random_ar_layout(pool, np.random.default_rng(seed), config)
    assert 1 <= len(layout.places) <= config.max_objects
    radii = [pool.entries[place].edge_m / 2 for place in layout.places]
    for i, here in enumerate(layout.centres):
        assert (here >= config.edge_clearance_m - 1e-5).all()
        assert (here <= 4.7 - config.edge_clearance_m + 1e-5).all()
        for j, there in enumerate(layout.centres[:i]):
            assert np.hypot(*(here - there)) >= radii[i] + radii[j] + gap - 1e-4
        world = pool.mesh(layout.places[i]).vertices @ layout.transforms[i, :, :3].T + layout.transforms[i, :, 3]
        assert world[:, 2].min() == pytest.approx(0.0, abs=1e-4)


def test_objects_repeat_in_some_layouts(pool: ObjectPool) -> None:
    never = ARLayoutConfig(repeat_layouts=0.0, max_objects=8)
    always = ARLayoutConfig(repeat_layouts=1.0, repeat_share=1.0)
    layout = random_ar_layout(pool, np.random.default_rng(0), always)
    assert len(set(layout.places)) == 1 < len(layout.places)
    draws = [random_ar_layout(pool, np.random.default_rng(i), never).places for i in range(40)]
    # With 24 objects an object follows itself by chance in one of 24 cases, not in three of ten.
    follows = np.mean([a == b for places in draws for a, b in itertools.pairwise(places)])
    assert follows < 0.12


# Which objects


def test_no_catalogue_object_and_no_lookalike_is_in_a_pool(tmp_path: Path) -> None:
    things = [
        ("Toy Fire Truck", "truck", (1, 0.5, 0.5)),
        ("small planter", "planter", (1, 1, 1)),
        ("Blueberry", "fruit", (1, 1, 1)),
        ("Flowerpot B", "", (1, 1, 1)),
        ("reading lamp", "lamp", (0.5, 0.5, 1)),
        ("wooden horse", "horse", (1, 0.4, 0.8)),
    ]
    pack = write_pack(tmp_path / "mine.npz", [(name, noun, size, (180, 90, 40)) for name, noun, size in things])
    config = PoolConfig(random_objects=3, heldout_share=0.0)
    pool = ObjectPool.build([pack], config, "train")
    assert {entry.name for entry in pool.entries if entry.source == "mine"} == {"reading lamp", "wooden horse"}
    for name, item in catalogue().items():
        if item.split != "seen":
            assert lookalike(name, ""), name
    assert set(LOOKALIKES) == {
        "brick" if name.endswith("brick") else name for name, item in catalogue().items() if item.split != "seen"
    }
    shapes = {catalogue_mesh(name).vertices.tobytes() for name in catalogue()}
    assert not any(pool.mesh(place).vertices.tobytes() in shapes for place in range(len(pool.entries)))


def test_an_oversized_mesh_is_skipped_with_a_line_and_the_pack_is_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first box gets 20,004 faces, all of them its own twelve over and over: more than can be drawn in time."""
    lamp = ("reading lamp", "lamp", (0.5, 0.5, 1.0), (180, 90, 40))
    horse = ("wooden horse", "horse", (1.0, 0.4, 0.8), (150, 90, 40))
    pack = write_pack(tmp_path / "mine.npz", [lamp, horse])
    with np.load(pack) as stored:
        arrays = dict(stored)
    arrays["f"] = np.concatenate([np.tile(arrays["f"][:12], (1667, 1)), arrays["f"][12:]])
    np.savez(pack, **arrays)
    index = json.loads(pack.with_suffix(".json").read_text())
    index[0]["faces"] = 12 * 1667
    pack.with_suffix(".json").write_text(json.dumps(index))
    objects = PoolConfig(random_objects=3, heldout_share=0.0)
    generator = FrameSource(packs=(pack,), config=replace(SMALL, objects=objects)).generator()
    assert {entry.name for entry in generator.pool.entries if entry.source == "mine"} == {"wooden horse"}
    line = f"{pack}: skipped reading lamp: has 20,004 faces; at most 20,000 are taken"
    assert [text for text in capsys.readouterr().err.splitlines() if "skipped" in text] == [line]


def test_held_out_nouns_are_disjoint_and_numbers_agree(tmp_path: Path) -> None:
    words = [f"{a}{b}{c}" for a in "bdfg" for b in "aeiou" for c in "lmnr"]
    colors = np.random.default_rng(0).integers(60, 250, (len(words), 3)).tolist()
    things = [(f"the {word}", word, (1.0, 1.0, 1.0), tuple(color)) for word, color in zip(words, colors, strict=True)]
    pack = write_pack(tmp_path / "p.npz", things)
    config = PoolConfig(random_objects=40, heldout_share=0.3)
    train, held = (ObjectPool.build([pack], config, name) for name in ("train", "heldout"))
    nouns = [{entry.noun for entry in side.entries if entry.source == "p"} for side in (train, held)]
    assert nouns[0]
    assert nouns[1]
    assert not nouns[0] & nouns[1]
    numbers = [{entry.number for entry in side.entries} for side in (train, held)]
    assert not numbers[0] & numbers[1]
    seeds = [{entry.index for entry in side.entries if entry.source == "random"} for side in (train, held)]
    assert seeds[0]
    assert seeds[1]
    assert not seeds[0] & seeds[1]
    # Every mesh of a pack comes plain and painted, the painted one right after.
    for plain in (entry for entry in train.entries if entry.source == "p" and entry.paint is None):
        twin = next(entry for entry in train.entries if entry.number == plain.number + 1)
        assert (twin.index, twin.noun) == (plain.index, plain.noun)
        assert twin.paint is not None


def test_words_that_mean_one_kind_go_together() -> None:
    assert kind("Mens Deck Boat Shoe", "shoe") == kind("Reebok CL RAYEN", "") == kind("ankle boot", "boot") == "shoe"
    assert kind("Birch Tree Snow", "birch tree") == kind("Willow", "willow") == "tree"
    assert kind("60 CONSTRUCTION SET", "") == "set"
    assert kind("", "") == "thing"
    assert held_out("anything", 1.0)
    assert not held_out("anything", 0.0)


def test_shares_are_kept(tmp_path: Path) -> None:
    colors = [(200, 40, 40), (40, 200, 40), (40, 40, 200)]
    pack = write_pack(tmp_path / "p.npz", [(f"thing {c}", f"kind{c}", (1, 1, 1), c) for c in colors])
    config = PoolConfig(random_objects=10, random_share=0.4, flat_share=0.25, heldout_share=0.0)
    pool = ObjectPool.build([pack], config, "train")
    drawn = [pool.entries[pool.draw(np.random.default_rng(i))] for i in range(4000)]
    # Standard errors: sqrt(.4 * .6 / 4000) = 0.008, and sqrt(.25 * .75 / 2400) = 0.009.
    assert np.mean([entry.source == "random" for entry in drawn]) == pytest.approx(0.4, abs=0.03)
    packed = [entry for entry in drawn if entry.source == "p"]
    assert np.mean([entry.paint is not None for entry in packed]) == pytest.approx(0.25, abs=0.04)


def test_unfit_meshes_are_left_out(tmp_path: Path) -> None:
    pack = write_pack(
        tmp_path / "p.npz",
        [
            ("plank", "plank", (1, 0.1, 0.5), (180, 90, 40)),
            ("coal", "coal", (1, 1, 1), (0, 0, 0)),
            ("dim", "dim", (1, 1, 1), (30, 20, 10)),
            ("cake", "cake", (1, 1, 1), (220, 180, 90)),
            ("cake again", "cake", (1, 1, 1), (221, 180, 90)),
        ],
    )
    pool = ObjectPool.build([pack], PoolConfig(random_objects=0, heldout_share=0.0), "train")
    kept = {entry.name: place for place, entry in enumerate(pool.entries) if entry.paint is None}
    assert set(kept) == {"dim", "cake"}  # flat, black and twice are out; the dim one is in, lightened
    texture = pool.mesh(kept["dim"]).texture
    assert texture is not None
    assert texture.mean() > 60
    ring = MeshBank({"ring": finish([torus(1.0, 0.3, 18, 6)], 1.0), "box": finish([box(1.0, 1.0, 1.0)], 1.0)})
    cover, hole = fitness.outlines(ring)
    assert hole[0] > 0.1
    assert hole[1] == 0.0
    assert cover[1] > 0.9


def test_an_empty_pool_is_one_line() -> None:
    with pytest.raises(WaywordError, match="pool is empty"):
        ObjectPool.build((), PoolConfig(random_objects=0), "train")


# Composition


@pytest.mark.parametrize("smooth", [False, True])
def test_composing_over_an_empty_frame_is_rendering_into_it(pool: ObjectPool, smooth: bool) -> None:
    camera = Camera()
    compositor = Compositor(pool.bank, camera)
    rng = np.random.default_rng(5)
    layout = random_ar_layout(pool, rng, ARLayoutConfig())
    names = [str(pool.entries[place].number) for place in layout.places]
    poses = np.array([[2.35, 0.4, 0.7, 0.01, 0.03, np.pi / 2], [0.6, 0.6, 0.7, 0.0, -0.02, 0.8]])
    look = random_look(rng)
    looks = [replace(look, light=random_light(rng)) for _ in poses]
    photos = compositor.in_scene((), np.zeros((0, 3, 4)), looks, poses, 4.7, smooth).rgb
    direct = compositor.in_scene(names, layout.transforms, looks, poses, 4.7, smooth)
    rgb, ids = compositor.over_photos(
        photos, names, layout.transforms, [item.light for item in looks], poses, 4.7, smooth
    )
    assert direct.ids.any()
    assert (rgb != photos).any(axis=-1).sum() > 300
    off = np.abs(rgb.astype(int) - direct.rgb.astype(int))
    if smooth:  # the two ways share out the samples of an edge's pixels differently
        assert off.mean() < 1.0
        assert np.percentile(off, 95) <= 4
        assert (ids != direct.ids).mean() < 0.01
    else:  # the factor is a ratio of sums of rounded bytes: 1.5 / 300 of 255 is 1.3 levels, and rounding
        assert off.max() <= 3
        assert np.array_equal(ids, direct.ids)


def test_shadows_only_darken_the_photograph(pool: ObjectPool) -> None:
    compositor = Compositor(pool.bank, Camera())
    layout = random_ar_layout(pool, np.random.default_rng(2), ARLayoutConfig())
    names = [str(pool.entries[place].number) for place in layout.places]
    photo = np.full((1, 72, 128, 3), 200, np.uint8)
    pose = np.array([[2.35, 0.4, 0.7, 0, 0, np.pi / 2]])
    for shadows in (0.0, 1.0):
        light = Light(elevation_deg=35.0, shadows=shadows)
        rgb, ids = compositor.over_photos(photo, names, layout.transforms, [light], pose, 4.7)
        ground = rgb[ids == 0]
        assert ground.max() == 200
        assert (ground.min() < 170) == (shadows > 0)


# A user's own frames


def write_frames(folder: Path, **changes: Any) -> Path:
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(0)
    poses = {"a.png": [2.3, 0.5, 0.7, 0, 0, 1.57], "b.jpg": [1.0, 0.5, 0.7, 0.0, 0.02, 1.2]}
    for name in poses:
        Image.fromarray(rng.integers(90, 160, (180, 320, 3)).astype(np.uint8)).save(folder / name)
    stored = {
        "intrinsics": {"width": 320, "height": 180, "hfov_deg": 84.0, "mount_pitch_deg": 15.0},
        "frames": poses,
        **changes,
    }
    (folder / "poses.json").write_text(json.dumps(stored), encoding="utf-8")
    return folder


def test_own_frames_make_the_same_kind_of_shard(tmp_path: Path, pool: ObjectPool) -> None:
    frames = FolderFrames(write_frames(tmp_path / "room", arena_m=3.0))
    assert frames.photos.shape == (2, 72, 128, 3)
    assert frames.camera == Camera()
    made = Generator(pool, frames, SMALL, seed=0).shard(0)
    assert equal(made, Generator(pool, frames, SMALL, seed=0).shard(0))
    assert len(made.boxes)
    assert {tuple(pose) for pose in made.pose} <= {tuple(pose) for pose in frames.poses}
    assert not np.array_equal(made.rgb[0], frames.photos[0])


def test_frames_of_another_shape_are_cut_about_the_middle(tmp_path: Path) -> None:
    intrinsics = {"width": 320, "height": 180, "hfov_deg": 84.0, "mount_pitch_deg": 10.0}
    square = FolderFrames(write_frames(tmp_path / "f", intrinsics=intrinsics), width=64, height=64)
    # 180 of 320 columns remain: tan(half angle) shrinks by 180 / 320.
    half = np.arctan(180 / 320 * np.tan(np.radians(42)))
    assert square.camera.hfov_deg == pytest.approx(float(np.degrees(2 * half)))
    assert square.camera.focal_px * 180 / 64 == pytest.approx(160 / np.tan(np.radians(42)))


BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "missing pose": ({"frames": {"a.png": [2, 1, 0.7, 0, 0, 0]}}, "'b.jpg' has no pose"),
    "missing picture": (
        {"frames": {n: [2, 1, 0.7, 0, 0, 0] for n in ("a.png", "b.jpg", "c.png")}}, "'c.png' has a pose, but"
    ),
    "nan": ({"frames": {"a.png": [2, float("nan"), 0.7, 0, 0, 0], "b.jpg": [0] * 6}}, "NaN found where a finite"),
    "five numbers": ({"frames": {"a.png": [2, 1, 0.7, 0, 0], "b.jpg": [0] * 6}}, "must be six numbers"),
    "underground": ({"frames": {"a.png": [2, 1, -0.7, 0, 0, 0], "b.jpg": [0] * 6}}, "above the ground"),
    "path trick": ({"frames": {"../a.png": [2, 1, 0.7, 0, 0, 0]}}, "is not the name of a picture"),
    "no frames": ({"frames": {}}, "at least one"),
    "wrong size": (
        {"intrinsics": {"width": 640, "height": 360, "hfov_deg": 84, "mount_pitch_deg": 15}}, "is 320 x 180 pixels"
    ),
    "no intrinsics": ({"intrinsics": {"width": 320}}, "intrinsics must give"),
    "silly camera": (
        {"intrinsics": {"width": 320, "height": 180, "hfov_deg": 500, "mount_pitch_deg": 15}}, "field of view"
    ),
    "unknown key": ({"pictures": 1}, "unknown key 'pictures'"),
    "silly arena": ({"arena_m": 0}, "arena_m must be between"),
}  # fmt: skip


@pytest.mark.parametrize("what", BROKEN)
def test_bad_folders_of_frames_are_one_clear_line(tmp_path: Path, what: str) -> None:
    changes, message = BROKEN[what]
    with pytest.raises(DataError, match=message) as error:
        FolderFrames(write_frames(tmp_path / "f", **changes))
    assert "\n" not in str(error.value)


def test_unreadable_frames_are_one_clear_line(tmp_path: Path) -> None:
    folder = write_frames(tmp_path / "f")
    (folder / "b.jpg").write_bytes((folder / "b.jpg").read_bytes()[:400])
    with pytest.raises(DataError, match="cannot be read as a PNG or JPEG"):
        FolderFrames(folder)
    (folder / "poses.json").write_text("{", encoding="utf-8")
    with pytest.raises(DataError, match="is not valid JSON"):
        FolderFrames(folder)
    (folder / "poses.json").unlink()
    with pytest.raises(DataError, match="needs it"):
        FolderFrames(folder)
    with pytest.raises(WaywordError, match="no such folder"):
        FolderFrames(tmp_path / "nowhere")


# Folders of shards


def test_a_run_is_taken_up_where_it_was_left(tmp_path: Path, generator: Generator, shard: ShardArrays) -> None:
    assert list(generate_shards(generator, tmp_path, 30)) == [0, 12, 12, 12]  # three shards of 12 hold 30 frames
    files = shards(tmp_path)
    assert equal(read_shard(files[0]), shard)
    times = [path.stat().st_mtime_ns for path in files]
    files[1].write_bytes(files[1].read_bytes()[:1000])  # as after a power cut on a disk that lost the rest
    assert list(generate_shards(generator, tmp_path, 36)) == [24, 12]
    assert [path.stat().st_mtime_ns == before for path, before in zip(files, times, strict=True)] == [True, False, True]
    assert list(generate_shards(generator, tmp_path, 37)) == [36, 12]  # more frames of the same run
    manifest = json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["shards_done"], manifest["shards_wanted"], manifest["seed"]) == (4, 4, 3)
    table = read_objects(tmp_path)
    assert set(read_shard(files[2]).identity.tolist()) <= set(table)
    assert table[0]["source"] == "random"


def test_another_run_does_not_mix_in(tmp_path: Path, pool: ObjectPool, generator: Generator) -> None:
    list(generate_shards(generator, tmp_path, 12))
    with pytest.raises(DataError, match="another seed"):
        list(generate_shards(Generator(pool, SimulatedFlights(), SMALL, seed=9), tmp_path, 12))
    other = replace(SMALL, augment=AugmentConfig(noise=0.0))
    with pytest.raises(DataError, match="another config"):
        list(generate_shards(Generator(pool, SimulatedFlights(), other, seed=3), tmp_path, 12))
    (tmp_path / "manifest.json").unlink()
    with pytest.raises(DataError, match="is missing beside shards"):
        list(generate_shards(generator, tmp_path, 12))
    ar_shard_path(tmp_path, 5).write_bytes(b"nonsense")
    with pytest.raises(DataError, match="damaged"):
        read_shard(ar_shard_path(tmp_path, 5))
    with pytest.raises(WaywordError, match="holds no shards"):
        shards(tmp_path / "empty")


def test_several_processes_make_the_same_frames(tmp_path: Path, generator: Generator) -> None:
    list(generate_shards(generator, tmp_path / "one", 24))
    list(generate_shards(generator, tmp_path / "two", 24, workers=2))
    for a, b in zip(shards(tmp_path / "one"), shards(tmp_path / "two"), strict=True):
        assert equal(read_shard(a), read_shard(b))


RUN = """
import signal
import sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a runner in the background has it ignored
from pathlib import Path
sys.path[:0] = {tests!r}
from test_ar import SMALL
from wayword.learning.ar.backgrounds import SimulatedFlights
from wayword.learning.ar.generate import Generator
from wayword.learning.ar.objects import ObjectPool
from wayword.learning.ar.shards import generate_shards
generator = Generator(ObjectPool.build((), SMALL.objects, "train"), SimulatedFlights(), SMALL, seed=3)
for _ in generate_shards(generator, Path({out!r}), 120000, workers={processes}):
    pass
"""


@pytest.mark.parametrize(("how", "processes"), [(signal.SIGKILL, 1), (signal.SIGINT, 2)])
def test_a_killed_run_leaves_complete_shards(tmp_path: Path, shard: ShardArrays, how: int, processes: int) -> None:
    out = tmp_path / "run"
    code = RUN.format(tests=[str(Path(__file__).parents[i]) for i in (0, 2)], out=str(out), processes=processes)
    child = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        deadline = time.monotonic() + 120
        first = ar_shard_path(out, 0)  # of two workers the second may be the first to finish, and more than once
        while not (first.exists() and len(list(out.glob("shard-*"))) >= 3) and time.monotonic() < deadline:
            time.sleep(0.02)
        child.send_signal(how)
        child.wait(60)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)  # whatever the run left behind
    left = shards(out)
    assert len(left) >= 3
    for path in left:
        assert len(read_shard(path).rgb) == 12
    assert equal(read_shard(first), shard)


# Looking at it


def test_sheets_show_frames_twice(tmp_path: Path, generator: Generator) -> None:
    list(generate_shards(generator, tmp_path, 12))
    stored = stored_sheet(tmp_path, 5, seed=0)
    assert stored.size == fresh_sheet(generator, 5).size == (4 * (128 * 3 + 6) + 6, 2 * (2 * 72 * 3 + 6) + 6)
    colors = np.asarray(stored).reshape(-1, 3)
    assert (colors == 255).all(axis=1).mean() < 0.6  # not an empty page


@pytest.mark.parametrize(
    "bad",
    [
        {"layout": ARLayoutConfig(min_objects=9, max_objects=5)},
        {"objects": PoolConfig(random_share=1.5)},
        {"objects": PoolConfig(min_edge_m=0.5, max_edge_m=0.2)},
        {"augment": AugmentConfig(noise=float("nan"))},
        {"shard_frames": 0},
    ],
)
def test_impossible_settings_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(WaywordError):
        ARConfig(**bad).check()
