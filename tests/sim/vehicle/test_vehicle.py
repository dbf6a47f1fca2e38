"""The quadcopter: response, lean, contacts, disturbances, and independence of the batch."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayword.errors import WaywordError
from wayword.sim.vehicle import Fleet, VehicleConfig, WindConfig
from wayword.sim.vehicle.disturbance import Disturbances
from wayword.sim.vehicle.rigid import fly_rigid, outer_loop

MODELS: tuple[Literal["lag", "rigid"], ...] = ("lag", "rigid")
SUB_STEP = VehicleConfig().sub_step_s
STORM: dict[str, Any] = {
    "randomise": (0.3, 1.0),
    "wind": WindConfig(speed_m_s=0.8, gust_m_s=0.5),
    "position_noise_m": 0.02,
    "angle_noise_rad": 0.01,
    "latency_s": 0.1,
}


def hovering(config: VehicleConfig, x: float = 0.0, y: float = 0.0, yaw: float = 0.0, seed: int = 0) -> Fleet:
    fleet = Fleet(1, config)
    fleet.reset([0], x, y, yaw, [seed])
    return fleet


def record(fleet: Fleet, speed: float, turn: float, seconds: float) -> dict[str, np.ndarray]:
    """Fly one vehicle and note its state after each sub-step."""
    rows = []
    for _ in range(round(seconds / SUB_STEP)):
        fleet.step([[speed, turn]], SUB_STEP)
        rows.append(np.concatenate([fleet.pose[0], fleet.velocity[0], fleet.rates[0]]))
    names = ("x", "y", "z", "roll", "pitch", "yaw", "vx", "vy", "vz", "p", "q", "r")
    return dict(zip(names, np.array(rows).T, strict=True))


def time_to_63_percent(values: np.ndarray, final: float) -> float:
    """When a curve sampled every sub-step, 0 at time 0, first reaches 1 - 1/e of ``final``."""
    level = (1.0 - math.exp(-1.0)) * final
    after = int(np.argmax(values >= level))
    before = values[after - 1] if after > 0 else 0.0
    return SUB_STEP * float(after + (level - before) / (values[after] - before))


@pytest.mark.parametrize("tau", [0.3, 0.5, 1.0])
def test_lag_follows_the_exponential_exactly(tau: float) -> None:
    # v(t) = u (1 - e^(-t/tau)), x(t) = u (t - tau (1 - e^(-t/tau)))
    flight = record(hovering(VehicleConfig(time_constant_s=tau)), 0.7, 0.0, 2.0)
    t = SUB_STEP * np.arange(1, 101)
    rise = 1.0 - np.exp(-t / tau)
    np.testing.assert_allclose(flight["vx"], 0.7 * rise, atol=1e-12)
    np.testing.assert_allclose(flight["x"], 0.7 * (t - tau * rise), atol=1e-12)
    np.testing.assert_array_equal(flight["y"], 0.0)
    np.testing.assert_array_equal(flight["z"], 0.7)


def test_lag_yaw_follows_the_exponential_exactly() -> None:
    # From rest: r(t) = w (1 - e^(-t/tau)), yaw(t) = w (t - tau (1 - e^(-t/tau))); 2.88 rad after 3 s.
    flight = record(hovering(VehicleConfig()), 0.0, 1.0, 3.0)
    t = SUB_STEP * np.arange(1, 151)
    rise = 1.0 - np.exp(-t / 0.12)
    np.testing.assert_allclose(flight["r"], rise, atol=1e-12)
    np.testing.assert_allclose(flight["yaw"], t - 0.12 * rise, atol=1e-12)


def test_lag_turn_converges_with_the_sub_step() -> None:
    # The heading is held over a sub-step: an error of second order, far below a millimetre at 0.02 s.
    ends = {}
    for sub_step in (0.0005, 0.01, 0.02):
        fleet = hovering(VehicleConfig(sub_step_s=sub_step))
        fleet.step([[0.7, 1.0]], 2.0)
        ends[sub_step] = fleet.pose[0, :2]
    fine = np.linalg.norm(ends[0.01] - ends[0.0005])
    coarse = np.linalg.norm(ends[0.02] - ends[0.0005])
    assert coarse < 1e-4
    assert coarse / fine == pytest.approx(4.0, rel=0.05)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("wanted", [0.3, 0.5, 0.7, 1.0])
def test_response_covers_fast_and_slow_autopilots(model: Literal["lag", "rigid"], wanted: float) -> None:
    flight = record(hovering(VehicleConfig(model=model, time_constant_s=wanted)), 0.7, 0.0, 6.0)
    # Linear interpolation on the 0.02 s grid is good to 0.001 s.
    assert time_to_63_percent(flight["vx"], 0.7) == pytest.approx(wanted, rel=0.015)
    assert flight["vx"].max() < 0.7 * 1.02
    assert flight["vx"][-1] == pytest.approx(0.7, abs=0.003)


def test_rigid_leans_like_a_quadcopter() -> None:
    fleet = hovering(VehicleConfig(model="rigid"))
    start = record(fleet, 0.7, 0.0, 3.0)
    assert 8.0 < math.degrees(start["pitch"].max()) < 10.0
    assert np.abs(start["z"] - 0.7).max() < 0.005
    assert np.abs(start["y"]).max() < 1e-12
    # Cruising, it leans just enough to balance the drag: atan(0.25 * 0.7 / 9.81) = 1.02 degrees.
    assert math.degrees(start["pitch"][-1]) == pytest.approx(1.02, abs=0.03)
    brake = record(fleet, 0.0, 0.0, 3.0)
    assert -10.0 < math.degrees(brake["pitch"].min()) < -6.0
    assert abs(brake["vx"][-1]) < 0.01
    assert brake["vx"].min() > -0.014


@pytest.mark.parametrize("yaw_time", [0.06, 0.12, 0.3])
def test_rigid_yaw_response(yaw_time: float) -> None:
    flight = record(hovering(VehicleConfig(model="rigid", yaw_time_constant_s=yaw_time)), 0.0, -1.0, 2.0)
    assert time_to_63_percent(-flight["r"], 1.0) == pytest.approx(yaw_time, rel=0.05)
    assert -flight["r"].min() < 1.03
    assert flight["yaw"][-1] == pytest.approx(-(2.0 - yaw_time), abs=0.01)


@pytest.mark.parametrize("model", MODELS)
def test_straight_flight_covers_speed_times_time_minus_lag(model: Literal["lag", "rigid"]) -> None:
    # After T >> tau a first-order lag has flown u (T - tau) = 0.5 (6 - 0.5) = 2.75 m, along the heading.
    fleet = hovering(VehicleConfig(model=model), x=1.0, y=2.0, yaw=2.0)
    for _ in range(12):
        fleet.step([[0.5, 0.0]])
    expected = np.array([1.0, 2.0]) + 2.75 * np.array([math.cos(2.0), math.sin(2.0)])
    np.testing.assert_allclose(fleet.pose[0, :2], expected, atol=1e-5 if model == "lag" else 0.08)
    assert fleet.pose[0, 5] == pytest.approx(2.0)


@pytest.mark.parametrize("model", MODELS)
def test_signs_of_the_lean(model: Literal["lag", "rigid"]) -> None:
    # Body z in the frame turned by yaw is (sin p cos r, -sin r, cos p cos r), and thrust accelerates along
    # it: forward needs p > 0, left needs r < 0. A left turn (yaw rate > 0) accelerates to the left.
    fleet = hovering(VehicleConfig(model=model), yaw=1.0)
    start = record(fleet, 0.7, 0.0, 0.4)
    assert start["pitch"][-1] > math.radians(2.0)
    assert abs(start["roll"][-1]) < 1e-9
    cruise = record(fleet, 0.7, 0.0, 3.0)
    left = record(fleet, 0.7, 1.0, 4.0)
    # v follows u h(yaw) with lag tau; in a steady turn at w the thrust is a = u w / sqrt(1 + (w tau)^2), of
    # which a / sqrt(1 + (w tau)^2) points left: 0.7 / 1.25 = 0.56 m/s^2, so roll = -atan(0.56 / 9.81).
    assert left["roll"][-1] == pytest.approx(-math.atan(0.56 / 9.81), rel=0.01 if model == "lag" else 0.25)
    right = record(fleet, 0.7, -1.0, 4.0)
    assert right["roll"][-1] == pytest.approx(-left["roll"][-1], rel=0.05)
    assert record(fleet, 0.0, 0.0, 0.3)["pitch"][-1] < math.radians(-2.0)
    # Nothing jumps: with tilt_time_constant_s = 0.05 at most a third of an 8 degree change per sub-step.
    for flight in (start, cruise, left, right):
        assert np.abs(np.diff(flight["pitch"])).max() < math.radians(3.0)


@pytest.mark.parametrize("model", MODELS)
def test_a_column_stops_the_vehicle_and_counts_once_per_touch(model: Literal["lag", "rigid"]) -> None:
    # Column of radius 0.2 at x = 1, body of radius 0.08: the centre cannot pass x = 0.72. Slot 0 is padding.
    columns = np.array([[[0.5, 0.0, 0.0], [1.0, 0.0, 0.2]]])
    fleet = hovering(VehicleConfig(model=model))
    for _ in range(8):
        fleet.step([[0.7, 0.0]], obstacles=columns)
        assert fleet.track[0, :, 0].max() < 0.72 + 1e-6
    assert fleet.pose[0, 0] == pytest.approx(0.72, abs=1e-6)
    assert fleet.velocity[0, 0] == pytest.approx(0.0, abs=0.05)
    assert fleet.contacts.tolist() == [1]
    # Turn round (yaw to about pi), leave by more than 1 cm, and come back for a second touch.
    for speed, turn, steps in ((0.0, 1.0, 6), (0.0, 0.28, 1), (0.5, 0.0, 3), (0.0, 1.0, 6), (0.0, 0.28, 1)):
        for _ in range(steps):
            fleet.step([[speed, turn]], obstacles=columns)
    assert fleet.pose[0, 0] < 0.6
    assert fleet.contacts.tolist() == [1]
    for _ in range(6):
        fleet.step([[0.7, 0.0]], obstacles=columns)
    assert fleet.contacts.tolist() == [2]
    fleet.reset([0], 0.0, 0.0, 0.0)
    assert fleet.contacts.tolist() == [0]


def test_a_glancing_contact_keeps_the_tangential_velocity() -> None:
    # At y = 0.2 the rim of radius 0.28 is met at x = 1 - sqrt(0.28^2 - 0.2^2) = 0.804, after 1.63 s at
    # 0.673 m/s. The tangent there is (0.714, 0.700), so 0.673 * 0.714 = 0.481 m/s survive, 0.336 of them
    # along y; they die out within tau * 0.336 = 0.168 m, beyond the widest point: it flies on at y = 0.37.
    fleet = hovering(VehicleConfig(), y=0.2)
    columns = np.array([[[1.0, 0.0, 0.2]]])
    for _ in range(10):
        fleet.step([[0.7, 0.0]], obstacles=columns)
    assert fleet.contacts.tolist() == [1]
    assert fleet.pose[0, 1] == pytest.approx(0.37, abs=0.01)
    # The stop costs tau * (0.673 - 0.481 * 0.714) = 0.165 m of the 0.7 * (5 - 0.5) m of a free flight.
    assert fleet.pose[0, 0] == pytest.approx(3.15 - 0.165, abs=0.01)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), model=st.sampled_from(MODELS))
def test_bodies_never_enter_columns(seed: int, model: Literal["lag", "rigid"]) -> None:
    rng = np.random.default_rng(seed)
    columns = np.column_stack([rng.uniform(0.0, 2.0, (8, 2)), rng.uniform(0.05, 0.3, 8)])[None]
    distance = np.hypot(columns[0, :, 0] - 1.0, columns[0, :, 1] - 1.0)
    columns[0, distance < columns[0, :, 2] + 0.09, 2] = 0.0  # the start is free
    fleet = hovering(VehicleConfig(model=model, time_constant_s=0.3), x=1.0, y=1.0)
    for _ in range(12):
        fleet.step([[rng.uniform(0.3, 0.7), rng.uniform(-1.0, 1.0)]], obstacles=columns)
        offsets = fleet.track[0, :, None, :] - columns[0, None, :, :2]
        gaps = np.hypot(offsets[..., 0], offsets[..., 1]) - columns[0, :, 2] - 0.08
        assert gaps[:, columns[0, :, 2] > 0.0].min(initial=1.0) > -1e-12


@pytest.mark.parametrize("model", MODELS)
def test_a_vehicle_flies_the_same_bytes_alone_and_in_any_batch(model: Literal["lag", "rigid"]) -> None:
    config = VehicleConfig(model=model, **STORM)
    rng = np.random.default_rng(5)
    count = 37
    x, y, yaw = rng.uniform(0.0, 4.7, count), rng.uniform(0.0, 4.7, count), rng.uniform(-4.0, 4.0, count)
    columns = np.concatenate([rng.uniform(0, 4.7, (count, 6, 2)), rng.uniform(0, 0.3, (count, 6, 1))], axis=2)
    columns[:, 4:, 2] = 0.0
    setpoints = np.stack([rng.uniform(0, 0.8, (5, count)), rng.uniform(-1.2, 1.2, (5, count))], axis=2)

    def fly(chosen: list[int], padding: int) -> list[bytes]:
        """The chosen vehicles' bytes, after a flight with only ``padding`` of the obstacle slots passed."""
        fleet = Fleet(len(chosen), config)
        fleet.reset(range(len(chosen)), x[chosen], y[chosen], yaw[chosen], [100 + i for i in chosen])
        for row in setpoints:
            fleet.step(row[chosen], obstacles=columns[chosen, :padding])
        arrays = (fleet.pose, fleet.reported_pose, fleet.velocity, fleet.rates, fleet.track, fleet.contacts)
        return [b"".join(a[m].tobytes() for a in arrays) for m in range(len(chosen))]

    together = fly(list(range(count)), 6)
    for i in (0, 1, 17, 36):
        assert fly([i], 4) == [together[i]]
    assert fly([30, 2, 9], 6) == [together[30], together[2], together[9]]
    assert len(set(together)) == count


