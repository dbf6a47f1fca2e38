"""``wayword train policy``: from generated demonstrations to a policy that flies, on two cores."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from wayword.cli.common import need_torch, refuse_beside_config, say
from wayword.cli.crew_options import CrewOptions
from wayword.cli.training_talk import announce_part, show_settings, warn_of_other_data
from wayword.errors import WaywordError
from wayword.flying.episode_source import check_seed
from wayword.learning.policy.sizes import ControlSize, Size
from wayword.shipped import DEFAULT_GROUNDER

if TYPE_CHECKING:
    from wayword.learning.policy.train_policy import PolicyTraining

PolicyPart = Literal["data", "visitation", "control", "sureal", "export"]
PARTS: tuple[PolicyPart, ...] = ("data", "visitation", "control", "sureal", "export")


@dataclass(frozen=True)
class TrainPolicy(CrewOptions):
    """Train FsPVN: data, stage 1, stage 2, SuReAL, weights. Stopped at any time, the same command goes on.

    The run folder and the weights hold train_config.json with every setting; --config FILE runs one again. With --sync
    the same settings make the same weights, to the bit.

    Numbers that are logged (docs/policy.md explains all): visit and goal, the KL divergences of the two visitation
    distributions; dev near, the share of goals within 0.47 m on natural dev instructions when the Oracle has flown;
    success, the share of flights that end within 0.47 m; return, the intrinsic reward.
    """

    run_folder: Path = Path("runs/policy")
    """Keeps data, checkpoints and logs; belongs to its settings, others are refused."""
    out: Path = Path("runs/policy/weights")
    """Where the finished weights go; fly them with `wayword fly --weights`."""
    config: Path | None = None
    """A train_config.json, of a run or of weights, to run again; --seed may change its seed, nothing else."""
    only: tuple[PolicyPart, ...] = PARTS
    """Do these parts only, in this order."""
    show: bool = False
    """Print the settings as a file for --config, and train nothing."""
    seed: int | None = None
    """Of every part; by default 0, or that of --config."""
    episodes: int = 7000
    """Generated demonstrations, beside the natural corpus."""
    drills: int = 4000
    """Short flights in pairs that only the told side tells apart; 0 for none."""
    imagined: float = 0.0
    """Share of the flights of both that are not segmented (true masks, looks of photos): an eighth of the work."""
    reworded: bool = True
    """Learn from natural and generated episodes in other words as well."""
    visitation_minutes: float = 60.0
    """Stage 1 on the Oracle's flights, both cores."""
    visitation_steps: int = 20_000
    """Stage 1 at most."""
    control_minutes: float = 20.0
    """Stage 2 on teacher distributions, one core."""
    control_iterations: int = 800
    """Stage 2 at most."""
    sureal_minutes: float = 40.0
    """Both stages together, one core each."""
    sureal_iterations: int = 10_000
    """Both stages together at most, in iterations of 32 flights."""
    sync: bool = False
    """The same to the bit under the seed: steps and iterations end each part, not minutes, and SuReAL's two processes
    go in step; choose --sureal-iterations (about two in a minute)."""
    visitation_workers: int = 2
    """Processes of stage 1, each with batches of its own, whose gradients are averaged; another number makes other
    weights."""
    actors: int = 0
    """Processes that fly for stage 2 while both stages are trained together; by default it flies itself."""
    stale: int = 4
    """How many iterations old the parameters may be with which an actor has flown."""
    device: Literal["cpu", "cuda"] = "cpu"
    """Where stage 1 is trained."""
    method: Literal["ppo", "bc"] = "ppo"
    """Stage 2 by reinforcement, or by cloning the Oracle alone (FsPVN-BC: --only data visitation control export)."""
    blank_images: bool = False
    """Train the ablation that sees nothing (FsPVN-NoI)."""
    empty_instructions: bool = False
    """Train the ablation that is told nothing (FsPVN-NoU)."""
    start: str | None = None
    """Weights whose stage 1 to go on from: shipped ones by name (fspvn), or a folder; from nothing if not given."""
    start_control: str | None = None
    """The same for stage 2; after a few iterations for the values, it is improved at once."""
    grounder: str = DEFAULT_GROUNDER
    """The segmentation's weights: shipped ones by name, or a folder (see `wayword train grounding`)."""
    chunker: str = "shipped"
    """Who finds the noun chunks of instructions: a registered name, or module:Class (docs/extending.md)."""
    size: Size = field(default_factory=Size)
    control_channels: int = ControlSize.channels
    """Stage 2: channels of the image's convolution."""
    control_hidden: int = ControlSize.hidden
    """Stage 2: width of the two dense layers."""

    def run(self) -> None:
        """Do what is not done yet."""
        need_torch()
        from wayword.learning.policy.train_policy import TRAINING, train_policy

        config = self.settings()
        if self.show:
            show_settings(TRAINING, config)
            return
        run = train_policy(config, self.run_folder, self.out, self.only, announce_part, workers=self.crew())
        warn_of_other_data(run, self.config)
        if "export" in self.only:
            say(self.out)

    def settings(self) -> PolicyTraining:
        """All settings of all parts: those of --config, or of the options."""
        from wayword.learning.common.train_config import read_options
        from wayword.learning.policy.train_policy import TRAINING, PolicyTraining

        check_seed(self.seed or 0)
        if self.config is not None:
            refuse_beside_config(self, ("run_folder", "out", "only", "show", "seed", "workers", "ray"))
            settings = read_options(self.config, TRAINING, PolicyTraining)
            return settings if self.seed is None else settings.with_seed(self.seed)
        positive = [each.name for each in fields(self) if each.name.endswith(("_minutes", "_steps", "_iterations"))]
        if self.drills < 0:
            raise WaywordError(f"--drills {self.drills}: cannot be negative")
        if not 0.0 <= self.imagined <= 1.0:
            raise WaywordError(f"--imagined {self.imagined}: is a share, from 0 to 1")
        if self.actors < 0 or self.stale < 0:
            raise WaywordError(f"--actors {self.actors} --stale {self.stale}: cannot be negative")
        for name in ("episodes", "visitation_workers", "control_channels", "control_hidden", *positive):
            if getattr(self, name) <= 0:
                raise WaywordError(f"--{name.replace('_', '-')} {getattr(self, name)}: must be positive")
        base = PolicyTraining(grounder=self.grounder, start=self.start, start_control=self.start_control)
        readings = replace(base.data.readings, chunker=self.chunker)
        flights = replace(base.data.flights, imagined=self.imagined)
        sample = replace(
            base.visitation.sample, blank_images=self.blank_images, empty_instructions=self.empty_instructions
        )
        loop = replace(base.visitation.loop, minutes=self.visitation_minutes, steps=self.visitation_steps)
        loop = replace(loop, device=self.device)
        control_size = replace(base.control.size, channels=self.control_channels, hidden=self.control_hidden)
        training = replace(
            base,
            data=replace(
                base.data, episodes=self.episodes, drills=self.drills, reworded=self.reworded, flights=flights,
                readings=readings,
            ),
            visitation=replace(
                base.visitation, loop=loop, size=self.size, sample=sample, workers=self.visitation_workers
            ),
            control=replace(
                base.control, method=self.method, size=control_size, minutes=self.control_minutes,
                iterations=self.control_iterations,
            ),
            plan=replace(
                base.plan, minutes=self.sureal_minutes, iterations=self.sureal_iterations, actors=self.actors,
                stale=self.stale,
            ),
        ).with_seed(self.seed or 0)  # fmt: skip
        return training.exact() if self.sync else training
