"""Commands: what people type, what it means as steps, and which object a rule means."""

from wayword.episodes.commands.corpus import (
    COMMAND_SPLITS,
    Command,
    FilledCommand,
    families,
    fill,
    load_commands,
)
from wayword.episodes.commands.equal import canonical_steps
from wayword.episodes.commands.scenes import (
    SCENE_KINDS,
    CommandScene,
    CommandSceneConfig,
    SceneKind,
    draw_command_scene,
)
from wayword.episodes.commands.select import choose, margin, ranked
from wayword.episodes.commands.steps import Select, Step, Until

__all__ = [
    "COMMAND_SPLITS",
    "SCENE_KINDS",
    "Command",
    "CommandScene",
    "CommandSceneConfig",
    "FilledCommand",
    "SceneKind",
    "Select",
    "Step",
    "Until",
    "canonical_steps",
    "choose",
    "draw_command_scene",
    "families",
    "fill",
    "load_commands",
    "margin",
    "ranked",
]
