"""What the augmented-reality training data looks like (Appendix F of the paper).

Every number that is not the paper's own says so. One frozen configuration describes a whole run and is
written beside its shards; the same configuration and seed give the same frames.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Annotated, Literal

import tyro

from wayword.errors import WaywordError
from wayword.task import ARENA_M

PoolName = Literal["train", "heldout"]


@dataclass(frozen=True)
class PoolConfig:
    """Which objects there are, and how often each is drawn."""

    object_seed: int = 0
    """Seeds the random objects, the sizes and the paints; the held-out nouns do not depend on it."""
    random_objects: int = 2000
    """Procedural random objects in the pool."""
    random_share: float = 0.4
    """Share of drawn objects that are procedural, if mesh packs are given. They vary more than real things do but
    are easier to tell apart, so no more than half."""
    flat_share: float = 0.25
    """Share of drawn mesh-pack objects painted in one flat random colour (the release paints 90 %). A painted object
    is an object of its own: same shape in another colour is as different as another shape in the same colour."""
    min_edge_m: float = 0.14
    """Shortest longest edge; drawn once per object."""
    max_edge_m: float = 0.61
    """Longest longest edge."""
    log_sizes: bool = False
    """Edges are drawn evenly in their logarithm, so that small things are as many as large ones: most of what is not
    found over real panoramas is less than 24 pixels long."""
    min_ratio: float = 0.2
    """Objects whose shortest edge is less than this share of the longest are left out (paper: 1 to 5)."""
    min_cover: float = 0.25
    """Objects that fill less of their own outline's box than this from some side are thin lattices: left out."""
    max_hole: float = 0.1
    """Objects with a hole seen from above that is a larger share of their outline are rings: a dev object is one."""
    twin_distance: float = 4.0
    """Mesh-pack objects whose small pictures from all sides differ by less (mean levels of 255) from one that is
    already in the pool are left out: two names for one look cannot be told apart."""
    dim_light: float = 45.0
    """Mesh-pack objects darker than this (mean level of 255, in full light) are lightened: some collections were
    stored without the screen's gamma."""
    min_light: float = 36.0
    """Mesh-pack objects that are then still darker than this are left out: black blobs from everywhere."""
    heldout_share: float = 0.12
    """Share of nouns, and of random objects, kept for the held-out pool."""


@dataclass(frozen=True)
class ARLayoutConfig:
    """How objects are placed (paper: 6 to 16 objects; the rest follows the release)."""

    min_objects: int = 6
    max_objects: int = 16
    arena_m: float = ARENA_M
    edge_clearance_m: float = 0.42
    """From the boundary to the centre of an object."""
    gap_m: float = 0.1
    """Free space between the circles around two objects. Denser than test layouts: objects hide each other."""
    repeat_share: float = 0.3
    """Chance that an object has the identity of the one before it, in layouts that repeat."""
    repeat_layouts: float = 0.5
    """Share of layouts that repeat."""
    tilt_rad: float = 0.1
    """Pitch and roll of objects are uniform within this; yaw is uniform."""


@dataclass(frozen=True)
class ViewConfig:
    """From where frames are taken."""

    frames_per_layout: int = 8
    flights: int = 12
    """Simulated flights per shard; a layout takes its frames from one of them."""
    perturbed_share: float = 0.5
    """Share of poses moved away from the flight: a policy in training flies worse than the Oracle."""
    shift_m: float = 0.35
    """Standard deviation of the move in x and y."""
    turn_rad: float = 0.7
    """Standard deviation of the turn."""
    lift_m: float = 0.03
    """Standard deviation of the height."""
    sway_rad: float = 0.05
    """Standard deviation of roll and pitch that are added."""
    min_visible: int = 2
    """Poses from which fewer object centres are in view are drawn again..."""
    sparse_share: float = 0.08
    """...but for this share of frames, which may show fewer objects or none."""
    near_m: float = 0.3
    """No object centre is nearer to the camera than this, on the ground plan."""
    smooth_share: float = 0.5
    """Share of layouts drawn with smooth edges; the simulator's own frames have hard ones."""


