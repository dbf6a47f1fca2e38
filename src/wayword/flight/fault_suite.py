"""The fault suite of docs/safety.md: every case with its allowed ending, reason codes and distances."""

from __future__ import annotations

import math
from dataclasses import replace

from wayword.flight.autopilot_config import AutopilotModelConfig
from wayword.flight.faults import Case, FaultScene, SceneChange
from wayword.flight.reasons import Reason
from wayword.mapping.standing import Disc


def _link(up: bool) -> SceneChange:
    def turn(scene: FaultScene) -> None:
        scene.vehicle.link.up = up

    return turn


def _set(**values: object) -> SceneChange:
    """Change the link, the mind or the body by the name of the attribute."""

    def turn(scene: FaultScene) -> None:
        for name, value in values.items():
            owner = next(part for part in (scene.vehicle.link, scene.mind, scene.body) if hasattr(part, name))
            setattr(owner, name, value)

    return turn


def _wind(speed_m_s: float) -> SceneChange:
    """A wind towards +x sets in at once, with gusts of 15 % of it."""

    def turn(scene: FaultScene) -> None:
        body = scene.body
        body.config = replace(body.config, wind_m_s=(speed_m_s, 0.0), gust_m_s=0.15 * speed_m_s)

    return turn


_LANDED = ("landed",)
_AUTOPILOT = ("landed by its autopilot or pilot",)
_PX4 = AutopilotModelConfig(silence_s=1.6, comes_back=True, speed_share=0.8)
_ARDUPILOT = AutopilotModelConfig(silence_s=3.9, on_silence="stop", heartbeat_s=5.0)
_SLOW = AutopilotModelConfig(time_constant_s=1.0, latency_s=0.2)
_THING: tuple[Disc, ...] = ((3.6, 2.35, 0.2),)
_MIDDLE = (2.35, 2.35, 0.0)


