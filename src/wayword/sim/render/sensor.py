"""Camera imperfections, all off by default: blur, vignette, exposure, white balance, noise.

The order is that of a camera: motion smears the light while the shutter is open, the lens blurs and darkens
the corners, the exposure and the white balance scale what is left, the processing bends the tone curve, and
noise comes last. A frame depends on its own generator alone, to the byte, whatever else is in the batch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from wayword.compiled import compiled
from wayword.errors import WaywordError

Image = NDArray[np.uint8]
FloatImage = NDArray[np.float32]


@dataclass(frozen=True)
class SensorConfig:
    """How far the camera is from a perfect one; jitter is drawn anew for each frame."""

    noise_std: float = 0.0
    """Noise that is the same in light and shade, in 8-bit levels."""
    shot_noise_std: float = 0.0
    """Noise that grows with the square root of the light: its size at white, in 8-bit levels."""
    blur_sigma_px: float = 0.0
    """Gaussian blur of the lens, in pixels."""
    motion_blur_px: float = 0.0
    """Longest streak a point leaves, in pixels; length and direction are drawn for each frame."""
    exposure_gain: float = 1.0
    """Factor on all brightness; below 1 underexposes."""
    exposure_jitter: float = 0.0
    """The gain varies by up to this share either way: 0.2 is between 1 / 1.2 and 1.2."""
    gamma_jitter: float = 0.0
    """The exponent of the tone curve varies by up to this share either way."""
    white_balance_jitter: float = 0.0
    """Red and blue vary by up to this share either way against green."""
    vignette: float = 0.0
    """Share of the light that the corners lose, 0 to 1."""
    red_gain: float = 1.0
    """Factor on red: with the blue one, a white balance that is off in every frame alike."""
    blue_gain: float = 1.0
    """Factor on blue."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not (math.isfinite(value) and value >= 0):
                raise WaywordError(f"sensor setting {field.name} = {value} must be a number of at least 0")
        if self.vignette > 1 or self.exposure_gain == 0:
            raise WaywordError("sensor settings: vignette must be at most 1 and exposure_gain above 0")
        if max(self.blur_sigma_px, self.motion_blur_px) > 50:
            raise WaywordError("sensor settings: blur_sigma_px and motion_blur_px must be at most 50 pixels")

    @property
    def identity(self) -> bool:
        """Whether frames pass unchanged."""
        return self == SensorConfig()


class Sensor:
    """Applies one configuration to batches of frames."""

    def __init__(self, config: SensorConfig | None = None) -> None:
        self.config = config or SensorConfig()

    def apply(self, rgb: Image, rngs: Sequence[np.random.Generator]) -> Image:
        """Frames (N, H, W, 3) as this camera would have taken them; ``rngs`` holds one generator per frame."""
        if rgb.ndim != 4 or rgb.shape[3] != 3 or rgb.dtype != np.uint8:
            raise WaywordError(f"frames must be (N, H, W, 3) uint8, not {rgb.shape} {rgb.dtype}")
        if self.config.identity:
            return rgb
        if len(rngs) != len(rgb):
            raise WaywordError(f"{len(rgb)} frames but {len(rngs)} random generators")
        result = np.empty_like(rgb)
        for i, rng in enumerate(rngs):
            self._expose(rgb[i], rng, result[i])
        return result

    def _expose(self, frame: Image, rng: np.random.Generator, out: Image) -> None:
        config = self.config
        # All six numbers are drawn whether used or not: turning one effect on leaves the others as they were.
        exposure, gamma, red, blue, length, direction = rng.uniform(-1.0, 1.0, 6)
        light = frame.astype(np.float32)
        streak = config.motion_blur_px * abs(length)
        if streak > 0:
            light = _smear(light, streak * math.cos(math.pi * direction), streak * math.sin(math.pi * direction))
        if config.blur_sigma_px > 0:
            light = _blur(light, _kernel(config.blur_sigma_px))
        gain = config.exposure_gain * (1 + config.exposure_jitter) ** exposure
        balance = 1 + config.white_balance_jitter
        gains = np.array(
            [gain * config.red_gain * balance**red, gain, gain * config.blue_gain * balance**blue], dtype=np.float32
        )
        exponent = np.float32((1 + config.gamma_jitter) ** gamma)
        read, shot = np.float32(config.noise_std), np.float32(config.shot_noise_std)
        noisy = read > 0 or shot > 0
        grain = rng.standard_normal(frame.shape if noisy else (0, 0, 3), dtype=np.float32)
        _develop(light, gains, exponent, np.float32(config.vignette), read, shot, grain, out)