@dataclass(frozen=True)
class AugmentConfig:
    """How the picture varies after drawing; each setting is the far end of what is drawn for a frame."""

    clean_share: float = 0.3
    """Share of frames left as they are: the simulator's camera is perfect unless told otherwise."""
    contrast: float = 0.25
    """Contrast varies by up to this share either way, about mid grey."""
    brightness: float = 18.0
    """Levels (of 255) added or taken."""
    saturation: float = 0.3
    """Saturation varies by up to this share either way."""
    exposure: float = 0.2
    gamma: float = 0.2
    white_balance: float = 0.1
    blur_px: float = 0.8
    """Gaussian blur of the lens, standard deviation; half of the frames have none."""
    motion_px: float = 2.5
    """Streak of motion blur; three quarters of the frames have none."""
    noise: float = 5.0
    """Read noise in levels."""
    shot_noise: float = 6.0
    """Noise at white that grows with the square root of the light."""
    vignette: float = 0.25


@dataclass(frozen=True)
class PhotoConfig:
    """How objects are drawn over a user's own pictures; each setting is the far end of what is drawn for a frame.

    On a command line, settings that ``AugmentConfig`` has too begin with ``--photo-``.
    """

    simulated_share: float = 0.0
    """Share of layouts that stand in the simulated arena instead, taken by its clean camera. Photos in a database need
    not come from the place, so an object must be the same in both; `wayword train grounding --frames` takes some."""
    room_share: float = 0.0
    """Share of layouts that stand in invented rooms, whose floors and walls have random patterns (``rooms``): where
    neither pictures nor the arena show a patterned floor, its patches are taken for things."""
    clean_share: Annotated[float, tyro.conf.arg(name="photo_clean_share")] = 0.5
    """Share of frames over pictures that are left as they were taken: the pictures have the camera's faults already."""
    exposure: Annotated[float, tyro.conf.arg(name="photo_exposure")] = 0.3
    """Objects are brighter or darker than the renderer's by up to this share."""
    white_balance: Annotated[float, tyro.conf.arg(name="photo_white_balance")] = 0.35
    """Objects are warmer or colder by up to this share (red up and blue down, or the reverse): lamps differ, and
    pictures of an empty place do not say what is white there."""
    vignette: Annotated[float, tyro.conf.arg(name="photo_vignette")] = 0.5
    """Share of the light that objects in the corners lose."""
    blur_px: Annotated[float, tyro.conf.arg(name="photo_blur_px")] = 1.1
    """Blur of the objects' layer, standard deviation."""
    noise_spread: float = 0.35
    """The objects' noise is that of the pictures, up to this share more or less."""
    shadow_blur_px: float = 0.0
    """Shadows are softer than the objects' outlines by up to this, standard deviation."""


@dataclass(frozen=True)
class ARConfig:
    """A whole run."""

    pool: PoolName = "train"
    """Train on one, validate on the other: they share no noun."""
    shard_frames: int = 1000
    objects: PoolConfig = field(default_factory=PoolConfig)
    layout: ARLayoutConfig = field(default_factory=ARLayoutConfig)
    views: ViewConfig = field(default_factory=ViewConfig)
    augment: AugmentConfig = field(default_factory=AugmentConfig)
    photo: PhotoConfig = field(default_factory=PhotoConfig)

    def check(self) -> None:
        """Refuse impossible settings in one line; not done on construction, where a command line cannot catch it."""
        layout, objects = self.layout, self.objects
        for part in (objects, layout, self.views, self.augment, self.photo):
            for item in fields(part):
                value = getattr(part, item.name)
                if isinstance(value, int | float) and not (math.isfinite(value) and value >= 0):
                    raise WaywordError(f"{item.name} = {value} must be a number of at least 0")
                if item.name.endswith("_share") and value > 1:
                    raise WaywordError(f"{item.name} = {value} must be at most 1")
        if self.photo.simulated_share + self.photo.room_share > 1:
            raise WaywordError("simulated_share and room_share together must be at most 1")
        if not 1 <= layout.min_objects <= layout.max_objects <= 60:
            raise WaywordError("a layout needs 1 <= min_objects <= max_objects <= 60")
        if not 0.02 <= objects.min_edge_m <= objects.max_edge_m <= 2.0:
            raise WaywordError("objects need 0.02 m <= min_edge_m <= max_edge_m <= 2 m")
        if self.shard_frames < 1 or self.views.frames_per_layout < 1 or self.views.flights < 1:
            raise WaywordError("shard_frames, frames_per_layout and flights must be at least 1")