def cases() -> list[Case]:
    """The suite of docs/safety.md. Without a fault the mind flies on until the time is up."""
    return [
        Case("no fault", "a flight that ends when the policy says so", _set(), _LANDED, (Reason.ARRIVED,), math.inf,
             stop_after=20),
        Case("frozen image", "one frame again and again", _set(camera_frozen=True), _LANDED, (Reason.NO_IMAGE,), 1.6),
        Case("dropped frames", "no frames for 0.4 s: less than the limit", _set(camera_up=False), _LANDED,
             (Reason.TIME_UP,), math.inf, end=_set(camera_up=True), lasts_s=0.4),
        Case("camera lost", "no frames any more", _set(camera_up=False), _LANDED, (Reason.NO_IMAGE,), 1.6),
        Case("late frames", "frames arrive 0.9 s late", _set(camera_delay_s=0.9), _LANDED, (Reason.NO_IMAGE,), 1.6),
        Case("pose jump", "the estimate jumps by 1 m", lambda scene: scene.body.jump(0.8, 0.6), _LANDED,
             (Reason.POSE_JUMP,), 1.2),
        Case("pose lost", "no poses any more", _set(pose_up=False), _LANDED, (Reason.NO_POSE,), 1.3),
        Case("policy hangs", "no more decisions", _set(hang=True), _LANDED, (Reason.NO_DECISION,), 1.9),
        Case("policy crashes", "an exception in the policy", _set(crash=True), _LANDED, (Reason.POLICY_FAILED,), 1.4),
        Case("NaN from a network", "the answer is NaN", _set(nonsense=math.nan), _LANDED, (Reason.BAD_OUTPUT,), 1.4),
        Case("wild output", "the policy asks for 40 m/s", _set(nonsense=40.0), _LANDED, (Reason.BAD_OUTPUT,), 1.4),
        Case("battery low", "15 % left", _set(battery=0.15), _LANDED, (Reason.BATTERY_LOW,), 1.0),
        Case("battery empty", "5 % left", _set(battery=0.05), _LANDED, (Reason.BATTERY_EMPTY,), 1.0),
        Case("link lost for 0.5 s", "shorter than the autopilot's timer", _link(False), _LANDED,
             (Reason.NO_POSE, Reason.TIME_UP), math.inf, end=_link(True), lasts_s=0.5),
        Case("link lost for 2 s, PX4", "the autopilot leaves offboard after 1.6 s", _link(False), _AUTOPILOT,
             (Reason.NO_POSE, Reason.TAKEN_OVER), 2.2, end=_link(True), lasts_s=2.0, model=_PX4),
        Case("link lost for 2 s, ArduPilot", "back before its timer of 3.9 s", _link(False), _LANDED,
             (Reason.NO_POSE,), math.inf, end=_link(True), lasts_s=2.0, model=_ARDUPILOT),
        Case("link lost for 10 s, PX4", "the autopilot lands by itself", _link(False), _LANDED,
             (Reason.LINK_LOST,), 2.2, end=_link(True), lasts_s=10.0, model=_PX4),
        Case("link lost for 10 s, ArduPilot", "it stands still after 3.9 s and lands after 5 s", _link(False), _LANDED,
             (Reason.LINK_LOST,), 3.6, end=_link(True), lasts_s=10.0, model=_ARDUPILOT),
        Case("process killed", "nothing is sent any more (kill -9; also tested on loopback)", _link(False), ("lost",),
             (), 2.2),
        Case("pilot takes over", "the autopilot is switched to position hold", lambda scene: _hold(scene),
             ("taken over", "landed by its autopilot or pilot"), (Reason.TAKEN_OVER,), 1.0),
        Case("wind", "1.5 m/s, gusts of 0.5 m/s, while it flies circles", _set(), _LANDED, (Reason.TIME_UP,), math.inf,
             model=AutopilotModelConfig(wind_m_s=(1.5, 0.0), gust_m_s=0.5)),
        Case("wind at the fence", "2.5 m/s all at once, gusts, outwards, at the edge", _wind(2.5), _LANDED,
             (Reason.FENCE, Reason.TIME_UP), math.inf, turn_rad_s=0.0, start=(4.5, 1.5, 0.0)),
        Case("wind along the fence", "2.5 m/s all at once, gusts, outwards, beside the edge", _wind(2.5), _LANDED,
             (Reason.FENCE, Reason.TIME_UP), math.inf, turn_rad_s=0.0, start=(5.35, 0.5, math.pi / 2), fault_s=3.0),
        Case("wind at the fence, slow vehicle", "1.5 m/s all at once, gusts, outwards", _wind(1.5), _LANDED,
             (Reason.FENCE, Reason.TIME_UP), math.inf, model=_SLOW, turn_rad_s=0.0, start=(4.5, 1.5, 0.0)),
        Case("object ahead", "straight at it at full speed", _set(), _LANDED, (Reason.CLEARANCE, Reason.TIME_UP),
             math.inf, turn_rad_s=0.0, start=(0.6, 2.35, 0.0), fault_s=0.5, columns=_THING, least_gap_m=0.05),
        Case("object ahead, slow vehicle", "time constant 1.0 s, latency 0.2 s, at full speed", _set(), _LANDED,
             (Reason.CLEARANCE, Reason.TIME_UP), math.inf, model=_SLOW, turn_rad_s=0.0, start=(0.6, 2.35, 0.0),
             fault_s=0.5, columns=_THING, least_gap_m=0.05),
        Case("slow vehicle", "time constant 1.0 s, latency 0.2 s, straight at the fence", _set(), _LANDED,
             (Reason.FENCE, Reason.TIME_UP), math.inf, model=_SLOW, turn_rad_s=0.0, start=_MIDDLE, fault_s=0.5),
        Case("fence edge at full speed", "straight on, as fast as allowed", _set(), _LANDED,
             (Reason.FENCE, Reason.TIME_UP), math.inf, turn_rad_s=0.0, start=_MIDDLE, fault_s=0.5),
        Case("link lost at the fence", "straight on at full speed, then silence", _link(False), ("lost",),
             (Reason.NO_POSE, Reason.LINK_LOST), 2.2, turn_rad_s=0.0, start=_MIDDLE, fault_s=3.0),
        Case("link lost at the fence, ArduPilot", "the same with a timer of 3.9 s", _link(False), ("lost",),
             (Reason.NO_POSE, Reason.LINK_LOST), 3.6, model=_ARDUPILOT, turn_rad_s=0.0, start=_MIDDLE,
             fault_s=3.0),
    ]  # fmt: skip


def _hold(scene: FaultScene) -> None:
    scene.body.hold()
