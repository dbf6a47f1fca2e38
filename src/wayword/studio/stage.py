"""The 3D view of one visitor, in viser: ground with beliefs, objects that can be dragged, drone, frustum, trail."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import trimesh
from numpy.typing import NDArray

from wayword.episodes import PlacedObject
from wayword.sim.models.mesh import Mesh
from wayword.sim.pictures.topdown import FLOWN
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.camera import CameraConfig, camera_axes
from wayword.studio.layout import ARENA_M, StudioLayout

Moved = Callable[[int, float, float], None]
_TRAIL_POINTS = 200
_HALF_TURN = (0.0, 1.0, 0.0, 0.0)  # wxyz about x: viser's images face down


class Stage:
    """What stands in the scene of one client."""

    def __init__(self, client: Any, moved: Moved) -> None:
        self._client, self._moved = client, moved
        self._objects: list[Any] = []
        self._ground: Any = None
        self._height_m = 0.7
        self._movable = True
        client.camera.position = (ARENA_M / 2, -2.2, 3.9)
        client.camera.look_at = (ARENA_M / 2, 1.9, 0.0)
        self._drone = client.scene.add_frame("/drone", show_axes=False)
        client.scene.add_mesh_trimesh("/drone/body", drone_mesh())
        camera = CameraConfig()
        fov = 2 * math.atan(math.tan(math.radians(camera.hfov_deg) / 2) * camera.height / camera.width)
        turn = camera_axes(np.zeros(6), camera.mount_pitch_deg).T
        client.scene.add_camera_frustum(
            "/drone/camera", fov, camera.width / camera.height, scale=0.45, color=FLOWN, thickness=0.012,
            wxyz=quaternion(turn),
        )  # fmt: skip

    def set_layout(self, bank: MeshBank, layout: StudioLayout, ground: NDArray[np.uint8], side_m: float) -> None:
        """Put objects, drone and ground where a layout has them."""
        scene = self._client.scene
        for handle in self._objects:
            handle.remove()
        self._objects = []
        for number, item in enumerate(layout.objects):
            self._objects += self._place(number, item, bank.meshes[item.name])
        if self._ground is None:
            self._ground = scene.add_image(
                "/ground", ground, side_m, side_m, wxyz=_HALF_TURN, position=(ARENA_M / 2, ARENA_M / 2, -0.005),
                jpeg_quality=80, cast_shadow=False,
            )  # fmt: skip
        else:
            self.set_ground(ground)
        start = layout.start
        self.set_pose(np.array([start.x, start.y, self._height_m, 0.0, 0.0, start.yaw]))
        self.set_trail(np.zeros((0, 2)))

    def set_ground(self, ground: NDArray[np.uint8]) -> None:
        """Another picture of the ground."""
        self._ground.image = ground

    def set_pose(self, pose: NDArray[np.float64]) -> None:
        """Move the drone."""
        with self._client.atomic():
            self._drone.position = pose[:3]
            self._drone.wxyz = quaternion(camera_axes(pose, 0.0).T @ _CAMERA_TO_BODY)

    def set_trail(self, path: NDArray[np.float64]) -> None:
        """Draw the path (P, 2) flown so far, at flying height."""
        if len(path) > _TRAIL_POINTS:
            path = path[np.linspace(0, len(path) - 1, _TRAIL_POINTS).astype(int)]
        if len(path) < 2:
            path = np.full((2, 2), -50.0)  # out of sight: viser wants at least one segment
        points = np.column_stack([path, np.full(len(path), self._height_m)])
        segments = np.stack([points[:-1], points[1:]], axis=1).astype(np.float32)
        self._client.scene.add_line_segments("/trail", segments, FLOWN, thickness=0.035)

    def allow_moving(self, allowed: bool) -> None:
        """Whether objects can be dragged."""
        self._movable = allowed

    def _place(self, number: int, item: PlacedObject, mesh: Mesh) -> list[Any]:
        scene = self._client.scene
        turn = (math.cos(item.yaw / 2), 0.0, 0.0, math.sin(item.yaw / 2))
        name = f"/objects/{number}"  # never after what it is called: a name may hold anything
        handle = scene.add_mesh_trimesh(name, to_trimesh(mesh), wxyz=turn, position=(item.x, item.y, 0.0))
        top = (0.0, 0.0, float(mesh.vertices[:, 2].max()) + 0.1)
        label = scene.add_label(f"{name}/name", item.name, position=top, anchor="bottom-center", font_screen_scale=0.8)
        grabbed = {"x": 0.0, "y": 0.0, "z": 0.0}

        async def drag(event: Any) -> None:
            if not self._movable:
                return
            if event.phase == "start":
                x, y, z = event.start_position
                grabbed.update(x=x - handle.position[0], y=y - handle.position[1], z=z)
            place = on_plane(event.client.camera.position, np.array(event.end_position), grabbed["z"])
            if place is None:
                return
            x, y = (float(np.clip(place[k] - grabbed["xy"[k]], 0.0, ARENA_M)) for k in (0, 1))
            handle.position = (x, y, 0.0)
            if event.phase == "end":
                self._client_thread(lambda: self._moved(number, x, y))

        handle.on_drag(drag)
        return [label, handle]

    def _client_thread(self, job: Callable[[], None]) -> None:
        """Away from the event loop, which must not wait."""
        import asyncio

        asyncio.get_running_loop().run_in_executor(None, job)


def on_plane(eye: NDArray[np.float64], through: NDArray[np.float64], z: float) -> NDArray[np.float64] | None:
    """Where the ray from the eye through a point meets the level z; None if it does not, ahead and not too far."""
    way = through - eye
    if abs(way[2]) < 1e-6:
        return None
    t = (z - eye[2]) / way[2]
    place: NDArray[np.float64] = eye + t * way
    return place if t > 0 and np.abs(place).max() < 100 else None


# A camera without tilt looks along the body's x axis: right, down, forward of the one are -y, -z, x of the other.
_CAMERA_TO_BODY = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])


def quaternion(rotation: NDArray[np.float64]) -> NDArray[np.float64]:
    """A rotation matrix as w, x, y, z."""
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(rotation).as_quat()
    return np.array([w, x, y, z])


def to_trimesh(mesh: Mesh) -> Any:
    """A mesh of ours for viser."""
    made: Any = trimesh.Trimesh(mesh.vertices, mesh.faces, vertex_normals=mesh.normals, process=False)
    if mesh.texture is not None and mesh.uv is not None:
        from PIL import Image

        uv = np.column_stack([mesh.uv[:, 0], 1 - mesh.uv[:, 1]])
        image = Image.fromarray(mesh.texture)
        visual: Any = trimesh.visual
        material = visual.material.PBRMaterial(baseColorTexture=image, metallicFactor=0.0, roughnessFactor=0.9)
        made.visual = visual.TextureVisuals(uv=uv, material=material)
    else:
        made.visual.vertex_colors = np.column_stack([mesh.colors, np.full(len(mesh.colors), 255, np.uint8)])
    return made


@lru_cache(maxsize=1)
def drone_mesh() -> Any:
    """A small quadcopter with its nose along +x."""
    parts: list[Any] = []

    def add(part: Any, colour: tuple[int, int, int]) -> None:
        part.visual.vertex_colors = np.tile([*colour, 255], (len(part.vertices), 1))
        parts.append(part)

    add(trimesh.creation.box((0.16, 0.09, 0.045)), (40, 46, 58))
    nose = trimesh.creation.box((0.04, 0.05, 0.03))
    add(nose.apply_translation((0.09, 0, -0.005)), (250, 250, 250))
    for angle in np.radians([45, 135, 225, 315]):
        reach = 0.15 * np.array([math.cos(angle), math.sin(angle), 0])
        arm = trimesh.creation.cylinder(0.011, segment=[np.zeros(3), reach], sections=8)
        add(arm, (60, 66, 78))
        rotor = trimesh.creation.cylinder(0.075, height=0.01, sections=24)
        add(rotor.apply_translation(reach + np.array([0, 0, 0.025])), FLOWN)
    return trimesh.util.concatenate(parts)
