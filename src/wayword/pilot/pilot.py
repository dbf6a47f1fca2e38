"""One drone and one instruction: the way to fly Wayword on a simulator or a drone of your own.

    import wayword

    pilot = wayword.load()
    pilot.reset("go past the planter on its left, then stop in front of the globe", "my_objects")
    action = pilot.act(image, pose)      # twice a second, until action.stop

image   (H, W, 3) uint8, 16:9, from a pinhole camera: by default 84 degrees across, looking 15 degrees down
pose    (6,) x, y, z in metres, roll, pitch, yaw in radians; the map is [0, 4.7] x [0, 4.7] m, yaw 0 is +x
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayword.camera import Camera, fit_image, open_camera
from wayword.errors import WaywordError
from wayword.grounding import Grounder
from wayword.language.pipeline import Parsed
from wayword.language.reader import Reading
from wayword.language.reader.quantities import is_measure
from wayword.objects import ObjectDatabase
from wayword.policy.fspvn import FsPVN, Thought
from wayword.policy.interface import Observations
from wayword.policy.variants import WAYFINDER
from wayword.policy.wayfinder import Wayfinder
from wayword.shipped import DEFAULT_GROUNDER
from wayword.task import ARENA_M, STOP_THRESHOLD

SHIPPED_OBJECTS = Path(__file__).parents[1] / "objects" / "data"
OUTSIDE_M = 1.0
"""How far outside the map a flight may begin."""


@dataclass(frozen=True)
class Action:
    """What to do until the next image, half a second later."""

    forward_m_s: float
    """0 to 0.7."""
    yaw_rate_rad_s: float
    """-1 to 1, counter-clockwise."""
    stop: bool
    """The instruction has been carried out: hover; the other two no longer count."""

    @property
    def values(self) -> NDArray[np.float32]:
        """(3,) as ``wayword/Arena-v0`` takes it."""
        return np.array([self.forward_m_s, self.yaw_rate_rad_s, self.stop], np.float32)


class Pilot:
    """Follows one instruction at a time."""

    def __init__(self, policy: FsPVN) -> None:
        self.policy = policy
        self._ready = self._begun = False

    @classmethod
    def load(
        cls,
        weights: Path | str | None = None,
        grounder: Grounder | Path | str = DEFAULT_GROUNDER,
        camera: Camera | Path | str | None = None,
    ) -> Pilot:
        """The pilot with the weights that ship with Wayword, or with those that are named: shipped ones, or a folder.

        ``grounder`` is the segmentation, its weights by name, or a folder that `wayword train grounding` made.
        ``camera`` is the one whose images it will be shown, or its file; by default the one it was trained with.
        """
        return cls(WAYFINDER.load(weights, grounder, camera=open_camera(camera)))

    def reset(self, instruction: str, objects: ObjectDatabase | Path | str) -> Reading | None:
        """Take a new instruction about the objects of a database (see ``open_database``); returns what was understood.

        ``kind`` "refusal" says why it will not fly: ``act`` then stops at once. None for a policy that does not say.
        """
        check_instruction(instruction)
        self.policy.reset([instruction], [open_database(objects)])
        self._ready, self._begun = True, False
        return self.policy.reading(0) if isinstance(self.policy, Wayfinder) else None

    def act(self, image: NDArray[np.uint8], pose: ArrayLike) -> Action:
        """The next action; the first pose after ``reset`` is where the instruction was given."""
        if not self._ready:
            raise WaywordError("this pilot has no instruction yet; call reset(instruction, objects) first")
        camera = self.policy.camera
        frame, where = fit_image(image, camera.width, camera.height), check_pose(pose, starts=not self._begun)
        action = self.policy.act(Observations(np.zeros(1, np.int64), frame[None], where[None]))[0]
        self._begun = True
        return Action(float(action[0]), float(action[1]), bool(action[2] > STOP_THRESHOLD))

    @property
    def thought(self) -> Thought:
        """Everything seen, inferred and decided in the last step."""
        if not self._begun:
            raise WaywordError("this pilot has not acted yet; call act(image, pose) first")
        return self.policy.thought(0)

    @property
    def parsed(self) -> Parsed:
        """How the instruction was understood."""
        if not self._ready:
            raise WaywordError("this pilot has no instruction yet; call reset(instruction, objects) first")
        return self.policy.parsed(0)

    @property
    def unknown(self) -> tuple[str, ...]:
        """What the instruction mentions and the database does not know."""
        return unknown_references(self.parsed)


def unknown_references(parsed: Parsed) -> tuple[str, ...]:
    """Phrases that refer to "none of these" more likely than to any object; each once, pronouns left out."""
    phrases = [r.text for r in parsed.references if r.best is None and r.antecedent is None and not is_measure(r.text)]
    return tuple(dict.fromkeys(phrases))


def check_instruction(instruction: str) -> str:
    """The instruction, if it says anything."""
    if not isinstance(instruction, str):
        raise WaywordError(f"the instruction must be text, not {type(instruction).__name__}")
    if not any(character.isalnum() for character in instruction):
        raise WaywordError('the instruction has no words; say for example "stop in front of the globe"')
    return instruction


def open_database(source: ObjectDatabase | Path | str) -> ObjectDatabase:
    """A database, the one in a folder that ``wayword teach`` made, or "dev" or "test" for one that ships."""
    if isinstance(source, ObjectDatabase):
        database, name = source, "the database"
    elif isinstance(source, (str, Path)):
        database, name = _read_database(database_folder(source)), str(source)
    else:
        raise WaywordError(f"an object database or its folder is needed, not {type(source).__name__}")
    if not len(database):
        raise WaywordError(f"{name}: holds no objects; add some with `wayword teach NAME photo.jpg --db DIR`")
    return database


def shipped_databases() -> tuple[str, ...]:
    """Names of the databases that ship."""
    return tuple(sorted(folder.name for folder in SHIPPED_OBJECTS.iterdir() if folder.is_dir()))


def database_folder(source: Path | str) -> Path:
    """The folder of a database: "dev" and "test" ship, everything else is a folder already."""
    shipped = shipped_databases()
    if str(source) == "seen" and "seen" not in shipped:
        raise WaywordError(
            "no photos of the seen objects ship; make them with "
            "`wayword objects build --which seen --out DIR`, then give that folder"
        )
    return SHIPPED_OBJECTS / str(source) if str(source) in shipped else Path(source)


def refuse_shipped(source: Path | str) -> None:
    """Refuse to change a database that ships."""
    if str(source) in shipped_databases():
        raise WaywordError(f"--db {source} ships with Wayword and stays as it is; name a folder of your own")


def _read_database(folder: Path | str) -> ObjectDatabase:
    from wayword.grounding.photo_cropper import photo_croppers

    return ObjectDatabase.load(folder, photo_croppers())


def check_pose(pose: ArrayLike, starts: bool = False) -> NDArray[np.float64]:
    """The pose as (6,) float64; where a flight ``starts`` must be on the map or close to it."""
    try:
        values = np.asarray(pose, np.float64)
    except (TypeError, ValueError):
        values = np.zeros(0)
    if values.shape != (6,) or not np.isfinite(values).all():
        raise WaywordError("the pose must be six finite numbers: x, y, z in metres, roll, pitch, yaw in radians")
    x, y = values[:2].tolist()
    if starts and not all(-OUTSIDE_M <= value <= ARENA_M + OUTSIDE_M for value in (x, y)):
        raise WaywordError(
            f"the drone starts at ({x:.2f}, {y:.2f}) m, off the map of {ARENA_M} x {ARENA_M} m; "
            "measure x and y from a corner of your flying area"
        )
    return values
