"""Policies, vehicles and chunkers by name: Wayword's own, those of installed packages, and those of a file of yours.

    POLICIES.make("average")                    # its own, by name
    POLICIES.make("mymodule:MyPolicy")          # a class or function of a module, in the folder you are in or installed

A name stands for ``module:attribute``, something that is called to make the thing. Installed packages add names through
the entry points ``wayword.policies``, ``wayword.vehicles`` and ``wayword.chunkers``; Wayword's own names stand in its
``pyproject.toml`` as all others do, and here as well, so that a source tree without metadata knows them. Its own names
cannot be taken over. Nothing is imported but what a name was asked for. docs/extending.md has examples.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from wayword.errors import WaywordError

_REFERENCE = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)", re.ASCII)


@dataclass(frozen=True)
class Registry:
    """Things of one kind, by name."""

    kind: str
    """What one of them is called in messages."""
    group: str
    """The group of entry points."""
    own: Mapping[str, str]
    """Wayword's own: name to ``module:attribute``."""
    members: Mapping[str, str]
    """What each must have, and how it is written in a message."""
    options: tuple[str, ...] = field(default=())
    """Keyword arguments it may take when it is made."""

    def names(self) -> tuple[str, ...]:
        """All registered names, Wayword's own first."""
        return (*self.own, *sorted(set(self._installed()) - set(self.own)))

    def find(self, name: str) -> Callable[..., Any]:
        """What makes the thing: a registered name's, or that of ``module:attribute``."""
        reference = name
        if ":" not in name:
            reference = self.own.get(name) or self._entry_point(name)
        match = _REFERENCE.fullmatch(reference)
        if match is None:
            raise WaywordError(f"{self.kind} {name!r}: write a {self.kind} of your own as module:Class")
        maker = self._attribute(_import(match[1], f"{self.kind} {name}"), match[2], name)
        if not callable(maker):
            raise WaywordError(f"{self.kind} {name}: {match[2]} is no class or function that makes a {self.kind}")
        return maker  # type: ignore[no-any-return]

    def make(
        self, name: str, options: Mapping[str, Any] | None = None, offered: Mapping[str, Any] | None = None
    ) -> Any:
        """Make the thing and check that it has all its members.

        ``options`` are what the user asked for, and it must take them; of what is ``offered`` it gets what it takes.
        """
        maker, options, offered = self.find(name), dict(options or {}), dict(offered or {})
        names = _options_of(maker, self.options)
        refused = next((option for option in options if option not in names), None)
        if refused is not None:
            raise WaywordError(f"{self.kind} {name}: takes no {refused}; leave it out")
        arguments = {option: value for option, value in (offered | options).items() if option in names}
        needed = _still_needed(maker, arguments)
        if needed:
            may = " and ".join(f"{option}=" for option in self.options)
            raise WaywordError(
                f"{self.kind} {name}: cannot be made without {needed}; a {self.kind} is made with no arguments"
                + (f", or with {may}" if may else "")
            )
        result = maker(**arguments)
        missing = [text for member, text in self.members.items() if not hasattr(result, member)]
        if missing:
            raise WaywordError(f"{self.kind} {name}: is no {self.kind}, it has no {' and no '.join(missing)}")
        return result

    def _entry_point(self, name: str) -> str:
        references = self._installed().get(name, set())
        if not references:
            known = ", ".join(self.names())
            raise WaywordError(f"unknown {self.kind} {name!r}; choose one of {known}, or your own as module:Class")
        if len(references) > 1:
            which = " or ".join(sorted(references))
            raise WaywordError(f"{self.kind} {name!r} is registered by more than one package: say which, {which}")
        return next(iter(references))

    def _installed(self) -> dict[str, set[str]]:
        """What installed packages register: name to ``module:attribute``, more than one if they disagree."""
        from importlib.metadata import entry_points  # a tenth of a second that `wayword --help` does not need

        references: dict[str, set[str]] = {}
        for entry in entry_points(group=self.group):
            references.setdefault(entry.name, set()).add(entry.value.replace(" ", ""))
        return references

    def _attribute(self, module: ModuleType, attribute: str, name: str) -> Any:
        value: Any = module
        for part in attribute.split("."):
            if not hasattr(value, part):
                here = [key for key, one in vars(module).items() if getattr(one, "__module__", "") == module.__name__]
                public = ", ".join(sorted(key for key in here if not key.startswith("_"))) or "nothing"
                raise WaywordError(f"{self.kind} {name}: {module.__name__} has no {attribute}; it defines {public}")
            value = getattr(value, part)
        return value


