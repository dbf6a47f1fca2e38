"""Camera imperfections: each effect against numbers worked by hand, and independence of the batch."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from wayword.errors import WaywordError
from wayword.sim.render.sensor import Sensor, SensorConfig

ROUGH = SensorConfig(
    noise_std=2.0, shot_noise_std=5.0, blur_sigma_px=0.8, motion_blur_px=4.0, exposure_jitter=0.2,
    gamma_jitter=0.2, white_balance_jitter=0.1, vignette=0.3,
)  # fmt: skip


def rngs(*seeds: int) -> list[np.random.Generator]:
    return [np.random.default_rng(seed) for seed in seeds]


def grey(level: int, n: int = 1) -> NDArray[np.uint8]:
    return np.full((n, 72, 128, 3), level, dtype=np.uint8)


def pictures(n: int) -> NDArray[np.uint8]:
    return np.random.default_rng(0).integers(0, 256, (n, 36, 64, 3), dtype=np.uint8)


def test_a_perfect_sensor_returns_the_same_array() -> None:
    frames = pictures(3)
    assert Sensor().apply(frames, []) is frames
    assert SensorConfig().identity
    assert not ROUGH.identity


def test_a_frame_depends_on_its_own_generator_alone() -> None:
    frames = pictures(5)
    together = Sensor(ROUGH).apply(frames, rngs(0, 1, 2, 3, 4))
    backwards = Sensor(ROUGH).apply(frames[::-1], rngs(4, 3, 2, 1, 0))[::-1]
    alone = np.concatenate([Sensor(ROUGH).apply(frames[i : i + 1], rngs(i)) for i in range(5)])
    np.testing.assert_array_equal(together, backwards)
    np.testing.assert_array_equal(together, alone)
    assert (Sensor(ROUGH).apply(frames[:1], rngs(9)) != together[:1]).any()


def test_the_input_is_not_changed() -> None:
    frames = pictures(2)
    before = frames.copy()
    Sensor(ROUGH).apply(frames, rngs(0, 1))
    np.testing.assert_array_equal(frames, before)


@pytest.mark.parametrize(("level", "expected"), [(128, 3.94), (64, 3.59), (16, 3.30)])
def test_noise_has_the_stated_size(level: int, expected: float) -> None:
    # variance = 3.2^2 + 3.2^2 * level / 255 + 1/12 for rounding: sqrt(10.24 * 1.502 + 0.083) = 3.93 at 128, and so on
    noisy = Sensor(SensorConfig(noise_std=3.2, shot_noise_std=3.2)).apply(grey(level, 4), rngs(0, 1, 2, 3))
    assert noisy.mean() == pytest.approx(level, abs=0.05)
    assert noisy.std() == pytest.approx(expected, rel=0.015)


def test_blur_of_a_point_is_a_gaussian() -> None:
    # Away from borders a blurred point keeps its sum, and its variance along x is sigma^2 = 2.25.
    point = np.zeros((1, 41, 41, 3), dtype=np.uint8)
    point[0, 18:23, 18:23] = 255
    spread = Sensor(SensorConfig(blur_sigma_px=1.5)).apply(point, rngs(0))[0, :, :, 0].astype(float)
    assert spread.sum() == pytest.approx(25 * 255, rel=0.01)
    x = np.arange(41) - 20
    # A block 5 wide has variance (25 - 1) / 12 = 2.
    assert (spread.sum(axis=0) * x**2).sum() / spread.sum() == pytest.approx(2.0 + 2.25, rel=0.05)
    np.testing.assert_array_equal(spread, spread.T)


@pytest.mark.parametrize("config", [SensorConfig(blur_sigma_px=2.0), SensorConfig(motion_blur_px=9.0)])
def test_blur_leaves_a_flat_picture_flat(config: SensorConfig) -> None:
    np.testing.assert_array_equal(Sensor(config).apply(grey(131), rngs(3)), grey(131))


def test_motion_smears_along_one_direction() -> None:
    point = np.zeros((1, 41, 41, 3), dtype=np.uint8)
    point[0, 20, 20] = 255
    for seed in range(5):
        streak = Sensor(SensorConfig(motion_blur_px=12.0)).apply(point, rngs(seed))[0, :, :, 0].astype(float)
        rows, columns = np.nonzero(streak)
        cov = np.cov(np.stack([columns, rows]), aweights=streak[rows, columns])
        small, large = np.sqrt(np.maximum(np.linalg.eigvalsh(cov), 0))
        assert small < 0.6  # no wider than bilinear sampling makes it
        assert large <= 12 / np.sqrt(12) + 0.6  # a line of length 12 has deviation 12 / sqrt(12)
        assert columns.mean() == pytest.approx(20, abs=1)


def test_exposure_white_balance_and_gamma() -> None:
    half = Sensor(SensorConfig(exposure_gain=0.5)).apply(grey(200), rngs(0))
    np.testing.assert_array_equal(half, grey(100))
    over = Sensor(SensorConfig(exposure_gain=3.0)).apply(grey(200), rngs(0))
    np.testing.assert_array_equal(over, grey(255))
    many = Sensor(SensorConfig(exposure_jitter=0.25)).apply(grey(100, 40), rngs(*range(40)))[:, 0, 0]
    assert many.min() >= 80  # 100 / 1.25
    assert many.max() <= 125
    assert np.ptp(many) > 20
    np.testing.assert_array_equal(many[:, 0], many[:, 2])
    tinted = Sensor(SensorConfig(white_balance_jitter=0.2)).apply(grey(100, 40), rngs(*range(40)))[:, 0, 0]
    np.testing.assert_array_equal(tinted[:, 1], 100)
    assert (tinted[:, 0] != tinted[:, 2]).any()
    # Gamma leaves black and white where they are: 255 (v / 255)^g.
    for level in (0, 255):
        np.testing.assert_array_equal(Sensor(SensorConfig(gamma_jitter=0.3)).apply(grey(level), rngs(1)), grey(level))


def test_vignette_darkens_the_corners_only() -> None:
    shaded = Sensor(SensorConfig(vignette=0.4)).apply(grey(200), rngs(0))[0, :, :, 0].astype(float)
    assert shaded[36, 64] == 200
    # The corner pixel is at squared distance (63.5^2 + 35.5^2) / (64^2 + 36^2) = 0.9816, so 200 (1 - 0.4 * 0.9635).
    assert shaded[0, 0] == pytest.approx(122.9, abs=0.6)
    np.testing.assert_array_equal(shaded, shaded[::-1, ::-1])


@pytest.mark.parametrize(
    "settings",
    [
        {"noise_std": -1.0},
        {"vignette": 1.1},
        {"exposure_gain": 0.0},
        {"gamma_jitter": float("nan")},
        {"motion_blur_px": 51.0},
    ],
)
def test_bad_settings_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(WaywordError):
        SensorConfig(**settings)


def test_bad_frames_are_refused() -> None:
    with pytest.raises(WaywordError, match="2 frames but 1"):
        Sensor(ROUGH).apply(pictures(2), rngs(0))
    with pytest.raises(WaywordError, match="uint8"):
        Sensor(ROUGH).apply(pictures(1).astype(np.float32), rngs(0))
