"""What all visitors of the page share: meshes, networks, databases. Loaded once, and only when somebody asks.

Language, segmentation and databases hold no flight and are shared; a policy remembers its flight, so each visitor gets
one of their own. Shared parts that remember what they were asked before are used under a lock.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from wayword.camera import Camera
from wayword.errors import WaywordError
from wayword.language.phrases_db import Database
from wayword.objects import ObjectDatabase
from wayword.objects.names import name_key
from wayword.pilot.pilot import open_database
from wayword.policy import Policy, make_policy
from wayword.policy.pvn2 import PREDECESSORS
from wayword.policy.variants import WITH_WEIGHTS
from wayword.policy.wayfinder import Wayfinder
from wayword.registry import POLICIES
from wayword.shipped import DEFAULT_GROUNDER
from wayword.sim.render.bank import MeshBank
from wayword.studio.stand_in import stand_in
from wayword.studio.understood import Understanding
from wayword.task import IMAGE_HEIGHT, IMAGE_WIDTH

if TYPE_CHECKING:
    from wayword.grounding import Grounder
    from wayword.language.pipeline import Parsed
    from wayword.language.reader import Reading
    from wayword.objects import CheckReport, Cropper

Part = TypeVar("Part")
Masks = Literal["predicted", "true"]
TITLES = {
    "wayword": "Wayword (steps, descriptions, refusals)",
    "fspvn": "FsPVN",
    "fspvn_bc": "FsPVN-BC",
    "fspvn_nou": "FsPVN without the instruction",
    "fspvn_noi": "FsPVN without the image",
    "oracle": "oracle (follows the demonstration)",
    "average": "average",
    "stop": "stop",
}
"""How the page calls who can fly; others by their names."""
_NOT_OFFERED = ("fspvn_perfect", "wayword_perfect", "wayword_told", "oracle_steps", "lerobot", *PREDECESSORS)
"""Perfect segmentation is a choice of its own, not a policy; those that are told steps fly in evaluations only; one
of LeRobot's needs a folder; the baselines cannot be taught anything."""
_TAUGHT = "taught here"
_BOTH = "test and taught here"


