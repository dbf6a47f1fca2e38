"""Who has the helm, and how far astray the poses are, said again from everything that was ever heard."""

from __future__ import annotations

import math

import numpy as np
import pytest

from support.governing import heard
from wayword.flight import Mode, Telemetry
from wayword.flight.helm import ASK_S, FRESH_S, GAP_S, STALE_S, Helm
from wayword.flight.pose_watch import WINDOW_S, PoseWatch
from wayword.flight.watch import SMOOTH_S, UNSURE_M_S

Event = tuple[str, float, float, Mode]
"""What happened, when it was read, when it was sent, and the mode it shows."""


class Log:
    """Everything that happened; nothing is worked out before it is asked for."""

    def __init__(self, answers: bool) -> None:
        self.answers, self.events = answers, list[Event]()

    def times(self, *kinds: str) -> list[float]:
        return [at for kind, at, _, _ in self.events if kind in kinds]

    @property
    def taken(self) -> float:
        return max(self.times("take"), default=math.inf)

    def expected(self) -> list[tuple[Event, tuple[Mode, ...]]]:
        """Every sight of a mode, and what could be expected then."""
        asked, seen, result = False, False, []
        for event in self.events:
            if event[0] == "ask":
                asked = True
            if event[0] == "see" and event[3] is not Mode.UNKNOWN:
                usual = (Mode.OFFBOARD, Mode.LAND, Mode.GROUND) if asked else (Mode.OFFBOARD,)
                result.append((event, (Mode.LAND, Mode.GROUND) if seen else usual))
                seen = seen or (asked and event[3] is Mode.LAND)
        return result

    def lost(self) -> Mode | None:
        taken, first = math.inf, None
        sights = iter(self.expected())
        for kind, at, sent, mode in self.events:
            taken = at if kind == "take" else taken
            if kind == "see" and mode is not Mode.UNKNOWN:
                _, expected = next(sights)
                if sent >= taken and mode not in expected and first is None:
                    first = mode
        return first

    def unsure(self) -> bool:
        """Whether something may have happened that no sight of a mode has cleared up since."""
        doubt, last, answered, taken = None, -math.inf, -math.inf, math.inf
        for kind, at, sent, mode in self.events:
            if kind == "take":
                taken = at
            if kind in ("hear", "see"):
                if at - last > 0.5:
                    doubt = at
                last = at
            if kind == "see" and mode is not Mode.UNKNOWN and doubt is not None and sent >= doubt:
                doubt = None
            if kind == "answer":
                if sent - max(answered, taken) > 0.6:
                    doubt = at
                answered = sent
        return doubt is not None

    def may_fly(self, now: float) -> bool:
        if self.lost() or self.times("ask"):
            return False
        if now < self.taken:
            return True
        if self.unsure() or now - max(self.times("hear", "see"), default=-math.inf) > 0.5:
            return False
        answered = max([self.taken, *(sent for kind, _, sent, _ in self.events if kind == "answer")][-1:] or [0.0])
        newest = max(answered, self.taken)
        return not self.answers or now - newest <= 0.6

    def newest(self) -> Event | None:
        sights = [event for event, _ in self.expected()]
        return sights[-1] if sights else None

    def may_land(self, now: float) -> bool:
        newest = self.newest()
        landing = any(
            expected == (Mode.LAND, Mode.GROUND) for _, expected in self.expected()
        ) or (bool(self.times("ask")) and newest is not None and newest[3] is Mode.LAND)  # fmt: skip
        fresh = newest is not None and now - newest[2] <= 0.1 and newest[3] in (Mode.OFFBOARD, Mode.TAKEOFF)
        return self.lost() is None and not landing and fresh

    def wants_news(self, now: float) -> bool:
        answered = [sent for kind, _, sent, _ in self.events if kind == "answer"]
        newest = self.newest()
        since = answered[-1:] if self.answers else [newest[2]] if newest else []
        return self.lost() is None and now >= self.taken and now - (since[-1] if since else -math.inf) > 0.2


