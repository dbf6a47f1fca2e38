"""What stands still in a Rerun recording: ground, objects, boundary, demonstration, and the drone's own shape.

World frame in metres, z up, as everywhere; the camera's frame is x right, y down, z forward.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import rerun as rr
from numpy.typing import ArrayLike, NDArray

from wayword.camera import Camera, camera_axes
from wayword.episodes import Example
from wayword.pictures.colours import DEMONSTRATION, FLIGHT, WHITE, Rgb
from wayword.pictures.topdown import TopDown
from wayword.pilot.free_flight import is_free
from wayword.sim.models.mesh import Mesh
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.look import Look
from wayword.task import SUCCESS_RADIUS_M

CAMERA = "world/drone/camera"
_GROUND_PX = 384
_FRUSTUM_M = 0.45
_BODY_M = (0.11, 0.11, 0.03)
_ABOVE_M = 0.12
_EDGE: Rgb = (120, 128, 140)


def log_scene(
    stream: rr.RecordingStream, example: Example, bank: MeshBank, camera: Camera, look: Look | None = None
) -> None:
    """Everything that never moves."""
    side = example.episode.arena_m
    stream.log("world", rr.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
    top = TopDown(bank, look, side, size_px=_GROUND_PX)
    ground = np.asarray(top.picture(()).convert("RGB"))
    corner = (-top.margin_m, -top.margin_m)
    stream.log("world/ground", grid_map(ground[::-1], 1 / top.px_per_m, corner, draw_order=0), static=True)
    edge = np.array([[0, 0, 0], [side, 0, 0], [side, side, 0], [0, side, 0], [0, 0, 0]])
    stream.log("world/boundary", rr.LineStrips3D([edge], colors=[_EDGE], radii=[0.012]), static=True)
    _log_objects(stream, example, bank)
    if not is_free(example):
        _log_demonstration(stream, example.path)
    stream.log("world/drone/body", rr.Boxes3D(half_sizes=[_BODY_M], colors=[FLIGHT], fill_mode="solid"), static=True)
    turn = camera_axes(np.zeros(6), camera.mount_pitch_deg).T
    stream.log(CAMERA, rr.Transform3D(mat3x3=turn), _pinhole(camera), static=True)


def _pinhole(camera: Camera) -> rr.Pinhole:
    return rr.Pinhole(
        image_from_camera=camera.intrinsics, resolution=[camera.width, camera.height],
        camera_xyz=rr.ViewCoordinates.RDF, image_plane_distance=_FRUSTUM_M, color=FLIGHT,
    )  # fmt: skip


def _log_objects(stream: rr.RecordingStream, example: Example, bank: MeshBank) -> None:
    """Each object's mesh, and its box with its name."""
    centres, halves, turns, tops = [], [], [], []
    for number, item in enumerate(example.objects):
        mesh = bank.meshes[item.name]
        low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
        turn = rr.RotationAxisAngle([0, 0, 1], rr.Angle(rad=item.yaw))
        c, s = np.cos(item.yaw), np.sin(item.yaw)
        x, y, z = ((low + high) / 2).tolist()
        centres.append((item.x + c * x - s * y, item.y + s * x + c * y, z))
        halves.append((high - low) / 2)
        turns.append(turn)
        tops.append((item.x, item.y, float(high[2]) + _ABOVE_M))
        place = rr.Transform3D(translation=[item.x, item.y, 0.0], rotation=turn)
        stream.log(f"world/objects/{number}", place, _mesh(mesh), static=True)
    boxes = rr.Boxes3D(
        centers=centres, half_sizes=halves, rotation_axis_angles=turns, colors=[_EDGE], radii=[0.004]
    )  # fmt: skip
    stream.log("world/object_boxes", boxes, static=True)
    names = [item.name for item in example.objects]
    signs = rr.Points3D(tops, labels=names, show_labels=True, colors=[WHITE], radii=[0.0])
    stream.log("world/object_names", signs, static=True)


def _mesh(mesh: Mesh) -> rr.Mesh3D:
    shape: dict[str, Any] = {
        "vertex_positions": mesh.vertices,
        "triangle_indices": mesh.faces,
        "vertex_normals": mesh.normals,
    }
    if mesh.texture is None or mesh.uv is None:
        return rr.Mesh3D(**shape, vertex_colors=mesh.colors)
    return rr.Mesh3D(**shape, vertex_texcoords=mesh.uv, albedo_texture=mesh.texture)


def _log_demonstration(stream: rr.RecordingStream, path: NDArray[np.float64]) -> None:
    """The way people showed, and the circle in which a flight has arrived."""
    turn = np.linspace(0, 2 * np.pi, 49)
    circle = path[-1] + SUCCESS_RADIUS_M * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    strips = [on_ground(path[::3]), on_ground(circle)]
    stream.log(
        "world/demonstration", rr.LineStrips3D(strips, colors=[DEMONSTRATION] * 2, radii=[0.008] * 2), static=True
    )


def on_ground(path: ArrayLike, height_m: float = 0.02) -> NDArray[np.float64]:
    """Points (N, 2) as (N, 3) just above the ground."""
    points = np.asarray(path, np.float64).reshape(-1, 2)
    return np.column_stack([points, np.full(len(points), height_m)])


def grid_map(
    pixels: NDArray[np.uint8], cell_m: float, corner: ArrayLike, yaw: float = 0.0, draw_order: float = 1.0
) -> rr.GridMap:
    """A picture (N, M, 3 or 4) lying on the ground: row 0 at ``corner`` (x, y), rows along +y turned by ``yaw``.

    All maps lie at z = 0: the viewer lets maps of one plane shine through each other, and hides those of lower planes.
    """
    height, width, channels = pixels.shape
    form = rr.components.ImageFormat(
        width=width, height=height, color_model="RGBA" if channels == 4 else "RGB", channel_datatype="U8"
    )
    return rr.GridMap(
        data=np.ascontiguousarray(pixels[::-1]).tobytes(), format=form, cell_size=cell_m,
        translation=[*np.asarray(corner, np.float64), 0.0],
        rotation_axis_angle=rr.RotationAxisAngle([0, 0, 1], rr.Angle(rad=yaw)), draw_order=draw_order,
    )  # fmt: skip
