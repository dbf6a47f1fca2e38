from __future__ import annotations

import inspect
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from wayword.cli.evaluate import Eval
from wayword.cli.parse import Parse
from wayword.errors import WaywordError
from wayword.flight.setup import real_vehicle
from wayword.flight.vehicle import Vehicle
from wayword.language.chunker import Chunker
from wayword.language.pipeline import LanguageModel
from wayword.policy import Average, Policy, make_policy
from wayword.registry import CHUNKERS, POLICIES, VEHICLES, Registry

ROOT = Path(__file__).parents[1]
MINE = """
class Mine:
    name = "mine"
    def __init__(self, weights=None):
        self.weights = weights
    def reset(self, instructions, objects): ...
    def act(self, observations): ...

class Half:
    name = "half"
    def reset(self, instructions, objects): ...

class Greedy(Mine):
    def __init__(self, temperature, top): ...

def grounded(grounder="sim"):
    return Mine(grounder)

class Words:
    def chunk(self, text):
        return []

number = 7
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a module of the user's own, in which they are; it is not on the path."""
    (tmp_path / "registry_mine.py").write_text(MINE)
    (tmp_path / "registry_broken.py").write_text("import no_such_module\n")
    (tmp_path / "registry_wrong.py").write_text("1 / 0\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("registry_")]:
        del sys.modules[name]


@pytest.mark.parametrize("registry", [POLICIES, VEHICLES, CHUNKERS], ids=lambda one: one.kind)
def test_waywords_own_are_registered_as_all_others_are(registry: Registry) -> None:
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    assert dict(registry.own) == groups[registry.group]
    assert registry.names()[: len(registry.own)] == tuple(registry.own)
    assert all(callable(registry.find(name)) for name in registry.own if name != "spacy")


@pytest.mark.parametrize(
    ("registry", "protocol"), [(POLICIES, Policy), (VEHICLES, Vehicle), (CHUNKERS, Chunker)], ids=("p", "v", "c")
)
def test_what_is_asked_of_each_is_what_its_protocol_says(registry: Registry, protocol: type) -> None:
    public = {name for name in vars(protocol) if not name.startswith("_")}
    assert set(registry.members) == public


def test_the_help_names_every_policy_and_chunker() -> None:
    assert all(name in inspect.getsource(Eval) for name in POLICIES.own)
    assert all(name in inspect.getsource(Parse) for name in CHUNKERS.own)


def test_a_class_in_the_folder_you_are_in(here: Path) -> None:
    policy = make_policy("registry_mine:Mine", weights="some/folder")
    assert (policy.name, policy.weights) == ("mine", "some/folder")  # type: ignore[attr-defined]
    assert make_policy("registry_mine:grounded", grounder="lab").weights == "lab"  # type: ignore[attr-defined]
    assert CHUNKERS.make("registry_mine:Words", offered={"encoder": None}).chunk("the globe") == []


def test_nothing_in_the_folder_stands_in_for_an_installed_module(here: Path) -> None:
    (here / "wayword.py").write_text("raise SystemExit('hijacked')")
    (here / "registry_mine2.py").write_text("import wayword, json\nfrom registry_mine import Mine\n")
    assert make_policy("registry_mine2:Mine").name == "mine"
    assert make_policy("average").name == "average"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "pilot",
            "unknown policy 'pilot'; choose one of oracle, average, stop, fspvn, .*, or your own as module:Class",
        ),
        ("registry_none:Mine", "policy registry_none:Mine: there is no module registry_none; go to the folder"),
        ("registry_mine.deep:Mine", "there is no module registry_mine.deep"),
        ("registry_mine:Other", "registry_mine has no Other; it defines Greedy, Half, Mine, Words, grounded$"),
        ("registry_mine:number", "number is no class or function that makes a policy"),
        ("registry_mine:Half", r"policy registry_mine:Half: is no policy, it has no act\(observations\)$"),
        ("registry_mine:Words", r"it has no name and no reset\(instructions, objects\) and no act\(observations\)$"),
        (
            "registry_mine:Greedy",
            "cannot be made without temperature, top; .* with weights= and grounder= and camera=$",
        ),
        ("registry_broken:Mine", "registry_broken needs no_such_module, which is not installed"),
        ("registry_wrong:Mine", r"registry_wrong cannot be imported \(ZeroDivisionError: division by zero\)"),
        ("./registry_mine.py:Mine", "write a policy of your own as module:Class"),
        ("registry_mine:", "write a policy of your own as module:Class"),
    ],
)
def test_mistakes_are_one_line(name: str, message: str, here: Path) -> None:
    with pytest.raises(WaywordError, match=message) as caught:
        make_policy(name)
    assert "\n" not in str(caught.value)


def test_weights_for_a_policy_that_takes_none_are_refused() -> None:
    with pytest.raises(WaywordError, match="policy average: takes no weights; leave it out"):
        make_policy("average", weights="somewhere")
    with pytest.raises(WaywordError, match="policy stop: takes no grounder"):
        make_policy("stop", grounder="lab")


def _install(folder: Path, package: str, entries: str) -> None:
    """What pip leaves of an installed package with entry points."""
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entries)


def test_installed_packages_add_names_and_take_over_none(here: Path) -> None:
    sys.path.append(str(here))
    _install(here, "one", "[wayword.policies]\nmine = registry_mine:Mine\naverage = registry_mine:Mine\n")
    assert make_policy("mine").name == "mine"
    assert "mine" in POLICIES.names()
    assert isinstance(make_policy("average"), Average)
    _install(here, "two", "[wayword.policies]\nmine = registry_mine:grounded\n")
    with pytest.raises(WaywordError, match="more than one package: say which, registry_mine:Mine or registry_mine:gr"):
        make_policy("mine")


def test_a_vehicle_by_the_scheme_of_its_address(here: Path) -> None:
    names = "".join(f"    def {name}(self, *values): ...\n" for name in VEHICLES.members)
    made = "class Drone:\n    def __init__(self, address, start):\n        self.address, self.start = address, start\n"
    (here / "registry_drone.py").write_text(made + names)
    sys.path.append(str(here))
    _install(here, "drones", "[wayword.vehicles]\nradio = registry_drone:Drone\n")
    place = (1.0, 2.0, 0.5)
    for address in ("radio://0/80/2M", "radio", "registry_drone:Drone"):
        drone = real_vehicle(address, None, None, place)
        assert (drone.address, drone.start) == (address, place)  # type: ignore[attr-defined]
    with pytest.raises(WaywordError, match=r"unknown vehicle 'smoke'; choose one of udpin, udpout, .*, radio, or"):
        real_vehicle("smoke://signals", None, None, place)
    for address in ("drone", "127.0.0.1:14540"):
        with pytest.raises(WaywordError, match="is no vehicle address; for example udpin"):
            real_vehicle(address, None, None, place)
    with pytest.raises(WaywordError, match="needs --video"):
        real_vehicle("tcp://127.0.0.1:5760", None, None, place)


def test_a_chunker_by_name_and_by_itself(here: Path) -> None:
    text, database = "stop at the globe", ()
    assert [chunk.text for chunk in LanguageModel.load().parse(text, database).chunks] == ["the globe"]
    named = LanguageModel.load(chunker="registry_mine:Words")
    assert named.parse(text, database).chunks == ()
    assert LanguageModel.load(chunker=named.chunker).chunker is named.chunker


def test_looking_names_up_is_light() -> None:
    code = (
        "import sys, wayword.cli.main; from wayword.registry import POLICIES; POLICIES.names();"
        "print([m for m in ('numba', 'onnxruntime', 'scipy', 'wayword.policy', 'wayword.sim') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