@pytest.mark.parametrize("seed", range(40))
def test_the_helm_is_what_the_log_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    helm, log, now = Helm(), Log(bool(seed % 2)), 0.0
    helm.answers = log.answers
    strange = 0.0 if seed % 4 < 2 else 0.05
    for i in range(50):
        now = round(now + float(rng.choice([0.02, 0.07, 0.15, 0.45, 0.52, 0.7], p=[0.3, 0.3, 0.2, 0.1, 0.05, 0.05])), 3)
        late = round(now - float(rng.choice([0.0, 0.05, 0.9], p=[0.7, 0.2, 0.1])), 3)
        kind = str(rng.choice(["hear", "see", "answer"], p=[0.2, 0.5, 0.3]))
        mode = Mode.OFFBOARD if rng.random() > strange else Mode(rng.choice(list(Mode)))
        if log.times("ask"):
            mode = Mode(rng.choice([Mode.OFFBOARD, Mode.LAND, Mode.GROUND], p=[0.6, 0.35, 0.05]))
        if i == 5 and seed % 5:  # some never take off
            kind = "take"
        if i == 30 and seed % 3 == 0:
            kind = "ask"
        late = late if kind in ("see", "answer") else now
        log.events.append((kind, now, late, mode))
        if kind == "take":
            helm.take(now)
        elif kind == "hear":
            helm.hear(now)
        elif kind == "see":
            helm.see(mode, now, late)
        elif kind == "answer":
            helm.answer(now, late)
        else:
            helm.ask_to_land()
        newest = log.newest()
        assert helm.lost == log.lost()
        assert helm.mode == (newest[3] if newest else Mode.UNKNOWN)
        assert helm.mode_s == (newest[2] if newest else -math.inf)
        assert helm.heard_mode_s == (newest[1] if newest else -math.inf)
        hidden = log.lost() is not None and helm.mode is Mode.OFFBOARD
        assert helm.reported == (Mode.OTHER if hidden else helm.mode)
        for later in (0.0, 0.03, 0.11, 0.21, 0.51, 0.61):
            at = now + later
            assert helm.may_fly(at) == log.may_fly(at), (i, later)
            assert helm.may_land(at) == log.may_land(at), (i, later)
            assert helm.wants_news(at) == log.wants_news(at), (i, later)


def test_numbers_of_the_page() -> None:
    assert (GAP_S, STALE_S, ASK_S, FRESH_S) == (0.5, 0.6, 0.2, 0.1)
    assert (WINDOW_S, UNSURE_M_S, SMOOTH_S) == (3.0, 1.0, 0.1)


def test_a_helm_at_the_very_bounds() -> None:
    helm = Helm()
    helm.take(0.0)
    helm.see(Mode.OFFBOARD, 0.0)
    assert helm.may_fly(0.5)  # half a second of nothing, to the bit
    helm.hear(0.5)
    assert helm.may_fly(0.5)
    assert helm.may_land(FRESH_S)
    assert not helm.wants_news(ASK_S)
    assert helm.wants_news(ASK_S + 1e-9)
    helm.answers = True
    assert helm.may_fly(0.5)
    helm.hear(0.6)
    assert helm.may_fly(STALE_S)
    assert not helm.may_fly(STALE_S + 1e-9)


def astray_by_the_log(poses: list[Telemetry]) -> float:
    """The way between the poses of the last 3 s, less the way that their velocities say, less what is doubtful."""
    begin = 0
    for k in range(1, len(poses)):
        if poses[k].pose_s - poses[k - 1].pose_s > 0.3:
            begin = k
    total, doubt, now = np.zeros(3), 0.0, poses[-1].pose_s
    for one, two in zip(poses[begin:], poses[begin + 1 :], strict=False):
        if two.pose_s < now - 3.0 or (two.pose_s == one.pose_s and two.pose == one.pose):
            continue
        seconds = max(two.pose_s - one.pose_s, 0.0)
        mean = (np.array(one.velocity) + np.array(two.velocity)) / 2
        total += np.array(two.pose[:3]) - np.array(one.pose[:3]) - mean * seconds
        doubt += max(seconds - 0.1, 0.0)
    return max(float(np.linalg.norm(total)) - doubt, 0.0)


@pytest.mark.parametrize("seed", range(10))
def test_astray_is_what_all_poses_together_say(seed: int) -> None:
    rng = np.random.default_rng(seed)
    watch, known, now, place = PoseWatch(), list[Telemetry](), 1.0, np.array([2.0, 2.0, 0.7])
    velocity = np.zeros(3)
    for _ in range(120):
        step = float(rng.choice([0.0, 0.05, 0.2, 0.31], p=[0.1, 0.8, 0.09, 0.01]))
        now += step
        velocity = velocity * 0.9 + rng.normal(0, 0.1, 3)
        place = place + velocity * step + rng.normal(0, 0.002, 3)
        place = place + (rng.random() < 0.05) * rng.uniform(-0.2, 0.2, 3)
        told = heard(now, *place.tolist(), velocity=tuple(velocity.tolist()), astray_m=9.0)
        if rng.random() < 0.1:
            broken = heard(now, math.nan, astray_m=0.125)
            assert watch.look(broken) is broken  # nothing is said of it, and nothing remembered
        known.append(told)
        looked = watch.look(told)
        assert looked.astray_m == pytest.approx(astray_by_the_log(known), abs=1e-9)
        assert looked.pose == told.pose
        assert looked.velocity == told.velocity
