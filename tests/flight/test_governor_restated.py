"""The governor beside its rules said again in plain words (docs/safety.md), and its numbers.

Both are fed the same flights: a vehicle that lags and is noisy, a policy that dawdles and errs, things on the map, and
whatever may fail. After every tick the command, the reasons and what is remembered must be the same.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from wayword.flight import Decision, Fence, GovernorConfig, GovernorInputs, Kind, Mode, Reason, State, Telemetry, step
from wayword.flight.clearance import Around, cleared, joined_discs, squeezed_discs

CONFIG = GovernorConfig(silence_s=1.1)
ODD = GovernorConfig(
    0.04,
    0.8,
    1.1,
    1.2,
    2.2,
    5.0,
    1.4,
    0.6,
    1.9,
    0.45,
    0.25,
    0.9,
    0.8,
    0.15,
    0.7,
    0.25,
    0.12,
    0.05,
    3.0,
    0.09,
    0.6,
    0.6,
    0.22,
    0.3,
    0.25,
    0.12,
    59.0,
    20.0,
    2.0,
    1.2,
    4.0,
    4,
)
"""Every number is another one than usual, so that none is taken for another."""
BOX = Fence()
ELL = Fence(((0, 0), (5, 0), (5, 2.5), (2.5, 2.5), (2.5, 5), (0, 5)), 0.3, 1.5)
MAY_PASS = {"NO_DECISION", "BAD_OUTPUT", "NO_IMAGE", "NO_POSE", "LINK_LOST"}
AT_ONCE = {"PILOT_LAND", "BATTERY_EMPTY"}


def between(low: float, value: float, high: float) -> float:
    if value < low:
        return low
    return high if value > high else value


class PlainGovernor:
    """Says what is sent, tick by tick."""

    def __init__(self, state: State, fence: Fence, config: GovernorConfig) -> None:
        self.n = config
        self.fence, self.started = fence, state.started_s
        self.speed, self.velocity, self.turn = state.speed_m_s, state.velocity, state.yaw_rate_rad_s
        self.stuck, self.held = state.stuck_s, state.held_s
        self.before: Telemetry | None = None
        self.final: set[str] = set()
        self.fault_since: float | None = None
        self.faults_so_far = 0
        self.anchor: Any = None
        self.chosen = self.landing = self.landing_told = self.silent = False

    def tick(self, inputs: GovernorInputs) -> tuple[str, float, float, float, Any, set[str]]:
        """Kind, forward, left, turn, place to stay, reasons."""
        told = inputs.telemetry
        if told.mode_s > self.started and told.mode is not Mode.UNKNOWN and not self._ours(told.mode):
            self.silent = True
        if self.silent:
            self.final.add("TAKEN_OVER")
            return "silent", 0.0, 0.0, 0.0, None, set(self.final)
        now_wrong = self._wrong(inputs)
        self.landing_told |= self.landing and told.mode is Mode.LAND
        if self._placed(told):
            self.before = told
        self.final |= now_wrong - MAY_PASS
        if self.landing or self.final & AT_ONCE:
            return self._land(now_wrong)
        if now_wrong or self.final:
            if self.fault_since is None:
                self.fault_since = inputs.now_s
                self.faults_so_far += 1
            reasons = self.final | now_wrong
            if self.faults_so_far > self.n.most_holds:  # what came and went is not named any more
                self.final.add("FLAPPING")
                reasons = set(self.final)
            if inputs.now_s - self.fault_since >= self._patience(told, reasons) - 1e-9:
                return self._land(reasons)
            return self._hold(inputs, reasons, lost="POSE_JUMP" in self.final)
        self.fault_since = None
        if inputs.decision is None:
            return self._hold(inputs, set(), lost=False)
        return self._fly(inputs, inputs.decision)

    def _ours(self, mode: Mode) -> bool:
        if self.landing_told:
            return mode in (Mode.LAND, Mode.GROUND)
        return mode is Mode.OFFBOARD or (self.landing and mode in (Mode.LAND, Mode.GROUND))

    def _placed(self, told: Telemetry) -> bool:
        numbers = [told.pose_s, *told.pose, *told.velocity]
        return all(abs(number) < math.inf for number in numbers)

    def _wrong(self, inputs: GovernorInputs) -> set[str]:
        now, told, asked = inputs.now_s, inputs.telemetry, inputs.decision
        wrong = {
            "PILOT_LAND": inputs.land_asked,
            "BATTERY_LOW": told.battery is not None and self.n.battery_empty <= told.battery < self.n.battery_low,
            "BATTERY_EMPTY": told.battery is not None and not told.battery >= self.n.battery_empty,
            "LINK_LOST": now - told.link_s > self.n.link_s,
            "NO_IMAGE": not now - inputs.image_s <= self.n.image_s,
            "POLICY_FAILED": not inputs.policy_alive,
            "TIME_UP": now - self.started > self.n.max_flight_s + self.held,
        }
        if not self._placed(told) or now - told.pose_s > self.n.pose_s:
            wrong["NO_POSE"] = True
        else:
            x, y, z = told.pose[:3]
            wrong["POSE_JUMP"] = told.astray_m > self.n.jump_m or self._jumped(told)
            wrong["OUTSIDE"] = self.fence.distance(x, y) < 0
            wrong["ALTITUDE"] = not self.landing and (z < 0.3 or z > 1.5)
        made = self.started if asked is None else max(asked.made_s, self.started)
        wrong["NO_DECISION"] = not now - made <= self.n.decision_intervals * self.n.interval_s and not self.final
        if asked is not None:
            speed, turn = self.n.max_speed_m_s * self.n.wild, self.n.max_yaw_rate_rad_s * self.n.wild
            sane = -speed / 10 <= asked.forward_m_s <= speed and -turn <= asked.yaw_rate_rad_s <= turn
            wrong["BAD_OUTPUT"] = not sane
            wrong["ARRIVED"] = sane and asked.stop
            wrong["NO_IMAGE"] |= not asked.made_s - asked.image_s <= 2 * self.n.image_s
        return {name for name, is_so in wrong.items() if is_so}

    def _jumped(self, told: Telemetry) -> bool:
        if self.before is None:
            return False
        seconds = max(told.pose_s - self.before.pose_s, 0.0)
        doubtful = max(seconds - 0.1, 0.0)
        off = 0.0
        for axis in range(3):
            mean = (self.before.velocity[axis] + told.velocity[axis]) / 2
            off += (told.pose[axis] - self.before.pose[axis] - mean * seconds) ** 2
        turned = abs((told.pose[5] - self.before.pose[5] + math.pi) % (2 * math.pi) - math.pi)
        most = self.n.jump_rad + self.n.max_yaw_rate_rad_s * seconds + 2.0 * doubtful
        return math.sqrt(off) > self.n.jump_m + 1.0 * doubtful or turned > most

    def _patience(self, told: Telemetry, reasons: set[str]) -> float:
        if not self.final:
            return self.n.patience_s
        if reasons == {"ARRIVED"} and self.anchor is not None:
            away = math.dist(told.pose[:2], self.anchor[:2])
            return self.n.settle_s if away < 0.05 else self.n.return_s
        return self.n.settle_s

    def _land(self, reasons: set[str]) -> tuple[str, float, float, float, Any, set[str]]:
        self.landing = True
        self.final |= reasons
        self.speed, self.velocity, self.turn = 0.0, (0.0, 0.0), 0.0
        return "land", 0.0, 0.0, 0.0, None, set(self.final)

    def _hold(
        self, inputs: GovernorInputs, reasons: set[str], lost: bool
    ) -> tuple[str, float, float, float, Any, set[str]]:
        told = inputs.telemetry
        if lost:
            self.anchor, self.chosen = None, True
        if not self.chosen:
            self.chosen = True
            if self._placed(told) and inputs.now_s - told.pose_s <= self.n.pose_s:
                seconds = 0.7 * self.n.response_s + 0.5 * self.n.latency_s
                if reasons == {"ARRIVED"} and inputs.decision is not None:
                    seconds = -between(0.0, told.pose_s - inputs.decision.image_s, self.n.image_s)
                self.anchor = self._rest(told, seconds)
        self.speed, self.velocity, self.turn = 0.0, (0.0, 0.0), 0.0
        return "hold", 0.0, 0.0, 0.0, self.anchor, reasons

    def _rest(self, told: Telemetry, seconds: float) -> tuple[float, float, float]:
        x, y = told.pose[:2]
        dx, dy = told.velocity[0] * seconds, told.velocity[1] * seconds
        inside = self.n.margin_m + 0.1
        share = self.fence.reach(x, y, dx, dy, inside)
        x, y = x + dx * share, y + dy * share
        short = inside - self.fence.distance(x, y)
        if 0.01 < short < 2.0:
            inx, iny = self.fence.inwards(x, y)
            x, y = x + (short + 0.3) * inx, y + (short + 0.3) * iny
        return x, y, told.pose[5]

    def _fly(self, inputs: GovernorInputs, asked: Decision) -> tuple[str, float, float, float, Any, set[str]]:
        told, reasons, n = inputs.telemetry, set[str](), self.n
        x, y, yaw = told.pose[0], told.pose[1], told.pose[5]
        most = between(0.0, asked.forward_m_s, n.max_speed_m_s)
        forward, turn = most, between(-n.max_yaw_rate_rad_s, asked.yaw_rate_rad_s, n.max_yaw_rate_rad_s)
        reasons |= {"SPEED"} if abs(forward - asked.forward_m_s) > 1e-6 else set()
        reasons |= {"YAW"} if abs(turn - asked.yaw_rate_rad_s) > 1e-6 else set()
        age = inputs.now_s - max(asked.made_s, self.started)
        oldest = n.decision_intervals * n.interval_s
        fade = between(0.0, (oldest - age) / (oldest / 4), 1.0)
        reasons |= {"FADING"} if fade < 1 else set()
        wanted = forward * fade, turn * fade
        forward = max(wanted[0], self.speed - n.max_braking_m_s2 * n.period_s)
        bend = n.max_yaw_acceleration_rad_s2 * n.period_s
        turn = between(self.turn - bend, wanted[1], self.turn + bend)
        changed = abs(forward - wanted[0]) > 1e-6 or abs(turn - wanted[1]) > 1e-6
        reasons |= {"ACCELERATION"} if changed else set()

        pose_age = max(inputs.now_s - told.pose_s, 0.0)
        near = n.response_s + n.latency_s + n.period_s + pose_age
        far = near + n.silence_s
        wish = forward * math.cos(yaw), forward * math.sin(yaw)
        rest = tuple(
            told.pose[i] + (n.response_s + pose_age) * told.velocity[i] + n.latency_s * self.velocity[i] for i in (0, 1)
        )
        ahead = n.ahead_s + max(near - n.ahead_s, 0.0) * min(self.stuck, 1.0)
        things, groups = asked.obstacles, ()
        if self.stuck >= 1.0:
            room = n.clearance_m - (n.clearance_m - n.squeeze_m) * between(0.0, (self.stuck - 3.0) / n.squeeze_s, 1.0)
            joined = joined_discs(things, n.body_m + room + 0.01)
            groups = tuple(disc for disc in joined if disc not in asked.obstacles)
            things = squeezed_discs(asked.obstacles, n.body_m, n.clearance_m, room)
        ux, uy = cleared((x, y), rest, yaw, wish, things, Around(n.body_m + n.clearance_m, ahead, n.side_rad), groups)
        reasons |= {"CLEARANCE"} if math.dist((ux, uy), wish) > 1e-6 else set()

        share, brake = self._fenced(told, ux, uy, near, far)
        reasons |= {"FENCE"} if share < 1 or brake else set()
        if brake:
            return self._hold(inputs, reasons, lost=False)
        speed = share * math.hypot(ux, uy)
        most_now = self.speed + n.max_acceleration_m_s2 * n.period_s
        if speed > most_now + 1e-6:
            share *= most_now / speed
            reasons.add("ACCELERATION")
        along = share * (ux * math.cos(yaw) + uy * math.sin(yaw))
        left = share * (-ux * math.sin(yaw) + uy * math.cos(yaw))
        along = between(-0.2, along, n.max_speed_m_s)
        self.velocity = (
            along * math.cos(yaw) - left * math.sin(yaw),
            along * math.sin(yaw) + left * math.cos(yaw),
        )
        self.speed, self.turn = math.hypot(along, left), turn
        self.anchor, self.chosen = None, False
        if most >= 0.1:  # else it asks for nothing, and nothing can be lost
            lost = max(1 - self.speed / most, 0.0) if reasons & {"CLEARANCE", "FENCE"} else 0.0
            stuck = "CLEARANCE" in reasons and lost > 0.7
            self.stuck = between(0.0, self.stuck + (n.period_s if stuck else -n.period_s / 2), 3.0 + n.squeeze_s)
            self.held = min(self.held + n.period_s * lost, n.max_held_s)
        return "velocity", along, left, turn, None, reasons

    def _fenced(self, told: Telemetry, ux: float, uy: float, near: float, far: float) -> tuple[float, bool]:
        (x, y), (vx, vy), margin = told.pose[:2], told.velocity[:2], self.n.margin_m
        moving, asks = math.hypot(vx, vy) > 0.1, (ux, uy) != (0.0, 0.0)
        if moving and self.fence.reach(x, y, vx * near, vy * near, margin) < 1:
            return 0.0, True
        share = self.fence.reach(x, y, ux * far, uy * far, margin) if asks else 1.0
        if self.fence.distance(x, y) < 0.8 * margin and not (asks and share > 0):
            return 0.0, True
        if moving and self.fence.reach(x, y, vx * far, vy * far, margin) < 1:
            return 0.0, False
        return share, False


class Trouble:
    """One flight: what is heard and asked at every tick, as dull or as bad as its kind says."""

    def __init__(self, kind: str, seed: int, tick_s: float = 0.05) -> None:
        self.tick_s = tick_s
        self.kind, self.rng = kind, np.random.default_rng((seed, len(kind)))
        self.fence = ELL if kind == "ell" else BOX
        r = self.rng
        self.now = 5.0
        self.pose = np.array([*r.uniform(0.6, 4.2, 2), 0.7, 0.0, 0.0, r.uniform(-3.1, 3.1)])
        if kind in ("edge", "ell"):
            self.pose[:2] = (r.uniform(4.2, 5.6), r.uniform(0.5, 4.5)) if kind == "edge" else r.uniform(0.4, 2.4, 2)
        self.velocity = np.zeros(3)
        self.asked: Decision | None = None
        self.things = tuple(
            (float(x), float(y), float(radius))
            for x, y, radius in np.column_stack(
                [self.pose[:2] + r.normal(0, 0.7, (5, 2)), r.uniform(0.1, 0.25, 5)]
            )
        )  # fmt: skip
        self.image_s, self.pose_s, self.alive = self.now, self.now, True
        self.mode, self.battery, self.astray = Mode.OFFBOARD, 0.8, 0.0
        self.often = r.choice([0.0, 0.0, 1.0, 5.0], 8)  # of each fault
        started = self.now - (r.uniform(55, 60) if kind == "late" else r.uniform(0, 1))
        self.state = State(
            started,
            speed_m_s=float(r.uniform(0, 0.7)),
            stuck_s=float(r.uniform(0, 7)) if kind == "things" else 0.0,
            held_s=float(r.choice([0.0, 1.0, 19.98, 29.98])) if kind == "late" else 0.0,
        )

    def rarely(self, chance: float) -> bool:
        return bool(self.rng.random() < chance)

    def inputs(self, forward: float, left: float, turn: float) -> GovernorInputs:
        """The vehicle follows the last command with a lag, and time goes on."""
        r, bad = self.rng, self.kind == "faults"
        self.now += self.tick_s
        yaw = self.pose[5]
        told = np.array(
            [forward * math.cos(yaw) - left * math.sin(yaw), forward * math.sin(yaw) + left * math.cos(yaw)]
        )
        gust = r.normal(0, 0.3, 2) if self.kind == "edge" and self.rarely(0.1) else 0.0
        self.velocity[:2] += (told - self.velocity[:2]) * self.tick_s / 0.7 + gust
        self.pose[:3] += self.velocity * self.tick_s
        self.pose[5] = math.remainder(yaw + turn * self.tick_s, 2 * math.pi)
        if not (bad and self.rarely(0.15)):
            self.image_s = self.now - r.uniform(0, 0.1)
        if not (bad and self.rarely(0.15)):
            self.pose_s = self.now - r.uniform(-0.03, 0.15)  # a clock may run ahead
        due = self.asked is None or self.now - self.asked.made_s > (r.uniform(0.4, 1.1) if bad else 0.5)
        if due and self.rarely(0.9):
            self._decide()
        if bad:
            o = self.often
            self.image_s -= 0.6 * self.rarely(0.01 * o[0])
            self.pose[:2] += r.uniform(-0.3, 0.3, 2) * self.rarely(0.004 * o[1])
            self.pose[5] += 0.5 * self.rarely(0.003 * o[1])
            self.pose[2] = r.choice([0.27, 0.33, 1.47, 1.53]) if self.rarely(0.003 * o[2]) else self.pose[2]
            self.pose[0] += (4.0 if self.rarely(0.5) else -4.0) * self.rarely(0.003 * o[2])
            self.battery = (
                float(r.choice([0.26, 0.24, 0.21, 0.2, 0.15, 0.11, 0.1, 0.09]))
                if self.rarely(0.004 * o[3])
                else self.battery
            )
            self.alive &= not self.rarely(0.003 * o[4])
            self.astray = float(r.choice([0.21, 0.23, 0.26])) if self.rarely(0.003 * o[5]) else 0.0
        if self.kind in ("modes", "stop"):
            self.mode = self._mode()
        pose = tuple(self.pose + np.array([*r.normal(0, 0.005, 3), 0, 0, r.normal(0, 0.005)]))
        heard = self.now - (1.2 if bad and self.rarely(0.004 * self.often[6]) else 0.0)
        early = self.kind == "modes" and self.state.started_s > self.now - 1.5  # it was told before the flight
        told_mode = self.state.started_s - 0.1 if early else heard
        if bad and self.rarely(0.004 * self.often[6]):
            pose = (math.nan, *pose[1:])
        telemetry = Telemetry(
            pose, tuple(self.velocity), self.pose_s, heard, self.mode, told_mode, True, False, self.battery, self.astray
        )  # type: ignore[arg-type]
        return GovernorInputs(
            self.now,
            telemetry,
            self.image_s,
            self.asked,
            self.alive,
            (bad or self.kind == "modes") and self.rarely(0.001 * self.often[7]),
        )

    def _decide(self) -> None:
        r = self.rng
        forward, turn = r.uniform(-0.05, 0.9), r.uniform(-1.3, 1.3)
        forward = 0.0 if self.rarely(0.15) else forward
        if self.kind == "faults" and self.rarely(0.05 * self.often[7]):
            forward, turn = r.choice([0.5, 1.1, -0.2, math.nan]), r.choice([0.0, 1.6, -1.6])
        stop = self.rarely(0.3 if self.kind == "stop" else 0.02 if self.kind in ("faults", "modes") else 0.0)
        seen = self.image_s - (1.1 if self.kind == "faults" and self.rarely(0.05 * self.often[0]) else 0.0)
        near = [disc for disc in self.things if math.hypot(disc[0] - self.pose[0], disc[1] - self.pose[1]) > 0.1]
        obstacles = tuple(near) if self.kind in ("things", "stop") else ()
        self.asked = Decision(float(forward), float(turn), stop, self.now - r.uniform(0, 0.05), seen, obstacles)

    def _mode(self) -> Mode:
        if self.rarely(0.01):
            return Mode(self.rng.choice(list(Mode)))
        return Mode.UNKNOWN if self.rarely(0.2) else self.mode if self.rarely(0.9) else Mode.OFFBOARD


FLIGHTS = {"dull": 3, "edge": 10, "ell": 8, "things": 10, "faults": 40, "modes": 10, "stop": 12, "late": 6}


@pytest.mark.parametrize(("kind", "seed"), [(kind, seed) for kind, count in FLIGHTS.items() for seed in range(count)])
def test_the_governor_does_what_its_rules_say(kind: str, seed: int) -> None:
    fly_beside_the_rules(kind, seed, CONFIG)


@pytest.mark.parametrize(
    ("kind", "seed"), [(kind, seed) for kind, count in FLIGHTS.items() for seed in range(0, count, 2)]
)
def test_it_does_so_with_other_numbers(kind: str, seed: int) -> None:
    fly_beside_the_rules(kind, seed, ODD)


def fly_beside_the_rules(kind: str, seed: int, config: GovernorConfig) -> None:
    flight = Trouble(kind, seed, config.period_s)
    state, plain = flight.state, PlainGovernor(flight.state, flight.fence, config)
    forward = left = turn = 0.0
    for _ in range(110):
        inputs = flight.inputs(forward, left, turn)
        state, command = step(config, flight.fence, state, inputs)
        kind_said, forward, left, turn, anchor, reasons = plain.tick(inputs)
        assert (command.kind, set(command.reasons)) == (Kind(kind_said), {Reason(reason) for reason in reasons})
        assert state.reasons == command.reasons
        sent = command.forward_m_s, command.left_m_s, command.yaw_rate_rad_s
        assert sent == pytest.approx((forward, left, turn), abs=1e-9)
        assert (command.anchor is None) == (anchor is None)
        assert command.anchor is None or command.anchor == pytest.approx(anchor, abs=1e-9)
        assert (state.speed_m_s, *state.velocity, state.yaw_rate_rad_s) == pytest.approx(
            (plain.speed, *plain.velocity, plain.turn), abs=1e-9
        )
        assert (state.stuck_s, state.held_s) == pytest.approx((plain.stuck, plain.held), abs=1e-9)
        assert (state.holds, state.hold_s) == (plain.faults_so_far, plain.fault_since)
        assert {reason.value for reason in state.lasting} == plain.final
        assert (state.anchored, state.last_pose) == (plain.chosen, plain.before)
        assert (state.landing, state.landing_seen, state.silent) == (plain.landing, plain.landing_told, plain.silent)


def test_flights_above_come_to_everything() -> None:
    """Every kind of command and every reason."""
    kinds, reasons, stuck = set(), set(), 0.0
    for kind in ("faults", "modes", "things", "late", "edge"):
        for seed in range(FLIGHTS[kind]):
            flight = Trouble(kind, seed)
            plain, forward, left, turn = PlainGovernor(flight.state, flight.fence, CONFIG), 0.0, 0.0, 0.0
            for _ in range(110):
                said, forward, left, turn, _, why = plain.tick(flight.inputs(forward, left, turn))
                kinds.add(said)
                reasons |= why
                stuck = max(stuck, plain.stuck)
    assert kinds == {"velocity", "hold", "land", "silent"}
    assert reasons == {reason.value for reason in Reason}
    assert stuck > 3.0


NUMBERS = {
    "period_s": 0.05, "max_speed_m_s": 0.7, "max_yaw_rate_rad_s": 1.0, "max_acceleration_m_s2": 1.0,
    "max_braking_m_s2": 2.0, "max_yaw_acceleration_rad_s2": 6.0, "wild": 1.5, "interval_s": 0.5,
    "decision_intervals": 2.0, "image_s": 0.5, "pose_s": 0.3, "link_s": 1.0, "response_s": 1.0, "latency_s": 0.2,
    "silence_s": 1.6, "margin_m": 0.3, "clearance_m": 0.10, "squeeze_m": 0.04, "squeeze_s": 4.0, "body_m": 0.08,
    "ahead_s": 0.5, "side_rad": 0.7, "jump_m": 0.25, "jump_rad": 0.35, "battery_low": 0.2, "battery_empty": 0.1,
    "max_flight_s": 60.0, "max_held_s": 30.0, "patience_s": 3.0, "settle_s": 1.5, "return_s": 6.0, "most_holds": 5,
}  # fmt: skip


def test_the_numbers_are_those_of_the_page() -> None:
    assert all(value != NUMBERS[name] for name, value in vars(ODD).items())
    assert vars(GovernorConfig()) == NUMBERS
    assert vars(replace(GovernorConfig(), wild=2.0)) == {**NUMBERS, "wild": 2.0}


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("period_s", (0.01, 0.1), (0.0099, 0.101)),
        ("max_speed_m_s", (0.0, 5.0), (5.01,)),
        ("interval_s", (0.01,), (0.0,)),
    ],
)
def test_settings_at_both_sides_of_their_bounds(name: str, good: tuple[float, ...], bad: tuple[float, ...]) -> None:
    for value in good:
        assert getattr(GovernorConfig(**{name: value}), name) == value
    for value in bad:
        with pytest.raises(Exception, match="governor settings"):
            GovernorConfig(**{name: value})