def test_resetting_some_vehicles_leaves_the_others_alone() -> None:
    config = VehicleConfig(**STORM)
    alone, pair = hovering(config, seed=1), Fleet(2, config)
    pair.reset([0, 1], 0.0, 0.0, 0.0, [1, 2])
    for k in range(4):
        if k == 2:
            pair.reset([1], 1.0, 1.0, 0.0, [3])
            np.testing.assert_array_equal(pair.track[1], 1.0)
        alone.step([[0.5, 0.2]])
        pair.step([[0.5, 0.2], [0.7, -1.0]])
    assert alone.pose[0].tobytes() == pair.pose[0].tobytes()
    assert alone.reported_pose[0].tobytes() == pair.reported_pose[0].tobytes()


def test_one_long_step_equals_many_short_ones() -> None:
    for model in MODELS:
        config = VehicleConfig(model=model, **STORM)
        long, short = hovering(config), hovering(config)
        long.step([[0.7, 0.5]], 0.5)
        for _ in range(5):
            short.step([[0.7, 0.5]], 0.1)
        assert long.pose.tobytes() == short.pose.tobytes()
        assert long.track.shape == (1, 25, 2)
        np.testing.assert_array_equal(long.track[0, -1], long.pose[0, :2])


@pytest.mark.parametrize("model", MODELS)
def test_wind_is_repeatable_and_pushes_downwind(model: Literal["lag", "rigid"]) -> None:
    gusty = VehicleConfig(model=model, wind=WindConfig(gust_m_s=1.0))
    ends = []
    for seed in (7, 7, 8):
        fleet = hovering(gusty, seed=seed)
        for _ in range(4):
            fleet.step([[0.3, 0.1]])
        ends.append(fleet.pose.tobytes())
    assert ends[0] == ends[1] != ends[2]

    # Steady wind of 2 m/s along +y: drag 0.25 * 2 = 0.5 m/s^2 against a loop of tau leaves a drift of
    # tau * 0.5 m/s = 0.25 m/s for the lag (tau = 0.5). The body leans into the wind, to the right: roll > 0,
    # atan(0.5 / 9.81) = 2.9 degrees less, for the rigid body, the drag of its own drift.
    steady = VehicleConfig(model=model, wind=WindConfig(speed_m_s=2.0, direction_rad=math.pi / 2))
    flight = record(hovering(steady), 0.0, 0.0, 5.0)
    assert flight["vy"][-1] == pytest.approx(0.25, rel=1e-3 if model == "lag" else 0.3)
    assert abs(flight["vx"][-1]) < 1e-9
    assert flight["roll"][-1] == pytest.approx(math.atan(0.5 / 9.81), rel=1e-3 if model == "lag" else 0.2)


