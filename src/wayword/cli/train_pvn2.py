"""``wayword train pvn2``: the paper's baselines PVN2-SEEN and PVN2-ALL, on the flights that FsPVN learns from."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from wayword.cli.common import need_torch, refuse_beside_config, say
from wayword.cli.crew_options import CrewOptions
from wayword.cli.training_talk import announce_part, show_settings, warn_of_other_data
from wayword.errors import WaywordError
from wayword.flying.episode_source import check_seed
from wayword.learning.policy.sizes import ImageSize, Size

if TYPE_CHECKING:
    from wayword.learning.policy.pvn2_train import Pvn2Training


@dataclass(frozen=True)
class TrainPvn2(CrewOptions):
    """Train PVN2, the predecessor of FsPVN without few-shot grounding. Stopped, the same command goes on.

    It learns what objects look like and what they are called from pictures and instructions, so it knows those it was
    trained on and no others. --objects seen trains PVN2-SEEN, --objects all PVN2-ALL: also on generated layouts and
    instructions about the dev and test objects. Both learn from the flights that FsPVN learns from:

      wayword train policy --only data --run-folder runs/policy
      wayword train pvn2 --objects seen --data runs/policy/data --out runs/weights/pvn2_seen
      wayword eval --policy pvn2_seen --weights runs/weights/pvn2_seen --split dev

    `wayword eval table --weights runs/weights/fspvn` flies a pvn2_seen or pvn2_all that stands beside those weights.
    Stage 2 is that of --control. Logged are visit and goal, the KL divergences of the two distributions; classes,
    mentions, words and sparsity, the auxiliary objectives; and dev near, the share of goals within 0.47 m on natural
    dev instructions when the Oracle has flown (docs/evaluation.md).
    """

    objects: Literal["seen", "all"] = "seen"
    """Which objects it meets: the 64 that FsPVN was trained on, or the dev and test objects as well."""
    data: Path = Path("runs/policy/data")
    """Flights and instructions to learn from, as `wayword train policy --only data` makes them."""
    run_folder: Path = Path("runs/pvn2")
    """Keeps checkpoints and logs, and what --objects all learns from besides; belongs to its settings."""
    out: Path = Path("runs/pvn2/weights")
    """Where the finished weights go."""
    config: Path | None = None
    """A train_config.json, of a run or of weights, to run again; --seed may change its seed, nothing else."""
    show: bool = False
    """Print the settings as a file for --config, and train nothing."""
    control: str = "fspvn"
    """Weights whose stage 2 flies it: shipped ones by name, or a folder (of weights, or of a run of stage 2)."""
    seed: int | None = None
    """Of every part; by default 0, or that of --config."""
    minutes: float = 120.0
    """Of training; the learning rate falls with the time spent."""
    steps: int = 20_000
    """Of training at most."""
    sync: bool = False
    """The same to the bit under the seed: steps end the training, not minutes."""
    training_workers: int = 2
    """Processes of the training, each with batches of its own; another number makes other weights."""
    other_episodes: int = 3000
    """Generated demonstrations about the dev and test objects, for --objects all."""
    device: Literal["cpu", "cuda"] = "cpu"
    """Where it is trained."""
    size: Size = field(default_factory=Size)
    image: ImageSize = field(default_factory=ImageSize)

    def run(self) -> None:
        """Do what is not done yet."""
        need_torch()
        from wayword.learning.policy.pvn2_run import TRAINING, train_pvn2

        config = self.settings()
        if self.show:
            show_settings(TRAINING, config)
            return
        run = train_pvn2(config, self.data, self.run_folder, self.out, announce_part, workers=self.crew())
        warn_of_other_data(run, self.config)
        say(self.out)

    def settings(self) -> Pvn2Training:
        """All settings: those of --config, or of the options."""
        from wayword.learning.common.train_config import read_options
        from wayword.learning.policy.pvn2_run import TRAINING
        from wayword.learning.policy.pvn2_train import Pvn2Training

        check_seed(self.seed or 0)
        if self.config is not None:
            refuse_beside_config(self, ("data", "run_folder", "out", "show", "seed", "workers", "ray"))
            settings = read_options(self.config, TRAINING, Pvn2Training)
            return settings if self.seed is None else settings.with_seed(self.seed)
        for name in ("minutes", "steps", "training_workers", "other_episodes"):
            if getattr(self, name) <= 0:
                raise WaywordError(f"--{name.replace('_', '-')} {getattr(self, name)}: must be positive")
        if self.size.members != 1:
            raise WaywordError(f"--members {self.size.members}: PVN2 is one network; leave it out")
        if self.size.encoded:
            raise WaywordError(f"--encoded {self.size.encoded}: PVN2 reads words by vectors of its own; leave it out")
        base = Pvn2Training(self.objects, size=self.size, image=self.image, control=self.control)
        training = replace(
            base,
            loop=replace(base.loop, minutes=self.minutes, steps=self.steps, device=self.device),
            others=replace(base.others, episodes=self.other_episodes),
            workers=self.training_workers,
        ).with_seed(self.seed or 0)
        return training.exact() if self.sync else training
