"""The 3D view of one visitor, in viser: ground with beliefs, objects and drone that can be dragged, frustum, trail."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayword.camera import Camera, camera_axes
from wayword.episodes import PlacedObject, Pose2
from wayword.pictures.colours import FLIGHT, Rgb
from wayword.sim.models.mesh import Mesh
from wayword.sim.render.bank import MeshBank
from wayword.studio.dragging import DropHandler, draggable
from wayword.studio.layout import StudioLayout
from wayword.studio.stage_meshes import arrow_mesh, drone_mesh, to_trimesh
from wayword.task import ARENA_M

BESIDE: Rgb = (86, 204, 242)
"""The colour of the policy that flies beside the first one."""
Moved = Callable[[int, float, float], None]
_TRAIL_POINTS = 200
_HEIGHT_M = 0.7
_HALF_TURN = (0.0, 1.0, 0.0, 0.0)  # wxyz about x: viser's images face down
_PHONE_AWAY, _PHONE_ASPECT, _TABLET_AWAY = 1.12, 0.46, 0.8
"""How much farther the eye is from the middle of the arena on a phone's page, and how near it comes on wider ones."""


class Drone:
    """A drone of the scene with what belongs to it."""

    def __init__(self, scene: Any, name: str, colour: Rgb, camera: Camera) -> None:
        self._scene, self._name, self._colour = scene, name, colour
        self._frame = scene.add_frame(name, show_axes=False)
        self.body = scene.add_mesh_trimesh(f"{name}/body", drone_mesh(colour))
        # From the drone straight down: which spot of the ground trail and beliefs are about.
        self._below = scene.add_frame(f"{name}-below", show_axes=False)
        line = np.array([[[0.0, 0.0, 0.0], [0.0, 0.0, _HEIGHT_M]]], np.float32)
        scene.add_line_segments(f"{name}-below/line", line, colour, thickness=0.012)
        scene.add_icosphere(f"{name}-below/spot", 0.03, colour, subdivisions=1)
        fov = 2 * math.atan(math.tan(math.radians(camera.hfov_deg) / 2) * camera.height / camera.width)
        turn = camera_axes(np.zeros(6), camera.mount_pitch_deg).T
        scene.add_camera_frustum(
            f"{name}/camera", fov, camera.width / camera.height, scale=0.45, color=colour, thickness=0.012,
            wxyz=quaternion(turn),
        )  # fmt: skip
        self._trail: Any = None

    @property
    def place(self) -> tuple[float, float]:
        """Where it is shown."""
        x, y, _ = self._frame.position
        return float(x), float(y)

    def set_place(self, x: float, y: float) -> None:
        """Move it, heading and height as they are."""
        self._frame.position, self._below.position = (x, y, _HEIGHT_M), (x, y, 0.0)

    def set_pose(self, pose: NDArray[np.float64]) -> None:
        """Move and turn it."""
        self._frame.position, self._below.position = pose[:3], (pose[0], pose[1], 0.0)
        self._frame.wxyz = quaternion(camera_axes(pose, 0.0).T @ _CAMERA_TO_BODY)

    def set_trail(self, path: NDArray[np.float64]) -> None:
        """Draw the path (P, 2) flown so far, at flying height."""
        if self._trail is not None and len(path) < 2:
            self._trail.visible = False
        if len(path) < 2:
            return
        if len(path) > _TRAIL_POINTS:
            path = path[np.linspace(0, len(path) - 1, _TRAIL_POINTS).astype(int)]
        points = np.column_stack([path, np.full(len(path), _HEIGHT_M)])
        segments = np.stack([points[:-1], points[1:]], axis=1).astype(np.float32)
        self._trail = self._scene.add_line_segments(f"{self._name}-trail", segments, self._colour, thickness=0.035)

    def show(self, visible: bool) -> None:
        """Or hide it."""
        self._frame.visible = self._below.visible = visible
        if self._trail is not None:
            self._trail.visible = visible