def test_gusts_have_the_configured_strength_and_memory() -> None:
    config = VehicleConfig(wind=WindConfig(gust_m_s=0.6, gust_time_s=0.5))
    weather = Disturbances(50, config)
    for i in range(50):
        weather.reset(i, seed=i)
    gusts = weather.wind(2000)
    assert gusts.std() == pytest.approx(0.6, rel=0.05)
    # Correlation after one correlation time (25 sub-steps of 0.02 s) is 1/e.
    later = (gusts[:, 25:] * gusts[:, :-25]).mean() / gusts.var()
    assert later == pytest.approx(math.exp(-1.0), abs=0.05)


def test_pose_noise_touches_the_report_only() -> None:
    clear = Fleet(400)
    noisy = Fleet(400, VehicleConfig(position_noise_m=0.03, angle_noise_rad=0.02))
    for fleet in (clear, noisy):
        fleet.reset(range(400), 1.0, 2.0, math.pi, np.random.default_rng(0))
        fleet.step(np.tile([0.4, 0.0], (400, 1)))
    assert clear.pose.tobytes() == noisy.pose.tobytes() == clear.reported_pose.tobytes()
    error = noisy.reported_pose - noisy.pose
    error[:, 5] = np.remainder(error[:, 5] + math.pi, 2 * math.pi) - math.pi
    np.testing.assert_allclose(error.std(axis=0), [0.03] * 3 + [0.02] * 3, rtol=0.15)
    assert np.abs(noisy.reported_pose[:, 5]).max() <= math.pi


