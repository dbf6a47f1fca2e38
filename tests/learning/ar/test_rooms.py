"""Invented rooms as backgrounds: floors and walls with random patterns, and frames in them."""

from __future__ import annotations

import numpy as np
import pytest

from wayword.camera import Camera
from wayword.errors import WaywordError
from wayword.learning.ar.backgrounds import SimulatedFlights
from wayword.learning.ar.config import ARConfig, ARLayoutConfig, PhotoConfig, PoolConfig, ViewConfig
from wayword.learning.ar.generate import Generator
from wayword.learning.ar.objects import ObjectPool
from wayword.learning.ar.patterns import FAMILIES, random_colours, random_floor, random_wall
from wayword.learning.ar.rooms import InventedRooms, empty_room
from wayword.task import ARENA_M

LOOKING_DOWN = np.array([[2.0, 2.0, 0.7, 0.0, 0.6, 0.0]])


def small_run(**shares: float) -> ARConfig:
    return ARConfig(
        shard_frames=12,
        objects=PoolConfig(random_objects=12),
        layout=ARLayoutConfig(min_objects=4, max_objects=6),
        views=ViewConfig(frames_per_layout=3, flights=2),
        photo=PhotoConfig(**shares),
    )


def test_floors_and_walls_are_drawn_from_the_generator_alone() -> None:
    for draw, shape in ((random_floor, (256, 256, 3)), (random_wall, (128, 1024, 3))):
        first, again, other = (draw(np.random.default_rng(seed)) for seed in (1, 1, 2))
        assert first.shape == shape
        assert first.dtype == np.uint8
        assert np.array_equal(first, again)
        assert not np.array_equal(first, other)


@pytest.mark.parametrize("family", sorted(set(FAMILIES), key=str))
def test_every_family_of_floors_repeats_without_a_seam(family) -> None:  # type: ignore[no-untyped-def]
    """Neighbours across the tile's rim differ no more than neighbours within it do somewhere."""
    rng = np.random.default_rng(7)
    for _ in range(4):
        tile = family(random_colours(4, rng), rng)
        assert np.isfinite(tile).all()
        for axis in (0, 1):
            step = np.abs(np.diff(tile, axis=axis)).sum(axis=2)
            within = step.sum(axis=1 - axis).max()
            rim = np.abs(tile.take(0, axis) - tile.take(-1, axis)).sum()
            assert rim <= 1.05 * within + 1e-6


def test_a_room_is_seen_from_where_the_camera_is() -> None:
    camera = Camera()
    poses = np.concatenate([LOOKING_DOWN, LOOKING_DOWN + 0.05])
    first, moved = empty_room(camera, poses, ARENA_M, np.random.default_rng(3))
    assert first.shape == (camera.height, camera.width, 3)
    assert not np.array_equal(first, moved)
    assert np.array_equal(first, empty_room(camera, poses, ARENA_M, np.random.default_rng(3))[0])


def test_half_of_the_cameras_in_rooms_are_the_drones() -> None:
    flights = InventedRooms(Camera(), ARENA_M).flights(np.random.default_rng(0), ViewConfig(flights=12))
    own = [flight for flight in flights if flight.camera == Camera()]
    assert 2 <= len(own) <= 10
    assert all(flight.flawless for flight in flights)
    assert all(abs(flight.poses[:, 2].mean() - 0.7) < 0.1 for flight in own)


def test_frames_of_rooms_are_mixed_in_by_their_share() -> None:
    config = small_run(room_share=0.5)
    pool = ObjectPool.build((), config.objects, "train")
    generator = Generator(pool, SimulatedFlights(), config, seed=4)
    shard = generator.shard(0)
    assert set(shard.photo) == {0, 1}  # the arena and rooms
    for n, instance, box in zip(shard.frame, shard.instance, shard.boxes, strict=True):
        rows, columns = np.nonzero(shard.ids[n] == instance)
        assert box.tolist() == [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
    assert np.array_equal(generator.shard(0).rgb, shard.rgb)
    everywhere = Generator(pool, SimulatedFlights(), small_run(room_share=1.0), seed=4).shard(0)
    assert everywhere.photo.all()


def test_small_things_are_as_many_as_large_ones_if_asked() -> None:
    sizes = PoolConfig(random_objects=60, min_edge_m=0.1, max_edge_m=1.0, log_sizes=True)
    edges = [entry.edge_m for entry in ObjectPool.build((), sizes, "train").entries]
    assert 0.1 <= min(edges) <= max(edges) <= 1.0
    assert 0.2 < np.median(edges) < 0.45  # sqrt(0.1 x 1.0) = 0.32; drawn evenly it would be 0.55


def test_shares_beyond_the_whole_are_refused() -> None:
    with pytest.raises(WaywordError, match="together must be at most 1"):
        small_run(room_share=0.6, simulated_share=0.5).check()
