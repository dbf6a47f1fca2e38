"""``wayword fly``: fly one instruction and film it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from wayword.cli.common import EpisodeSource, Split, console, one_line, progress_bar
from wayword.errors import WaywordError
from wayword.io import check_target, write_json

if TYPE_CHECKING:
    from wayword.episodes import Example
    from wayword.evaluation.recorder import Recording

PolicyName = Literal["oracle", "average", "stop"]


@dataclass(frozen=True)
class Fly(EpisodeSource):
    """Fly one instruction, film it, and keep every number.

    Writes a video with the drone's view beside the map and the instruction below, and a JSON trace.

    For example: wayword fly --policy oracle --split test --example test-003/1-2 --out flight.gif
    """

    policy: PolicyName = "oracle"
    """Who flies. The oracle is shown the demonstration."""
    split: Split = "dev"
    """Where the episode is taken from."""
    example: str | None = None
    """Which one, such as dev-000/1-2; by default one is drawn with the seed."""
    random_look: bool = False
    """Draw light, ground and surround at random."""
    as_seen: bool = False
    """Show the 128 x 72 pixels the policy sees instead of a sharp picture of the same view."""
    out: Path = Path("out/flight.mp4")
    """The video: .mp4, .gif, or .png for its last frame."""
    trace: Path | None = None
    """The trace; by default beside the video, with the ending .json."""

    def run(self) -> None:
        """Fly, film, write."""
        from wayword.evaluation.recorder import FRAMES_PER_SECOND, RecorderConfig, record
        from wayword.policy import make_policy
        from wayword.sim.pictures.video import check_ending, write_video

        trace = self.trace or self.out.with_suffix(".json")
        check_ending(self.out)
        if check_target(self.out) == check_target(trace):
            raise WaywordError(f"{trace}: video and trace cannot be the same file")
        bank, cuts = self.load()
        example = self._choose(cuts)
        console.print(f"{self.policy} flies {example.id}:", highlight=False, markup=False)
        console.print(one_line(example.instruction), highlight=False, markup=False)
        config = RecorderConfig(self.seed, self.random_look, self.as_seen)
        with progress_bar("flying and filming", 100) as advance:
            recording = record(make_policy(self.policy), example, bank, config, progress=advance)
            write_video(self.out, recording.frames, FRAMES_PER_SECOND)
        write_json(trace, _trace(recording, self.policy, self.seed))
        console.print(recording.outcome, highlight=False)
        console.print(f"{trace}", highlight=False, markup=False, soft_wrap=True)
        console.print(f"{self.out}", highlight=False, markup=False, soft_wrap=True)

    def _choose(self, cuts: list[Example]) -> Example:
        import numpy as np

        if self.example is None:
            return cuts[int(np.random.default_rng(self.seed).integers(len(cuts)))]
        for candidate in cuts:
            if candidate.id == self.example:
                return candidate
        raise WaywordError(f"no example {self.example!r} here; the first is {cuts[0].id!r}, the last {cuts[-1].id!r}")


def _trace(recording: Recording, policy: str, seed: int) -> dict[str, Any]:
    from dataclasses import asdict

    from wayword.cli.evaluate import versions
    from wayword.policy.interface import STOP_THRESHOLD

    example = recording.example
    return {
        "example": example.id,
        "instruction": example.instruction,
        "policy": policy,
        "seed": seed,
        "objects": [asdict(item) for item in example.objects],
        "start": asdict(example.start),
        "demonstration": example.path.round(4).tolist(),
        "decisions": [
            {"time_s": row.time_s, "pose": row.pose, "forward_m_s": row.action[0], "yaw_rate_rad_s": row.action[1],
             "stop": row.action[2] > STOP_THRESHOLD}
            for row in recording.decisions
        ],
        "flown": recording.path.round(4).tolist(),
        "metrics": asdict(recording.metrics),
        "versions": versions(),
    }  # fmt: skip