@pytest.mark.parametrize(("yaw_rate", "rolled"), [(2.0, -0.0016), (-2.0, 0.0016), (0.0, 0.0)])
def test_a_body_that_pitches_and_yaws_is_turned_about_its_third_axis(yaw_rate: float, rolled: float) -> None:
    # Euler: Ixy dp/dt = tau + (Ixy - Iz) q r. With q = 0.5 rad/s, r = 2 rad/s and Iz = 1.8 Ixy that is -0.8 rad/s^2,
    # in the 2 ms of one inner step -0.0016 rad/s. The controllers add nothing: it does not roll yet.
    fleet = hovering(VehicleConfig(model="rigid"))
    fleet._rates[0] = 0.0, 0.5, yaw_rate
    state = (fleet._pose, fleet._velocity, fleet._rates, fleet._attitude, fleet._motors, fleet._acceleration)
    one = np.zeros((1, 1, 2))
    fly_rigid(
        *state, np.zeros(1, np.int64), np.zeros((1, 0), np.bool_), np.zeros((1, 1, 3)), np.array([outer_loop(0.5)]),
        one, np.zeros((1, 0, 2)), np.zeros((1, 0, 3)), 0.002, 0.1, 0.7, 0.08,
    )  # fmt: skip
    assert fleet.rates[0, 0] == pytest.approx(rolled, abs=1e-9)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("latency", [0.1, 0.8])
