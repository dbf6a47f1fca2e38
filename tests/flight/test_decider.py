"""When a mind is asked, on which image and from which place, and what becomes of it when it fails."""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest

from wayword.camera import Camera
from wayword.flight import Shot, Telemetry
from wayword.flight.blackbox import BlackBox, decode_image, read_box
from wayword.flight.decider import Decider, PolicyMind, Wish
from wayword.flight.vehicle import Pose
from wayword.policy import Observations


@dataclass
class Clock:
    """A vehicle of which only the clock and the camera matter."""

    time_s: float = 0.0
    newest: Shot | None = None

    def now(self) -> float:
        return self.time_s

    def shot(self) -> Shot | None:
        return self.newest

    def telemetry(self) -> Telemetry:
        return Telemetry()


@dataclass
class Asked:
    """A mind that writes down what it was shown."""

    stop_after: int = 99
    seen: list[tuple[int, Pose]] = field(default_factory=list)
    closed: bool = False

    def begin_anew(self) -> None:
        self.seen.clear()

    def decide(self, pixels: np.ndarray, pose: Pose) -> Wish:
        self.seen.append((int(pixels[0, 0, 0]), pose))
        return Wish(0.1 * len(self.seen), 0.0, len(self.seen) >= self.stop_after, ((1.0, 2.0, 0.1),))

    def close(self) -> None:
        self.closed = True


def picture(number: int) -> np.ndarray:
    return np.full((2, 4, 3), number, np.uint8)


def fly(decider: Decider, vehicle: Clock, seconds: float, frame_s: float = 0.1) -> None:
    """Twenty polls a second; a new image now and then, taken where x is the time."""
    for _ in range(round(seconds / 0.05)):
        vehicle.time_s = round(vehicle.time_s + 0.05, 9)
        now = vehicle.time_s
        decider.poses.add(now, (now, 0.0, 0.7, 0.0, 0.0, 0.0))
        if round(now / 0.05) % round(frame_s / 0.05) == 0:
            vehicle.newest = Shot(picture(round(now * 20)), now)
        decider.poll()
        decider.latest()


@pytest.fixture
def vehicle() -> Clock:
    return Clock()


def test_it_is_asked_twice_a_second(vehicle: Clock):
    mind = Asked()
    decider = Decider(vehicle, mind)
    fly(decider, vehicle, 3.0)
    # The first image comes at 0.1 s; then every half second, at 0.6, 1.1, ...
    assert [number for number, _ in mind.seen] == [2, 12, 22, 32, 42, 52]
    assert decider.count == 6
    # From where the vehicle was when the image was taken.
    assert [pose[0] for _, pose in mind.seen] == pytest.approx([0.1, 0.6, 1.1, 1.6, 2.1, 2.6])


def test_a_decision_is_ready_after_the_latency(vehicle: Clock):
    decider = Decider(vehicle, Asked(), latency_s=0.2)
    vehicle.time_s, vehicle.newest = 1.0, Shot(picture(7), 0.9)
    decider.poses.add(0.9, (0.0,) * 6)
    decider.poll()
    assert decider.latest() is None
    vehicle.time_s = 1.19
    assert decider.latest() is None
    vehicle.time_s = 1.2
    decision = decider.latest()
    assert decision is not None
    assert (decision.made_s, decision.image_s, decision.forward_m_s) == (pytest.approx(1.2), 0.9, 0.1)
    assert decision.obstacles == ((1.0, 2.0, 0.1),)


def test_no_image_is_decided_on_twice(vehicle: Clock):
    mind = Asked()
    decider = Decider(vehicle, mind)
    fly(decider, vehicle, 0.1)
    for _ in range(40):  # two seconds, and the camera is silent
        vehicle.time_s += 0.05
        decider.poll()
        decider.latest()
    assert len(mind.seen) == 1
    # An older image than the last is no new one either.
    vehicle.newest = Shot(picture(9), 0.05)
    decider.poll()
    assert len(mind.seen) == 1
    # A new one is decided on at once. The four that were missed are not made up for: in the second that follows, with
    # ten new images, it is asked two or three times.
    vehicle.newest = Shot(picture(10), vehicle.time_s)
    decider.poses.add(vehicle.time_s, (0.0,) * 6)
    decider.poll()
    assert len(mind.seen) == 2
    decider.latest()
    fly(decider, vehicle, 1.0)
    assert len(mind.seen) - 2 in (2, 3)


def test_without_an_image_or_a_pose_there_is_nothing_to_decide_on(vehicle: Clock):
    mind = Asked()
    decider = Decider(vehicle, mind)
    decider.poll()
    vehicle.newest = Shot(picture(1), 0.0)
    decider.poll()
    assert mind.seen == []
    decider.poses.add(0.0, (0.0,) * 6)
    decider.poll()
    assert len(mind.seen) == 1


def test_what_has_arrived_is_not_asked_again(vehicle: Clock):
    mind = Asked(stop_after=2)
    decider = Decider(vehicle, mind)
    fly(decider, vehicle, 0.6)
    assert not decider.over  # the second decision, at 0.6 s, is not ready yet
    fly(decider, vehicle, 2.0)
    assert decider.over
    assert len(mind.seen) == 2