class Workshop:
    """The parts, for any number of visitors."""

    def __init__(
        self, folder: Path, weights: Path | None = None, camera: Camera | None = None, grounder: str = DEFAULT_GROUNDER
    ) -> None:
        self.folder, self.weights, self._grounder = folder, weights, grounder
        self.camera = (camera or Camera()).at_model_size()
        # One lock per part: whoever only wants to see the arena does not wait for the networks.
        self._locks = {part: threading.RLock() for part in ("objects", "language", "grounding", "comparing")}
        self._parts: dict[str, Any] = {}

    def _once(self, part: str, key: str, make: Callable[[], Part]) -> Part:
        """What ``make`` returns, made the first time."""
        with self._locks[part]:
            if key not in self._parts:
                self._parts[key] = make()
            result: Part = self._parts[key]
            return result

    def warm_up(self) -> None:
        """Load what the first flight needs, before anybody asks for it."""
        self.understand("stop at the globe", self.database("test"), steps=True)
        self.grounder.regions(np.zeros((1, IMAGE_HEIGHT, IMAGE_WIDTH, 3), np.uint8))

    # Objects ---------------------------------------------------------------------------------------------

    @property
    def catalogue(self) -> MeshBank:
        """The 80 objects the simulator has models of."""
        return self._once("objects", "catalogue", MeshBank.of_catalogue)

    @property
    def databases(self) -> tuple[str, ...]:
        """Names of what a policy can be taught here."""
        own = self.folder.is_dir() and len(ObjectDatabase.load(self.folder)) > 0
        return ("test", "dev", _TAUGHT, _BOTH) if own else ("test", "dev")

    def database(self, name: str) -> ObjectDatabase:
        """One of ``databases``; what was taught here is read anew, since it may have changed."""
        if name in ("test", "dev"):
            return self._once("objects", name, lambda: open_database(name))
        if name not in (_TAUGHT, _BOTH):
            raise WaywordError(f"no database {name!r}; choose one of {', '.join(self.databases)}")
        own = open_database(self.folder)
        return own if name == _TAUGHT else merged(own, self.database("test"))

    def bank(self, database: ObjectDatabase) -> tuple[MeshBank, dict[str, str]]:
        """Meshes of the catalogue and of whatever else was taught; which mesh shows which object of the database."""
        known = {name_key(name): name for name in self.catalogue.index}
        models, others = {}, {}
        for item in database.objects:
            if name_key(item.name) in known:
                models[item.name] = known[name_key(item.name)]
            elif item.photos:
                models[item.name], others[item.name] = item.name, stand_in(item)
        return MeshBank({**self.catalogue.meshes, **others}) if others else self.catalogue, models

    # Networks --------------------------------------------------------------------------------------------

    @property
    def grounder(self) -> Grounder:
        """The shared segmentation."""
        from wayword.grounding import Grounder

        return self._once("grounding", "grounder", lambda: Grounder.load(self._grounder))

    @property
    def croppers(self) -> tuple[Cropper, ...]:
        """Who finds the object in a photo."""
        from wayword.grounding.photo_cropper import photo_croppers

        return self._once("grounding", "croppers", photo_croppers)

    def parse(self, text: str, database: Database) -> Parsed:
        """As ``LanguageModel.parse``, one visitor at a time: it remembers phrases."""
        from wayword.language.pipeline import LanguageModel

        with self._locks["language"]:
            return self._once("language", "language", LanguageModel.load).parse(text, database)

    def read(self, instruction: str, database: ObjectDatabase) -> Parsed:
        """How an instruction is understood with a database."""
        return self.parse(instruction, phrases_of(database))

    def understand(self, instruction: str, database: ObjectDatabase, steps: bool) -> Understanding:
        """How an instruction is taken by a policy that reads texts into ``steps``, or by one that does not."""
        parsed = self.read(instruction, database)
        reading = self.shared_reader.read(parsed, phrases_of(database)) if steps else None
        return Understanding(parsed, reading)

    @property
    def shared_reader(self) -> SharedReader:
        """From texts to steps, one visitor at a time."""
        return SharedReader(self)

    def read_steps(self, parsed: Parsed, database: Database) -> Reading:
        """As ``Reader.read``."""
        from wayword.language.reader import Reader

        with self._locks["language"]:
            return self._once("language", "reader", Reader.load).read(parsed, database)

    def compare(self, database: ObjectDatabase) -> CheckReport:
        """The report about objects that could be taken for each other, as the drone sees them."""
        from wayword.grounding.photo_similarity import photo_kernel
        from wayword.objects import check_objects, default_similarity

        with self._locks["comparing"]:
            similarity = self._once("comparing", "similarity", lambda: default_similarity(photo_kernel()))
            return check_objects(database, similarity)

    # Policies --------------------------------------------------------------------------------------------

    @property
    def policies(self) -> dict[str, str]:
        """Names and titles of those that can fly: learned ones need weights."""
        offered = [name for name in (*TITLES, *POLICIES.names()) if name not in _NOT_OFFERED]
        return {name: TITLES.get(name, name) for name in offered if name not in WITH_WEIGHTS or self._has_weights(name)}

    def _has_weights(self, name: str) -> bool:
        try:
            WITH_WEIGHTS[name].folder(self.weights)
        except WaywordError:
            return False
        return True

    def policy(self, name: str, masks: Masks) -> Policy:
        """A policy for one visitor."""
        if name not in self.policies:
            raise WaywordError(f"no policy {name!r} here; choose one of {', '.join(self.policies)}")
        if name not in WITH_WEIGHTS:
            return make_policy(name)
        if masks == "true" and name not in ("fspvn", "wayword"):
            raise WaywordError("true masks are for Wayword and FsPVN themselves; choose one of them or predicted masks")
        variant = f"{name}_perfect" if masks == "true" else name
        policy = WITH_WEIGHTS[variant].load(self.weights, self.grounder, SharedLanguage(self), self.camera)  # type: ignore[arg-type]
        if isinstance(policy, Wayfinder):
            policy.reader = self.shared_reader
        return policy


class SharedLanguage:
    """The language model as a policy sees it: the same for all visitors, one at a time."""

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop

    def parse(self, text: str, database: Database) -> Parsed:
        """As ``LanguageModel.parse``."""
        return self._workshop.parse(text, database)


class SharedReader:
    """The reader as a policy sees it: the same for all visitors, one at a time."""

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop

    def read(self, parsed: Parsed, database: Database) -> Reading:
        """As ``Reader.read``."""
        return self._workshop.read_steps(parsed, database)


def phrases_of(database: ObjectDatabase) -> Database:
    """What people say for the objects of a database."""
    return database.phrase_list


def merged(first: ObjectDatabase, second: ObjectDatabase) -> ObjectDatabase:
    """Both databases in one; of two objects with the same name the first one's is kept."""
    known = {name_key(item.name) for item in first.objects}
    others = [item for item in second.objects if name_key(item.name) not in known]
    return ObjectDatabase((*first.objects, *others))