def test_latency_shifts_the_response(model: Literal["lag", "rigid"], latency: float) -> None:
    prompt = record(hovering(VehicleConfig(model=model)), 0.7, 0.5, 2.0)
    late = record(hovering(VehicleConfig(model=model, latency_s=latency)), 0.7, 0.5, 2.0)
    shift = round(latency / SUB_STEP)
    np.testing.assert_array_equal(late["vx"][:shift], 0.0)
    # The rigid body hovers through the wait with rounding-size corrections.
    np.testing.assert_allclose(late["vx"][shift:], prompt["vx"][:-shift], rtol=0, atol=1e-9)
    np.testing.assert_allclose(late["yaw"][shift:], prompt["yaw"][:-shift], rtol=0, atol=1e-9)


def test_what_was_on_its_way_in_one_episode_does_not_arrive_in_the_next() -> None:
    # 0.3 s late: of 0.2 s at full speed nothing has come yet, and of two vehicles one begins anew.
    fleet = Fleet(2, VehicleConfig(latency_s=0.3))
    fleet.reset([0, 1], 0.0, 0.0, 0.0)
    fleet.step([[0.7, 0.5], [0.7, 0.5]], 0.2)
    fleet.reset([1], 0.0, 0.0, 0.0)
    fleet.step(np.zeros((2, 2)), 1.0)
    assert fleet.pose[0, 0] > 0.1
    np.testing.assert_array_equal(fleet.pose[1, [0, 1, 5]], 0.0)


