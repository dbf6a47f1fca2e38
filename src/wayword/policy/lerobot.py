"""Policies that LeRobot has trained, flown here: ``--policy lerobot --weights FOLDER``.

    wayword data export --format lerobot --policy oracle --limit 200 --out data/lerobot
    lerobot-train --dataset.repo_id=wayword/flights --dataset.root=data/lerobot --policy.type=act ...
    wayword eval --policy lerobot --weights out/act/checkpoints/last/pretrained_model --split dev

The folder is the one that LeRobot writes: configuration, weights, and how observations and actions are normalised.
The package ``lerobot`` must be in the same environment (docs/recordings.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayword.errors import WaywordError
from wayword.policy.interface import Observations

IMAGE, STATE = "observation.images.front", "observation.state"
"""As ``wayword data export --format lerobot`` calls them."""


class LeRobotPolicy:
    """Any policy of LeRobot's factory; what it knows of objects is in its weights."""

    name = "lerobot"
    needs_objects = False

    def __init__(self, policy: Any, before: Any, after: Any) -> None:
        """``before`` and ``after`` are LeRobot's pipelines around a policy: normalising, tokenising and back."""
        self._policy, self._before, self._after = policy, before, after
        self._instructions: list[str] = []
        self._images: NDArray[np.uint8] | None = None
        self._poses: NDArray[np.float64] = np.zeros((0, 6))

    @classmethod
    def load(cls, weights: Path | str | None = None) -> LeRobotPolicy:
        """From a folder ``pretrained_model`` that LeRobot has written; nothing is ever downloaded."""
        if weights is None:
            raise WaywordError("policy lerobot: say which one, --weights .../pretrained_model of a lerobot-train")
        folder = Path(weights)
        if not (folder / "config.json").is_file():
            raise WaywordError(f"policy lerobot: {folder} has no config.json; give a folder pretrained_model")
        try:
            from lerobot.configs.policies import PreTrainedConfig
            from lerobot.policies.factory import get_policy_class, make_pre_post_processors
        except ImportError as error:
            raise WaywordError(f'policy lerobot needs LeRobot: pip install -e ".[lerobot-train]" ({error})') from error
        config = PreTrainedConfig.from_pretrained(folder, local_files_only=True)
        config.device = "cpu"
        policy = get_policy_class(config.type).from_pretrained(folder, config=config, local_files_only=True)
        here = {"device_processor": {"device": "cpu"}}
        before, after = make_pre_post_processors(config, pretrained_path=str(folder), preprocessor_overrides=here)
        policy.eval()
        return cls(policy, before, after)

    def reset(self, instructions: Sequence[str], objects: Sequence[Any]) -> None:
        """Start anew; what is planned ahead is forgotten."""
        self._instructions = list(instructions)
        self._images, self._poses = None, np.zeros((len(self._instructions), 6))
        self._policy.reset()

    def act(self, observations: Observations) -> NDArray[np.float64]:
        """One action each. LeRobot plans ahead for a batch that stays whole: who has landed keeps a row in it."""
        import torch

        if self._images is None:
            self._images = np.zeros((len(self._instructions), *observations.images.shape[1:]), np.uint8)
        self._images[observations.slots] = observations.images
        self._poses[observations.slots] = observations.poses
        batch = {
            IMAGE: torch.from_numpy(self._images).permute(0, 3, 1, 2).float() / 255,
            STATE: torch.from_numpy(self._poses).float(),
            "task": list(self._instructions),
        }
        with torch.inference_mode():
            actions = self._after(self._policy.select_action(self._before(batch)))
        result: NDArray[np.float64] = np.asarray(actions, np.float64)[observations.slots]
        return result