def _kernel(sigma: float) -> NDArray[np.float32]:
    """One half of a Gaussian, centre first, with the whole of unit sum."""
    weights = np.exp(-0.5 * (np.arange(math.ceil(3 * sigma) + 1) / sigma) ** 2)
    half: NDArray[np.float32] = (weights / (2 * weights.sum() - weights[0])).astype(np.float32)
    return half


@compiled(nogil=True)
def _blur(image, half):  # type: ignore[no-untyped-def]
    """Separable blur; the border pixel continues outwards."""
    height, width, _ = image.shape
    across, both = np.empty_like(image), np.empty_like(image)
    for y in range(height):
        for x in range(width):
            for c in range(3):
                total = image[y, x, c] * half[0]
                for k in range(1, len(half)):
                    total += (image[y, max(x - k, 0), c] + image[y, min(x + k, width - 1), c]) * half[k]
                across[y, x, c] = total
    for y in range(height):
        for x in range(width):
            for c in range(3):
                total = across[y, x, c] * half[0]
                for k in range(1, len(half)):
                    total += (across[max(y - k, 0), x, c] + across[min(y + k, height - 1), x, c]) * half[k]
                both[y, x, c] = total
    return both


@compiled(nogil=True)
def _smear(image, dx, dy):  # type: ignore[no-untyped-def]
    """Mean along a centred line of dx, dy pixels, sampled bilinearly about once per pixel of its length."""
    height, width, _ = image.shape
    steps = math.ceil(math.sqrt(dx * dx + dy * dy)) + 1
    out = np.zeros_like(image)
    share = np.float32(1.0 / steps)
    for s in range(steps):
        t = (s + 0.5) / steps - 0.5
        left, top = math.floor(t * dx), math.floor(t * dy)
        fx, fy = np.float32(t * dx - left), np.float32(t * dy - top)
        for y in range(height):
            y0, y1 = min(max(y + top, 0), height - 1), min(max(y + top + 1, 0), height - 1)
            for x in range(width):
                x0, x1 = min(max(x + left, 0), width - 1), min(max(x + left + 1, 0), width - 1)
                for c in range(3):
                    upper = image[y0, x0, c] + (image[y0, x1, c] - image[y0, x0, c]) * fx
                    lower = image[y1, x0, c] + (image[y1, x1, c] - image[y1, x0, c]) * fx
                    out[y, x, c] += (upper + (lower - upper) * fy) * share
    return out


@compiled(nogil=True)
def _develop(light, gains, exponent, vignette, read, shot, grain, out):  # type: ignore[no-untyped-def]
    """From light to bytes: vignette, gains, tone curve, noise."""
    height, width, _ = light.shape
    white, half = np.float32(255.0), np.float32(0.5)
    reach = np.float32(4.0) / np.float32(width * width + height * height)  # corners at squared distance 1
    noisy = len(grain) > 0
    for y in range(height):
        dy = np.float32(y) + half - np.float32(height) * half
        for x in range(width):
            dx = np.float32(x) + half - np.float32(width) * half
            square = (dx * dx + dy * dy) * reach
            fall = np.float32(1.0) - vignette * square * square
            for c in range(3):
                value = min(max(light[y, x, c] * gains[c] * fall, np.float32(0.0)), white)
                if exponent != np.float32(1.0):
                    value = white * (value / white) ** exponent
                if noisy:
                    value += grain[y, x, c] * math.sqrt(read * read + shot * shot * value / white)
                out[y, x, c] = np.uint8(min(max(value + half, np.float32(0.0)), np.float32(255.0)))