def test_latencies_are_drawn_per_episode_and_each_is_its_own() -> None:
    drawn = VehicleConfig(randomise_latency=(0.0, 0.3))
    fleet = Fleet(200, drawn)
    fleet.reset(range(200), 0.0, 0.0, 0.0, np.random.default_rng(1))
    begun = np.zeros(200, np.int64)
    for number in range(1, 26):
        fleet.step(np.tile([0.7, 0.0], (200, 1)), SUB_STEP)
        begun = np.where((begun == 0) & (fleet.velocity[:, 0] > 0), number, begun)
    assert begun.min() == 1
    assert begun.max() == 16  # 0.3 s are 15 sub-steps
    assert len(set(begun.tolist())) == 16
    # A vehicle that drew k sub-steps flies as one that is always that late.
    alone = record(hovering(drawn, seed=5), 0.7, 0.5, 1.0)
    late = int(np.argmax(alone["vx"] > 0)) * SUB_STEP
    same = record(hovering(VehicleConfig(latency_s=late)), 0.7, 0.5, 1.0)
    np.testing.assert_array_equal(alone["vx"], same["vx"])
    np.testing.assert_array_equal(alone["yaw"], same["yaw"])


def test_time_constants_are_drawn_per_episode() -> None:
    fleet = Fleet(300, VehicleConfig(randomise=(0.3, 1.0)))
    fleet.reset(range(300), 0.0, 0.0, 0.0, np.random.default_rng(1))
    drawn = fleet.time_constants
    assert 0.3 <= drawn.min() < 0.33
    assert 0.97 < drawn.max() <= 1.0
    fleet.step(np.tile([0.7, 0.0], (300, 1)))
    np.testing.assert_allclose(fleet.velocity[:, 0], 0.7 * (1.0 - np.exp(-0.5 / drawn)), atol=1e-12)
    fleet.reset([4], 0.0, 0.0, 0.0, [9])
    assert fleet.time_constants[4] != drawn[4]


def test_setpoints_are_clipped() -> None:
    wild, legal = Fleet(2), Fleet(2)
    for fleet in (wild, legal):
        fleet.reset([0, 1], 0.0, 0.0, 0.0)
    wild.step([[math.inf, 5.0], [-3.0, -math.inf]])
    legal.step([[0.7, 1.0], [0.0, -1.0]])
    assert wild.pose.tobytes() == legal.pose.tobytes()


def test_bad_calls_are_refused_and_change_nothing() -> None:
    fleet = Fleet(2)
    with pytest.raises(ValueError, match=r"\[0, 1\] were never reset"):
        fleet.step(np.zeros((2, 2)))
    fleet.reset([0, 1], 0.0, 0.0, 0.0)
    before = fleet.pose.tobytes()
    for setpoints in ([[0.5, math.nan], [0.0, 0.0]], [[math.nan, 0.0], [0.0, 0.0]]):
        with pytest.raises(ValueError, match="NaN"):
            fleet.step(setpoints)
    with pytest.raises(ValueError, match=r"shape \(2, 2\)"):
        fleet.step([0.5, 0.0])
    with pytest.raises(ValueError, match=r"multiple of 0\.02"):
        fleet.step(np.zeros((2, 2)), 0.25 + 0.013)
    with pytest.raises(ValueError, match=r"shape \(2, K, 3\)"):
        fleet.step(np.zeros((2, 2)), obstacles=np.zeros((2, 3)))
    for bad in ([2], [-1], [0, 0]):
        with pytest.raises(ValueError, match="indices"):
            fleet.reset(bad, 0.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="finite"):
        fleet.reset([0], math.nan, 0.0, 0.0)
    with pytest.raises(ValueError, match="1 seeds, not 2"):
        fleet.reset([0], 0.0, 0.0, 0.0, [1, 2])
    with pytest.raises(ValueError, match="random"):
        Fleet(1, VehicleConfig(randomise=(0.3, 1.0))).reset([0], 0.0, 0.0, 0.0)
    assert fleet.pose.tobytes() == before


@pytest.mark.parametrize(
    "bad",
    [
        {"model": "helicopter"},
        {"time_constant_s": 0.0},
        {"time_constant_s": math.nan},
        {"model": "rigid", "time_constant_s": 0.1},
        {"model": "rigid", "randomise": (0.3, 2.0)},
        {"randomise": (1.0, 0.3)},
        {"latency_s": -0.1},
        {"latency_s": 1e9},
        {"latency_s": math.inf},
        {"randomise_latency": (0.3, 0.1)},
        {"randomise_latency": (-0.1, 0.1)},
        {"sub_step_s": 0.2},
    ],
)
def test_bad_settings_are_refused_in_one_line(bad: dict[str, Any]) -> None:
    with pytest.raises(WaywordError) as caught:
        VehicleConfig(**bad)
    assert "\n" not in str(caught.value)
