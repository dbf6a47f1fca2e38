"""Speed of the simulator: frames and environment steps per second, and PyBullet's renderer beside ours.

The scene is the one the renderer was designed for: 10 objects of 1,000 faces each in the arena, 128 x 72
pixels, colour + instance ids + depth, a new pose every frame. Both renderers draw the same meshes in the same
run, ours from 256 poses and PyBullet's, which is slower, from the first 64 of them.
"""

from __future__ import annotations

import math
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wayword.camera import Camera, camera_axes
from wayword.episodes import PlacedObject
from wayword.intervals import Interval, bootstrap_mean
from wayword.sim.arena import ArenaConfig
from wayword.sim.gym import ArenaEnv, ArenaVectorEnv
from wayword.sim.models.mesh import Mesh, finish
from wayword.sim.models.primitives import ball
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.look import Look
from wayword.sim.render.renderer import RenderConfig, Renderer

OBJECTS, FACES = 10, 1000
FRAMES = 256
"""Poses per repetition."""


@dataclass(frozen=True)
class BenchScene:
    """What is drawn: named meshes, where they stand, and the poses to draw from."""

    meshes: dict[str, Mesh]
    objects: tuple[PlacedObject, ...]
    poses: NDArray[np.float64] = field(repr=False)


def bench_scene(seed: int = 0) -> BenchScene:
    """Ten balls of exactly 1,000 faces in as many colours, and poses all over the arena."""
    rng = np.random.default_rng(seed)
    meshes, objects = {}, []
    for i in range(OBJECTS):
        color = tuple(int(c) for c in rng.integers(30, 240, 3))
        solid = ball(0.5, sides=25, rings=21, color=(color[0], color[1], color[2])).move(z=0.5)
        meshes[f"ball {i}"] = finish([solid], 0.45)
        x, y = rng.uniform(0.6, 4.1, 2)
        objects.append(PlacedObject(f"ball {i}", float(x), float(y), 0.0))
    assert all(len(mesh.faces) == FACES for mesh in meshes.values())
    places, yaw = rng.uniform(0.5, 4.2, (FRAMES, 2)), rng.uniform(-math.pi, math.pi, FRAMES)
    level = np.zeros(FRAMES)
    poses = np.column_stack([places, np.full(FRAMES, 0.7), level, level, yaw])
    return BenchScene(meshes, tuple(objects), poses)


def work_rate(work: Callable[[], int], repeats: int) -> Interval:
    """Units of work per second of wall time over ``repeats`` runs, after one that does not count."""
    work()
    rates = []
    for _ in range(repeats):
        start = time.perf_counter()
        done = work()
        rates.append(done / (time.perf_counter() - start))
    return bootstrap_mean(rates, np.random.default_rng(0))


def render_rate(scene: BenchScene, supersample: bool, threads: int, repeats: int) -> Interval:
    """Frames per second of our renderer."""
    renderer = Renderer(MeshBank(scene.meshes), config=RenderConfig(supersample=supersample, threads=threads))
    scenes = [renderer.scene(scene.objects, Look())] * len(scene.poses)
    return work_rate(lambda: len(renderer.render(scenes, scene.poses).rgb), repeats)


def pybullet_rate(scene: BenchScene, repeats: int) -> Interval | None:
    """Frames per second of PyBullet's TinyRenderer on the same scene; None if it is not installed."""
    try:
        import pybullet
    except ImportError:
        return None
    camera = Camera()
    client = pybullet.connect(pybullet.DIRECT)
    with tempfile.TemporaryDirectory() as folder:
        for i, item in enumerate(scene.objects):
            file = Path(folder) / f"{i}.obj"
            file.write_text(_obj(scene.meshes[item.name]))
            shape = pybullet.createVisualShape(pybullet.GEOM_MESH, fileName=str(file))
            pybullet.createMultiBody(baseVisualShapeIndex=shape, basePosition=[item.x, item.y, 0.0])
        ground = pybullet.createVisualShape(pybullet.GEOM_BOX, halfExtents=[5.35, 5.35, 0.01])
        pybullet.createMultiBody(baseVisualShapeIndex=ground, basePosition=[2.35, 2.35, -0.01])
        vertical = 2 * math.atan(camera.height / 2 / camera.focal_px)
        lens = pybullet.computeProjectionMatrixFOV(math.degrees(vertical), camera.width / camera.height, 0.05, 20.0)

        def work(poses: NDArray[np.float64] = scene.poses[: FRAMES // 4]) -> int:
            for pose in poses:
                axes = camera_axes(pose, camera.mount_pitch_deg)
                view = pybullet.computeViewMatrix(pose[:3].tolist(), (pose[:3] + axes[2]).tolist(), (-axes[1]).tolist())
                pybullet.getCameraImage(
                    camera.width, camera.height, view, lens, shadow=0, renderer=pybullet.ER_TINY_RENDERER
                )
            return len(poses)

        result = work_rate(work, repeats)
    pybullet.disconnect(client)
    return result


def vector_rate(count: int, threads: int, repeats: int, decisions: int = 40) -> Interval:
    """Environment steps per second of the vector environment, images included."""
    config = ArenaConfig(render=RenderConfig(threads=threads))
    env = ArenaVectorEnv(count, config=config)
    env.reset(seed=0)
    actions = _commands(count)

    def work() -> int:
        for step in range(decisions):
            env.step(actions[step % len(actions)])
        return decisions * count

    return work_rate(work, repeats)


def single_rate(repeats: int, decisions: int = 200) -> Interval:
    """Environment steps per second of the single environment, images included."""
    env = ArenaEnv(config=ArenaConfig(render=RenderConfig(threads=1)))
    env.reset(seed=0)
    actions = _commands(1)

    def work() -> int:
        for step in range(decisions):
            _, _, terminated, truncated, _ = env.step(actions[step % len(actions)][0])
            if terminated or truncated:
                env.reset()
        return decisions

    return work_rate(work, repeats)


def peak_memory_mb() -> float:
    """Largest resident memory of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def _commands(count: int) -> Sequence[NDArray[np.float32]]:
    rng = np.random.default_rng(0)
    low, high = [0.0, -1.0, 0.0], [0.7, 1.0, 0.4]
    return [rng.uniform(low, high, (count, 3)).astype(np.float32) for _ in range(16)]


def _obj(mesh: Mesh) -> str:
    """A mesh as Wavefront OBJ with its normals."""
    lines = [f"v {x:.6f} {y:.6f} {z:.6f}" for x, y, z in mesh.vertices]
    lines += [f"vn {x:.5f} {y:.5f} {z:.5f}" for x, y, z in mesh.normals]
    lines += ["f " + " ".join(f"{i}//{i}" for i in face) for face in mesh.faces + 1]
    return "\n".join(lines) + "\n"