def is_reference(name: str) -> bool:
    """Whether a name is written as module:attribute."""
    return _REFERENCE.fullmatch(name) is not None


def _import(module: str, what: str) -> ModuleType:
    """Import a module; one that is nowhere else is looked for in the folder the user is in."""
    top = module.split(".")[0]
    try:
        if top not in sys.modules and importlib.util.find_spec(top) is None and os.getcwd() not in sys.path:
            sys.path.append(os.getcwd())  # last: nothing there can stand in for an installed module
            importlib.invalidate_caches()
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and (module == error.name or module.startswith(f"{error.name}.")):
            raise WaywordError(
                f"{what}: there is no module {error.name}; go to the folder that holds it, or install it"
            ) from error
        raise WaywordError(f"{what}: {module} needs {error.name}, which is not installed") from error
    except WaywordError:
        raise
    except Exception as error:  # whatever a module does when it is imported
        raise WaywordError(f"{what}: {module} cannot be imported ({type(error).__name__}: {error})") from error


def _options_of(maker: Callable[..., Any], options: tuple[str, ...]) -> set[str]:
    """Which of the options something can be called with."""
    parameters = _parameters(maker)
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values()):
        return set(options)
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {name for name, one in parameters.items() if one.kind in by_name} & set(options)


def _still_needed(maker: Callable[..., Any], arguments: Mapping[str, Any]) -> str:
    """Parameters without a value, in words; "" if there are none."""
    optional = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    empty = inspect.Parameter.empty
    needed = [n for n, one in _parameters(maker).items() if one.default is empty and one.kind not in optional]
    return ", ".join(name for name in needed if name not in arguments)


def _parameters(maker: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(maker).parameters
    except (TypeError, ValueError):  # something built in, which says nothing of itself
        return {}


POLICIES = Registry(
    "policy",
    "wayword.policies",
    {
        "oracle": "wayword.policy.oracle:Oracle",
        "average": "wayword.policy.baselines:Average",
        "stop": "wayword.policy.baselines:Stop",
        "fspvn": "wayword.policy.variants:FSPVN.load",
        "fspvn_bc": "wayword.policy.variants:FSPVN_BC.load",
        "fspvn_nou": "wayword.policy.variants:FSPVN_NOU.load",
        "fspvn_noi": "wayword.policy.variants:FSPVN_NOI.load",
        "fspvn_perfect": "wayword.policy.variants:FSPVN_PERFECT.load",
        "pvn2_seen": "wayword.policy.pvn2:PVN2_SEEN.load",
        "pvn2_all": "wayword.policy.pvn2:PVN2_ALL.load",
        "wayword": "wayword.policy.variants:WAYFINDER.load",
        "wayword_told": "wayword.policy.variants:WAYFINDER_TOLD.load",
        "wayword_perfect": "wayword.policy.variants:WAYFINDER_PERFECT.load",
        "oracle_steps": "wayword.policy.steps.oracle:StepOracle",
        "lerobot": "wayword.policy.lerobot:LeRobotPolicy.load",
    },
    {"name": "name", "reset": "reset(instructions, objects)", "act": "act(observations)"},
    ("weights", "grounder", "camera"),
)

VEHICLES = Registry(
    "vehicle",
    "wayword.vehicles",
    {
        "udpin": "wayword.flight.setup:mavlink_vehicle",
        "udpout": "wayword.flight.setup:mavlink_vehicle",
        "tcp": "wayword.flight.setup:mavlink_vehicle",
        "tcpin": "wayword.flight.setup:mavlink_vehicle",
        "serial": "wayword.flight.setup:mavlink_vehicle",
    },
    {
        "now": "now()",
        "wait": "wait(seconds)",
        "connect": "connect()",
        "checks": "checks()",
        "take_off": "take_off(height_m)",
        "telemetry": "telemetry()",
        "shot": "shot()",
        "set_velocity": "set_velocity(forward_m_s, yaw_rate_rad_s, left_m_s)",
        "hold": "hold(anchor)",
        "land": "land()",
        "emergency_stop": "emergency_stop()",
        "close": "close()",
    },
    ("address", "video", "camera", "start", "video_delay"),
)
"""By the scheme of the address, such as udpin of udpin://127.0.0.1:14540."""

CHUNKERS = Registry(
    "chunker",
    "wayword.chunkers",
    {
        "shipped": "wayword.language.chunker:load_chunker",
        "spacy": "wayword.language.spacy_chunker:SpacyChunker",
    },
    {"chunk": "chunk(text)"},
    ("encoder",),
)