def test_a_mind_that_raises_is_dead_and_says_why(vehicle: Clock, tmp_path):
    class Broken(Asked):
        def decide(self, pixels: np.ndarray, pose: Pose) -> Wish:
            if len(self.seen) == 1:
                raise ValueError("no such thing")
            return super().decide(pixels, pose)

    box = BlackBox(tmp_path / "flight.box")
    decider = Decider(vehicle, Broken(), box=box)
    fly(decider, vehicle, 2.0)
    box.close()
    assert (decider.alive, decider.error) == (False, "ValueError: no such thing")
    assert decider.count == 1
    assert decider.latest() is not None  # what it decided before stands, and grows old
    (record,) = read_box(tmp_path / "flight.box").of("policy failed")
    assert record["error"] == "ValueError: no such thing"


def test_a_mind_that_never_answers_leaves_the_decision_out(vehicle: Clock):
    class Hanging(Asked):
        def decide(self, pixels: np.ndarray, pose: Pose) -> Wish:
            return None  # type: ignore[return-value]

    decider = Decider(vehicle, Hanging())
    fly(decider, vehicle, 2.0)
    assert (decider.alive, decider.count, decider.latest()) == (True, 0, None)


def test_decisions_are_recorded_with_their_image(vehicle: Clock, tmp_path):
    box = BlackBox(tmp_path / "flight.box")
    fly(Decider(vehicle, Asked(), box=box), vehicle, 1.2)
    box.close()
    first, second, third = read_box(tmp_path / "flight.box").of("decision")
    assert np.array_equal(decode_image(first["image"]), picture(2))
    assert np.array_equal(decode_image(second["image"]), picture(12))
    assert third["pose"][0] == pytest.approx(1.1)
    assert third["decision"]["image_s"] == pytest.approx(1.1)
    assert third["decision"]["made_s"] == pytest.approx(1.15)


def test_in_a_thread_it_goes_on_by_itself_and_stops_when_told():
    @dataclass
    class Live(Clock):
        def now(self) -> float:
            return time.monotonic()

        def shot(self) -> Shot:
            now = time.monotonic()
            decider.poses.add(now, (0.0,) * 6)
            return Shot(picture(1), now)

    mind, enough = Asked(), threading.Event()
    decider = Decider(Live(), mind, interval_s=0.01)
    decider.poses.add(0.0, (0.0,) * 6)
    decider.start()
    deadline = time.monotonic() + 20
    while len(mind.seen) < 3 and time.monotonic() < deadline:
        enough.wait(0.01)
    decider.stop()
    assert len(mind.seen) >= 3
    assert mind.closed
    latest = decider.latest()
    assert latest is not None
    assert latest.made_s >= latest.image_s  # ready when the mind had answered, not a latency later


@dataclass
class Recorder:
    """A policy that keeps what it was given and answers with fixed numbers."""

    answer: tuple[float, float, float]
    given: list = field(default_factory=list)
    resets: int = 0

    def reset(self, instructions: list[str], objects: list) -> None:
        self.resets += 1
        self.given.append((instructions, objects))

    def act(self, observations: Observations) -> np.ndarray:
        self.given.append(observations)
        return np.array([self.answer])


@pytest.mark.parametrize(("p_stop", "stops"), [(0.0, False), (0.5, False), (0.51, True), (1.0, True)])
def test_a_policy_stops_above_one_half(p_stop: float, stops: bool):
    policy = Recorder((0.3, -0.2, p_stop))
    mind = PolicyMind(policy, "go", {"what": "it was taught"})
    assert policy.given == [(["go"], [{"what": "it was taught"}])]
    wish = mind.decide(np.zeros((72, 128, 3), np.uint8), (1.0, 2.0, 0.7, 0.0, 0.1, 0.5))
    assert (wish.forward_m_s, wish.yaw_rate_rad_s, wish.stop) == (0.3, -0.2, stops)
    assert wish.obstacles == ()
    seen = policy.given[-1]
    assert seen.images.shape == (1, 72, 128, 3)
    assert seen.poses.tolist() == [[1.0, 2.0, 0.7, 0.0, 0.1, 0.5]]
    mind.begin_anew()
    assert policy.resets == 2


def test_what_a_narrower_camera_does_not_see_is_not_doubted():
    """A thing 40 degrees to the left: 84 degrees across show it, 60 do not. Its place is looked at again, and empty."""

    @dataclass
    class Thought:
        footprints: np.ndarray
        grounding: SimpleNamespace

    class Looker(Recorder):
        camera = Camera()
        prints = np.array([[2.0 + 1.5 * math.cos(0.6), 2.0 + 1.5 * math.sin(0.6), 0.15, 1.0]])

        def thought(self, slot: int) -> Thought:
            prints, self.prints = self.prints, np.zeros((0, 4))
            return Thought(prints, SimpleNamespace(p_box=np.ones(len(prints))))

    def looks(camera: Camera) -> list[int]:
        policy = Looker((0.0, 0.0, 0.0))
        policy.camera = camera
        mind, image = PolicyMind(policy, "go"), np.zeros((72, 128, 3), np.uint8)
        return [len(mind.decide(image, (2.0, 2.0, 0.7, 0.0, 0.0, 0.08)).obstacles) for _ in range(5)]

    assert looks(Camera()) == [1, 1, 0, 0, 0]
    assert looks(Camera(hfov_deg=60.0)) == [1, 1, 1, 1, 1]
