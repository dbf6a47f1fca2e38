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
from wayword.flight.decider import Decider, PolicyMind, Poses, Wish
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


def test_an_image_is_decided_on_if_a_pose_is_within_a_tenth_of_a_second(vehicle: Clock):
    for off, asked in ((0.099, 1), (-0.099, 1), (0.101, 0), (-0.101, 0)):
        mind = Asked()
        decider = Decider(vehicle, mind)
        vehicle.time_s, vehicle.newest = 5.0, Shot(picture(1), 4.9)
        decider.poses.add(4.9 + off, (0.0,) * 6)
        decider.poll()
        assert len(mind.seen) == asked


def test_the_newest_image_whose_pose_is_known_is_decided_on_if_it_is_not_old(vehicle: Clock):
    def numbers(now: float, *poses: float) -> list[int]:
        mind = Asked()
        decider = Decider(vehicle, mind, interval_s=99.0)
        decider._due = 9.0
        for number, taken in enumerate((9.0, 9.3, 9.6, 9.9)):
            vehicle.time_s, vehicle.newest = 8.0, Shot(picture(number), taken)
            decider.poll()
        for at in poses:
            decider.poses.add(at, (at, 0.0, 0.0, 0.0, 0.0, 0.0))
        vehicle.time_s = now
        decider.poll()
        assert [pose[0] for _, pose in mind.seen] == [9.0 + 0.3 * number for number, _ in mind.seen]
        return [number for number, _ in mind.seen]

    assert numbers(10.0, 9.0, 9.3, 9.6, 9.9) == [3]
    assert numbers(10.0, 9.0, 9.3) == [1]
    assert numbers(10.0, 9.0) == [0]  # a second old, to the bit
    assert numbers(10.01, 9.0) == []
    assert numbers(10.3, 9.3) == [1]
    assert numbers(10.31, 9.0, 9.3) == []


def test_thirty_two_images_wait_for_their_pose(vehicle: Clock):
    for count, first in ((32, 0), (33, 1)):
        mind = Asked()
        decider = Decider(vehicle, mind)
        for number in range(count):
            vehicle.time_s, vehicle.newest = 5.0, Shot(picture(number), 4.0 + 0.03 * number)
            decider.poll()
        # Only the oldest ones have a pose: of the first, and then of the second.
        decider.poses.add(4.0 - 0.09, (0.0,) * 6)
        decider.poll()
        assert [number for number, _ in mind.seen] == ([] if first else [0])


def test_the_next_one_is_asked_half_a_second_after_the_last_was_due(vehicle: Clock):
    # Due at 0.1 + 0.5 s; the image comes 0.2 s late. The one after that is due at 1.1 s, not at 1.3. After two seconds
    # without an image it is due at once, and then from there on.
    mind = Asked()
    decider = Decider(vehicle, mind)
    for now in (0.1, 0.55, 0.8, 1.05, 1.1, 1.15, 3.0, 3.1, 3.45, 3.5):
        vehicle.time_s, vehicle.newest = now, Shot(picture(1), now)
        decider.poses.add(now, (now,) + (0.0,) * 5)
        decider.latest()
        decider.poll()
    assert [pose[0] for _, pose in mind.seen] == [0.1, 0.8, 1.1, 3.0, 3.1, 3.5]


def test_while_an_answer_is_on_its_way_nothing_is_asked(vehicle: Clock):
    mind = Asked()
    decider = Decider(vehicle, mind, interval_s=0.1, latency_s=0.5)
    for now in (1.0, 1.2, 1.4, 1.5, 1.6):
        vehicle.time_s, vehicle.newest = now, Shot(picture(1), now)
        decider.poses.add(now, (now,) + (0.0,) * 5)
        decider.poll()
        decider.latest()
    assert [pose[0] for _, pose in mind.seen] == [1.0, 1.6]


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


def test_taken_again_an_instruction_begins_on_an_empty_map():
    """What was seen to stand there before is not known any more; the demonstration is shown again."""

    class Seer(Recorder):
        prints = np.array([[3.0, 2.0, 0.15, 1.0]])

        def brief(self, demonstrations: list[np.ndarray]) -> None:
            self.given.append(("brief", demonstrations))

        def thought(self, slot: int) -> SimpleNamespace:
            prints, self.prints = self.prints, np.zeros((0, 4))
            return SimpleNamespace(footprints=prints, grounding=SimpleNamespace(p_box=np.ones(len(prints))))

    policy, path = Seer((0.0, 0.0, 0.0)), np.zeros((3, 2))
    mind, image, pose = PolicyMind(policy, "go", demonstration=path), np.zeros((72, 128, 3), np.uint8), (2.0,) * 6
    assert policy.given == [(["go"], [None]), ("brief", [path])]
    (disc,) = mind.decide(image, (1.5, 2.0, 0.7, 0.0, 0.0, 3.0)).obstacles
    assert disc[:2] == pytest.approx((3.0, 2.0))
    assert len(mind.decide(image, pose).obstacles) == 1
    mind.begin_anew()
    assert mind.decide(image, pose).obstacles == ()
    assert sum(given == ("brief", [path]) for given in policy.given if isinstance(given, tuple)) == 2


def test_without_a_demonstration_nothing_is_shown_and_a_thought_is_kept_only_if_asked_for():
    class Privy(Recorder):
        def brief(self, demonstrations: list[np.ndarray]) -> None:
            raise AssertionError("there is nothing to show")

        def thought(self, slot: int) -> SimpleNamespace:
            cells = np.zeros((32, 32), np.float32)
            cells[10, 20] = 1.0
            return SimpleNamespace(all_objects=cells)

    wish = PolicyMind(Privy((0.1, 0.2, 0.0)), "go").decide(np.zeros((72, 128, 3), np.uint8), (2.0,) * 6)
    assert wish.thought is None
    assert len(wish.obstacles) == 1  # one cell of a map without footprints
    assert (wish.forward_m_s, wish.yaw_rate_rad_s, wish.stop) == (0.1, 0.2, False)


def test_the_pose_of_an_image_may_be_any_of_those_that_are_known():
    poses = Poses()
    for at in (1.0, 2.0, 3.0):
        poses.add(at, (at,) + (0.0,) * 5)
    for at, near, known in (
        (1.05, 0.1, True),
        (2.05, 0.1, True),
        (2.5, 0.1, False),
        (0.95, 0.1, True),
        (3.2, 0.1, False),
    ):
        assert (poses.at(at, near) is not None) == known
    assert poses.at(2.05, 0.1) == pytest.approx((2.05, 0, 0, 0, 0, 0))


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
