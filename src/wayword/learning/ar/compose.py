"""Objects over pictures of empty places, and what a camera makes of them.

Over a photograph, the object layer is drawn with a light of its own; the ground's share of that light with
and without the objects (rendered on a neutral ground) is the shadow factor of the photograph:

    I' = I_photo * ground_with / ground_without    where no object is seen
    I' = object layer                              where one is

Over a simulated empty frame that is the same as rendering the objects into the scene, up to rounding of the
factor (tested), so simulated frames are rendered directly, in one pass.

Shapes: N frames of H x W pixels; photos and rgb (N, H, W, 3) uint8; ids (N, H, W) uint8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from wayword.camera import Camera
from wayword.compiled import compiled
from wayword.learning.ar.config import AugmentConfig
from wayword.learning.ar.photos import PhotoStyle, separate, take_photo
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.look import Light, Look
from wayword.sim.render.renderer import Frames, RenderConfig, Renderer
from wayword.sim.render.sensor import Sensor, SensorConfig

Bytes: TypeAlias = NDArray[np.uint8]

_GREY = (168, 166, 160)
NEUTRAL = Look("concrete", "concrete", "hall", 30.0, (_GREY, _GREY))
"""An even ground without a boundary line, on which shadows are measured."""


class Compositor:
    """Draws layouts into simulated scenes or over photographs, with one camera."""

    def __init__(self, bank: MeshBank, camera: Camera) -> None:
        self.camera = camera
        self._hard = Renderer(bank, camera, RenderConfig(threads=1))
        self._smooth = Renderer(bank, camera, RenderConfig(supersample=True, threads=1))
        double = replace(camera, width=2 * camera.width, height=2 * camera.height)
        self._double = Renderer(bank, double, RenderConfig(threads=1))

    def in_scene(
        self, names: Sequence[str], transforms: NDArray, looks: Sequence[Look], poses: NDArray, arena_m: float,
        smooth: bool = False,
    ) -> Frames:  # fmt: skip
        """Frame i of the layout under look i from pose i."""
        renderer = self._smooth if smooth else self._hard
        return renderer.render([renderer.scene_of(names, transforms, look, arena_m) for look in looks], poses)

    def over_photos(
        self, photos: Bytes, names: Sequence[str], transforms: NDArray, lights: Sequence[Light], poses: NDArray,
        arena_m: float, smooth: bool = False, styles: Sequence[PhotoStyle] = (), rng: np.random.Generator | None = None,
    ) -> tuple[Bytes, Bytes]:  # fmt: skip
        """The layout over photograph i under light i, taken from pose i: (rgb, ids).

        With ``styles`` the objects of frame i have the faults of the photographs' camera; ``rng`` draws their noise.
        """
        renderer = self._double if smooth else self._hard
        looks = [replace(NEUTRAL, light=light) for light in lights]
        rendering = renderer.render([renderer.scene_of(names, transforms, look, arena_m) for look in looks], poses)
        empty = renderer.render([renderer.scene_of((), np.zeros((0, 3, 4)), look, arena_m) for look in looks], poses)
        rgb, ids = np.empty_like(photos), np.empty(photos.shape[:3], np.uint8)
        layer, factor = np.empty((*photos.shape[1:3], 4), np.float32), np.empty(photos.shape[1:3], np.float32)
        for i in range(len(photos)):
            if styles and rng is not None:
                separate(rendering.rgb[i], empty.rgb[i], rendering.ids[i], 2 if smooth else 1, layer, factor, ids[i])
                rgb[i] = take_photo(photos[i], layer, factor, styles[i], rng)
                continue
            _over(photos[i], rendering.rgb[i], empty.rgb[i], rendering.ids[i], 2 if smooth else 1, rgb[i], ids[i])
        return rgb, ids


def augment(frame: Bytes, rng: np.random.Generator, config: AugmentConfig) -> Bytes:
    """One frame (H, W, 3) as another camera would have taken it: colours, then lens, then sensor."""
    clean, blurred, moved = rng.random(3) < (config.clean_share, 0.5, 0.25)
    if clean:
        return frame
    contrast, brightness, saturation = rng.uniform(-1, 1, 3)
    graded = np.empty_like(frame)
    _grade(
        frame,
        np.float32((1 + config.contrast) ** contrast),
        np.float32(config.brightness * brightness),
        np.float32(1 + config.saturation * saturation),
        graded,
    )
    noise, shot, blur, motion, vignette = rng.random(5)
    sensor = SensorConfig(
        noise_std=config.noise * noise**2,
        shot_noise_std=config.shot_noise * shot**2,
        blur_sigma_px=config.blur_px * blur if blurred and config.blur_px * blur > 0.2 else 0.0,
        motion_blur_px=config.motion_px * motion if moved else 0.0,
        exposure_jitter=config.exposure,
        gamma_jitter=config.gamma,
        white_balance_jitter=config.white_balance,
        vignette=config.vignette * vignette,
    )
    image: Bytes = Sensor(sensor).apply(graded[None], [rng])[0]
    return image


@compiled(nogil=True)
def _over(photo, rendering, empty, owner, samples, rgb, ids):  # type: ignore[no-untyped-def]
    """Composite one frame; ``drawn``, ``empty`` and ``owner`` have ``samples`` samples per pixel and axis."""
    height, width = ids.shape
    share = np.float32(1.0 / (samples * samples))
    for y in range(height):
        for x in range(width):
            red = green = blue = np.float32(0.0)
            best, votes = 0, 0
            for j in range(y * samples, (y + 1) * samples):
                for i in range(x * samples, (x + 1) * samples):
                    k = owner[j, i]
                    if k > 0:
                        red += np.float32(rendering[j, i, 0])
                        green += np.float32(rendering[j, i, 1])
                        blue += np.float32(rendering[j, i, 2])
                    else:
                        # All channels darken alike, so the sum over them gives the factor with the least rounding.
                        lit = np.float32(empty[j, i, 0]) + np.float32(empty[j, i, 1]) + np.float32(empty[j, i, 2])
                        now = (
                            np.float32(rendering[j, i, 0])
                            + np.float32(rendering[j, i, 1])
                            + np.float32(rendering[j, i, 2])
                        )
                        factor = min(now / max(lit, np.float32(1.0)), np.float32(1.0))
                        red += np.float32(photo[y, x, 0]) * factor
                        green += np.float32(photo[y, x, 1]) * factor
                        blue += np.float32(photo[y, x, 2]) * factor
                    count = 0
                    for jj in range(y * samples, (y + 1) * samples):
                        for ii in range(x * samples, (x + 1) * samples):
                            count += owner[jj, ii] == k
                    if count > votes:  # the object that fills most of the pixel names it
                        best, votes = k, count
            ids[y, x] = best
            rgb[y, x, 0] = np.uint8(red * share + np.float32(0.5))
            rgb[y, x, 1] = np.uint8(green * share + np.float32(0.5))
            rgb[y, x, 2] = np.uint8(blue * share + np.float32(0.5))


@compiled(nogil=True)
def _grade(frame, contrast, brightness, saturation, out):  # type: ignore[no-untyped-def]
    """Saturation about each pixel's grey, then contrast about mid grey, then brightness."""
    height, width, _ = frame.shape
    middle, low, high = np.float32(127.5), np.float32(0.0), np.float32(255.0)
    for y in range(height):
        for x in range(width):
            r, g, b = np.float32(frame[y, x, 0]), np.float32(frame[y, x, 1]), np.float32(frame[y, x, 2])
            grey = np.float32(0.299) * r + np.float32(0.587) * g + np.float32(0.114) * b
            for c in range(3):
                value = grey + (np.float32(frame[y, x, c]) - grey) * saturation
                value = (value - middle) * contrast + middle + brightness
                out[y, x, c] = np.uint8(min(max(value + np.float32(0.5), low), high))
