"""Whether steps can be flown in a layout from a start pose, found out by walking through them in thought.

The walk keeps a pose: exact through turns and metres, a fair guess after steps that leave the drone a choice (0.5 m
before a goal, facing it). Metres and "until" must fit into the arena and go clear of things along straight lines,
gaps must be open, a said side of a goal must be free, and a command must ask for more than is so at the start.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from wayword.episodes.commands.steps import Step, Until
from wayword.episodes.format import Pose2
from wayword.episodes.geometry import wrap
from wayword.task import ARENA_M

Point = tuple[float, float]


@dataclass(frozen=True)
class RoomConfig:
    """How much room a step needs, in metres."""

    arena_m: float = ARENA_M
    clear_m: float = 0.35
    """From edges and centres of objects along straight moves."""
    stand_m: float = 0.5
    """Where a drone stops, away from a goal."""
    side_free_m: float = 0.5
    """No other object this near to where a drone stops on a said side."""
    side_edge_m: float = 0.2
    """Nor the edge."""
    longest_gap_m: float = 2.5
    gap_free_m: float = 0.55
    """No other object this near to the middle part of a gap."""
    avoid_start_m: float = 0.8
    avoid_goal_m: float = 1.15
    """From an object to keep away from to the start, and to where one has to go."""
    circle_edge_m: float = 0.55
    some_way_m: float = 0.5
    """Ahead, where no metres are said."""
    until_slack_m: float = 0.25
    """Room behind the place where "until" ends: a drone needs some way to stop."""


def why_not(
    steps: Sequence[Step], places: Mapping[str, Point], start: Pose2, config: RoomConfig | None = None
) -> str | None:
    """Why the steps cannot be flown, in words; None if they can."""
    room = _Room(places, start, config or RoomConfig())
    for step in steps:
        if step.do == "avoid" and (wrong := room.avoids(step, steps)) is not None:
            return wrong
    abeam = any(step.until is not None and step.until.is_ in ("left", "right") for step in steps)
    wrong = None
    for lean in (0.0, 0.6, -0.6) if abeam else (0.0,):
        wrong = replace(room, lean=lean).walk(steps)
        if wrong is None:
            break
    return wrong or room.trivial(steps)


def pose_before(steps: Sequence[Step], number: int, places: Mapping[str, Point], start: Pose2) -> Pose2:
    """Where the drone is thought to be when it begins step ``number``."""
    room, pose = _Room(places, start, RoomConfig()), start
    for step in steps[:number]:
        pose = room.after(step, pose)
    return pose


@dataclass(frozen=True)
class _Room:
    places: Mapping[str, Point]
    start: Pose2
    config: RoomConfig
    lean: float = 0.0
    """Something is on the left or right also a little before or after it is abeam: metres ahead per metre aside."""

    def walk(self, steps: Sequence[Step]) -> str | None:
        """What stands in the way of one of the steps."""
        pose = self.start
        for step in steps:
            if (wrong := self.obstacle(step, pose)) is not None:
                return wrong
            pose = self.after(step, pose)
        return None

    # Where a step leads ----------------------------------------------------------------------------------

    def after(self, step: Step, pose: Pose2) -> Pose2:
        """The pose after a step."""
        match step.do:
            case "turn":
                return replace(pose, yaw=wrap(pose.yaw + math.radians(step.degrees)))
            case "forward" | "back" | "sideways":
                return _ahead(pose, *self._displacement(step, pose))
            case "goto" | "pass" | "circle":
                return self._at(step, pose)
            case "face" | "search":
                return replace(pose, yaw=_direction(pose, self._place(step)))
            case "between":
                return self._gap(step, pose)
            case "weave":
                before = self.places[step.objects[-2]] if len(step.objects) > 1 else (pose.x, pose.y)
                yaw = math.atan2(
                    self.places[step.objects[-1]][1] - before[1], self.places[step.objects[-1]][0] - before[0]
                )
                return _ahead(Pose2(*self.places[step.objects[-1]], yaw), 0.3, 0.45)
            case "return":
                return Pose2(self.start.x, self.start.y, _direction(pose, (self.start.x, self.start.y)))
        return pose

    def _place(self, step: Step) -> Point:
        assert step.object is not None
        return self.places[step.object]

    def _at(self, step: Step, pose: Pose2) -> Pose2:
        """At an object, on the side and at the distance that are said, looking along the way that led there."""
        place = self._place(step)
        there = Pose2(*place, _direction(pose, place))
        far = step.distance_m if step.do == "goto" and step.distance_m is not None else self.config.stand_m
        side = step.stop if step.do == "goto" else "near"
        if step.do == "pass":  # a little past it, beside it
            return _ahead(there, self.config.stand_m, self.config.stand_m * (-1 if step.on == "left" else 1))
        ahead, left = {"behind": (far, 0.0), "left": (0.0, far), "right": (0.0, -far)}.get(side, (-far, 0.0))
        return _ahead(there, ahead, left)

    def _gap(self, step: Step, pose: Pose2) -> Pose2:
        (x0, y0), (x1, y1) = (self.places[name] for name in step.objects)
        middle = ((x0 + x1) / 2, (y0 + y1) / 2)
        across = math.atan2(y1 - y0, x1 - x0) + math.pi / 2
        if math.cos(across - _direction(pose, middle)) < 0:
            across += math.pi
        return _ahead(Pose2(*middle, wrap(across)), 0.0 if step.end == "in" else self.config.stand_m, 0.0)

    def _displacement(self, step: Step, pose: Pose2) -> tuple[float, float]:
        """Metres ahead and to the left."""
        if step.until is not None:
            return max(0.0, self._until_way(step.until, pose) or 0.0), 0.0
        metres = self.config.some_way_m if step.metres is None else step.metres
        return {"forward": (metres, 0.0), "back": (-metres, 0.0)}.get(step.do, (0.0, metres))

    def _until_way(self, until: Until, pose: Pose2) -> float | None:
        """How far ahead the drone is when "until" comes true; None if straight flight never brings it about.

        What is ahead or in view can only leave the nose in straight flight: those must be so from the beginning.
        """
        ahead, left = _offset_from(pose, self.places[until.object])
        bearing = math.degrees(math.atan2(left, ahead))
        match until.is_:
            case "ahead" | "seen":
                return 0.3 if abs(bearing) <= (25 if until.is_ == "ahead" else 38) and ahead > 1.0 else None
            case "close":
                return ahead - math.sqrt(0.8**2 - left**2) if abs(left) < 0.6 and ahead > 1.3 else None
            case "behind":
                return ahead + 0.75 * abs(left) + 0.1 if ahead > 0.2 else None
        right_side = left > 0 if until.is_ == "left" else left < 0
        return ahead + self.lean * abs(left) if right_side and 3 < abs(bearing) < 40 else None

    # What stands in the way ------------------------------------------------------------------------------

    def obstacle(self, step: Step, pose: Pose2) -> str | None:
        """Why a step cannot be flown from a pose."""
        match step.do:
            case "forward" | "back" | "sideways":
                if step.until is not None and self._until_way(step.until, pose) is None:
                    return f"straight flight does not bring {step.until.object} {step.until.is_}"
                ahead, left = self._displacement(step, pose)
                ahead += self.config.until_slack_m if step.until is not None else 0.0
                if not self._straight(pose, _ahead(pose, ahead, left)):
                    return f"no room to fly {step.do}"
            case "between":
                return self._blocked(step)
            case "circle":
                if self._edge(self._place(step)) < self.config.circle_edge_m:
                    return f"{step.object} is too near to the edge to circle it"
            case "weave":
                near = zip(step.objects, step.objects[1:], strict=False)
                if any(math.dist(self.places[a], self.places[b]) > self.config.longest_gap_m for a, b in near):
                    return "the things to weave through are too far apart"
            case "goto" if step.stop not in ("near", "facing") or step.distance_m is not None:
                return self._no_stand(step, pose)
        return None

    def _straight(self, pose: Pose2, end: Pose2) -> bool:
        count = max(2, math.ceil(math.dist((pose.x, pose.y), (end.x, end.y)) / 0.1))
        points = [
            (pose.x + (end.x - pose.x) * k / count, pose.y + (end.y - pose.y) * k / count) for k in range(count + 1)
        ]
        clear = self.config.clear_m
        return all(self._edge(p) >= clear and self._free(p, ()) >= clear for p in points)

    def _edge(self, place: Point) -> float:
        return min(*place, self.config.arena_m - place[0], self.config.arena_m - place[1])

    def _free(self, place: Point, but: Sequence[str]) -> float:
        """Metres to the nearest object but some."""
        return min((math.dist(place, at) for name, at in self.places.items() if name not in but), default=math.inf)

    def _blocked(self, step: Step) -> str | None:
        a, b = (self.places[name] for name in step.objects)
        if math.dist(a, b) > self.config.longest_gap_m:
            return f"{step.objects[0]} and {step.objects[1]} are too far apart"
        inner = [(a[0] + (b[0] - a[0]) * k / 10, a[1] + (b[1] - a[1]) * k / 10) for k in range(2, 9)]
        if min(self._free(place, step.objects) for place in inner) < self.config.gap_free_m:
            return f"something stands between {step.objects[0]} and {step.objects[1]}"
        return None

    def _no_stand(self, step: Step, pose: Pose2) -> str | None:
        assert step.object is not None
        stand = self.after(step, pose)
        place = (stand.x, stand.y)
        if self._edge(place) < self.config.side_edge_m or self._free(place, (step.object,)) < self.config.side_free_m:
            return f"no room {step.stop} of {step.object}"
        if math.dist(place, (pose.x, pose.y)) < 0.3 and (pose.x, pose.y) == (self.start.x, self.start.y):
            return f"already {step.stop} of {step.object}"
        return None

    def avoids(self, step: Step, steps: Sequence[Step]) -> str | None:
        """Whether an object to keep away from is in the way of the others."""
        place = self._place(step)
        if math.dist(place, (self.start.x, self.start.y)) < self.config.avoid_start_m:
            return f"starts too near to {step.object}"
        others = {name for other in steps if other.do != "avoid" for name in other.mentioned} - {step.object}
        if any(math.dist(place, self.places[name]) < self.config.avoid_goal_m for name in others):
            return f"{step.object} is too near to a goal"
        return None

    def trivial(self, steps: Sequence[Step]) -> str | None:
        """A command must ask for more than is so at the start."""
        moves = [step for step in steps if step.do not in ("avoid", "stay")]
        if moves and moves[-1].do == "goto" and all(step.do in ("goto", "search", "face") for step in moves):
            last = self._place(moves[-1])
            if len(moves) < 3 and math.dist(last, (self.start.x, self.start.y)) < 1.0:
                return f"starts at {moves[-1].object}"
        return None


def _ahead(pose: Pose2, ahead: float, left: float) -> Pose2:
    """A pose moved in its own frame."""
    cos, sin = math.cos(pose.yaw), math.sin(pose.yaw)
    return Pose2(pose.x + ahead * cos - left * sin, pose.y + ahead * sin + left * cos, pose.yaw)


def _offset_from(pose: Pose2, place: Point) -> tuple[float, float]:
    """Metres ahead and to the left at which a place is seen from a pose."""
    dx, dy = place[0] - pose.x, place[1] - pose.y
    cos, sin = math.cos(pose.yaw), math.sin(pose.yaw)
    return dx * cos + dy * sin, dy * cos - dx * sin


def _direction(pose: Pose2, place: Point) -> float:
    return math.atan2(place[1] - pose.y, place[0] - pose.x)