class Stage:
    """What stands in the scene of one client."""

    def __init__(self, client: Any, moved: Moved, started: DropHandler, headed: DropHandler, camera: Camera) -> None:
        self._client, self._moved = client, moved
        self._objects: list[Any] = []
        self._ground: Any = None
        self._movable = True
        self._camera = camera
        self._look()
        self.drone = Drone(client.scene, "/drone", FLIGHT, camera)
        self._beside: Drone | None = None
        self._start = client.scene.add_frame("/start", show_axes=False)
        arrow = client.scene.add_mesh_trimesh("/start/arrow", arrow_mesh())
        draggable(self.drone.body, self._may_move, lambda: self.drone.place, self._carry, started)
        draggable(arrow, self._may_move, None, self._turn, headed)

    def _look(self) -> None:
        """From where the whole arena is seen: on a page that is higher than wide the scene is as wide as the page."""
        camera = self._client.camera
        aspect = float(camera.aspect)
        away = 1.0 if aspect >= 1 else max(_PHONE_AWAY * min(_PHONE_ASPECT / aspect, 1.0), _TABLET_AWAY)
        target = np.array([ARENA_M / 2, 1.9, 0.0])
        camera.position = target + away * (np.array([ARENA_M / 2, -2.2, 3.9]) - target)
        camera.look_at = target

    def beside(self) -> Drone:
        """The second drone, made the first time it is asked for."""
        if self._beside is None:
            self._beside = Drone(self._client.scene, "/beside", BESIDE, self._camera)
        return self._beside

    def hide_beside(self) -> None:
        """No second drone."""
        if self._beside is not None:
            self._beside.show(False)

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
        self.set_start(layout.start)
        self.drone.set_trail(np.zeros((0, 2)))
        self.hide_beside()

    def set_ground(self, ground: NDArray[np.uint8]) -> None:
        """Another picture of the ground."""
        self._ground.image = ground

    def set_start(self, start: Pose2) -> None:
        """Put the drone at its start."""
        self.drone.set_pose(np.array([start.x, start.y, _HEIGHT_M, 0.0, 0.0, start.yaw]))
        self._start.position = (start.x, start.y, _HEIGHT_M)
        self._start.wxyz = _about_z(start.yaw)

    def set_pose(self, pose: NDArray[np.float64], beside: NDArray[np.float64] | None = None) -> None:
        """Move the drone, and the one beside it."""
        with self._client.atomic():
            self.drone.set_pose(pose)
            if beside is not None:
                self.beside().set_pose(beside)

    def allow_moving(self, allowed: bool) -> None:
        """Whether objects and drone can be dragged."""
        self._movable = allowed
        self._start.visible = allowed

    def _may_move(self) -> bool:
        return self._movable

    def _carry(self, x: float, y: float) -> None:
        self.drone.set_place(x, y)
        self._start.position = (x, y, _HEIGHT_M)

    def _turn(self, x: float, y: float) -> None:
        here = self._start.position
        self._start.wxyz = _about_z(math.atan2(y - here[1], x - here[0]))

    def _place(self, number: int, item: PlacedObject, mesh: Mesh) -> list[Any]:
        scene, name = self._client.scene, f"/objects/{number}"  # never after what it is called: that may hold anything
        turn = _about_z(item.yaw)
        handle = scene.add_mesh_trimesh(name, to_trimesh(mesh), wxyz=turn, position=(item.x, item.y, 0.0))
        top = (0.0, 0.0, float(mesh.vertices[:, 2].max()) + 0.1)
        label = scene.add_label(f"{name}/name", item.name, position=top, anchor="bottom-center", font_screen_scale=0.8)

        def show(x: float, y: float) -> None:
            handle.position = (x, y, 0.0)

        draggable(
            handle, self._may_move, lambda: (float(handle.position[0]), float(handle.position[1])), show,
            lambda x, y: self._moved(number, x, y),
        )  # fmt: skip
        return [label, handle]


# A camera without tilt looks along the body's x axis: right, down, forward of the one are -y, -z, x of the other.
_CAMERA_TO_BODY = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])


def quaternion(rotation: NDArray[np.float64]) -> NDArray[np.float64]:
    """A rotation matrix as w, x, y, z."""
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(rotation).as_quat()
    return np.array([w, x, y, z])


def _about_z(yaw: float) -> tuple[float, float, float, float]:
    return (math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2))
