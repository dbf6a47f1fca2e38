"""Dragging things over the ground of the 3D view, with the mouse or a finger."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayword.task import ARENA_M

DropHandler = Callable[[float, float], None]


def draggable(
    handle: Any,
    allowed: Callable[[], bool],
    where: Callable[[], tuple[float, float]] | None,
    show: DropHandler,
    dropped: DropHandler,
) -> None:
    """Let a visitor drag what a viser handle shows, at the height where it was grabbed.

    ``where`` is the place of what is dragged along, None if the pointer itself is what counts; ``show`` puts it
    elsewhere for the time being, and ``dropped`` hears, in a thread that may wait, where it was let go.
    """
    grabbed = {"x": 0.0, "y": 0.0, "z": 0.0}

    async def drag(event: Any) -> None:
        if not allowed():
            return
        if event.phase == "start":
            x, y, z = event.start_position
            here = (x, y) if where is None else where()
            grabbed.update(x=x - here[0], y=y - here[1], z=z)
        place = on_plane(event.client.camera.position, np.array(event.end_position), grabbed["z"])
        if place is None:
            return
        x, y = (float(np.clip(place[k] - grabbed["xy"[k]], 0.0, ARENA_M)) for k in (0, 1))
        show(x, y)
        if event.phase == "end":
            _in_thread(lambda: dropped(x, y))

    handle.on_drag(drag)


def on_plane(eye: NDArray[np.float64], through: NDArray[np.float64], z: float) -> NDArray[np.float64] | None:
    """Where the ray from the eye through a point meets the level z; None if it does not, ahead and not too far."""
    way = through - eye
    if abs(way[2]) < 1e-6:
        return None
    t = (z - eye[2]) / way[2]
    place: NDArray[np.float64] = eye + t * way
    return place if t > 0 and np.abs(place).max() < 100 else None


def _in_thread(job: Callable[[], None]) -> None:
    """Away from the event loop, which must not wait."""
    import asyncio

    asyncio.get_running_loop().run_in_executor(None, job)
