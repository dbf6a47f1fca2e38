from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest

from support.mesh_checks import is_closed, signed_volume
from wayword.camera import Camera
from wayword.errors import WaywordError
from wayword.sim.models.catalogue import SPLITS, catalogue, catalogue_mesh, names
from wayword.sim.models.catalogue.registry import BUILDERS, model
from wayword.sim.models.mesh import MAX_FACES, finish
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.look import Light, Look
from wayword.sim.render.renderer import Frames, Renderer

ALL = names()
YAWS = np.arange(8) * math.pi / 4


@dataclass(frozen=True)
class Put:
    name: str
    x: float
    y: float
    yaw: float


def seen_from_all_sides(renderer: Renderer, name: str, distance: float, look_at_z: float | None) -> Frames:
    """Eight views of an object at 2.35, 2.35 from ``distance`` metres on the ground."""
    look = Look(light=Light(shadows=0.0))
    scenes = [renderer.scene([Put(name, 2.35, 2.35, yaw)], look) for yaw in YAWS]
    pitch = 0.0 if look_at_z is None else math.atan2(0.7 - look_at_z, distance) - math.radians(15)
    return renderer.render(scenes, [[2.35, 2.35 - distance, 0.7, 0.0, pitch, math.pi / 2]] * len(YAWS))


def test_names_and_splits() -> None:
    catalogue_mesh(ALL[0])  # registers all builders
    assert len(ALL) == len(set(ALL)) == 80
    assert set(BUILDERS) == set(ALL)
    assert {split: len(names(split)) for split in SPLITS} == {"seen": 64, "dev": 8, "test": 8}
    assert all(entry.looks and 0.1 < entry.longest_edge_m < 1.0 for entry in catalogue().values())


def test_a_second_builder_of_one_name_is_refused() -> None:
    catalogue_mesh(ALL[0])
    with pytest.raises(ValueError, match="two builders"):
        model(ALL[0])(lambda: [])


def test_unknown_names_are_user_errors() -> None:
    with pytest.raises(WaywordError, match="unknown object 'unicorn'"):
        catalogue_mesh("unicorn")
    with pytest.raises(WaywordError, match="unknown catalogue split"):
        names("training")


@pytest.mark.parametrize("name", ALL)
def test_object(name: str) -> None:
    mesh = catalogue_mesh(name)
    assert len(mesh.faces) <= MAX_FACES
    assert mesh.longest_edge == pytest.approx(catalogue()[name].longest_edge_m, abs=1e-3)
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    assert low[2] == pytest.approx(0.0, abs=1e-6)
    np.testing.assert_allclose((low + high)[:2], 0.0, atol=1e-5)
    assert np.isfinite(mesh.vertices).all()
    np.testing.assert_allclose(np.linalg.norm(mesh.normals, axis=1), 1.0, atol=1e-4)
    assert mesh.faces.min() >= 0
    assert mesh.faces.max() < len(mesh.vertices)
    solids = BUILDERS[name]()
    for solid in solids:
        assert is_closed(solid.positions, solid.faces)
        assert signed_volume(solid.positions, solid.faces) > -1e-9  # leaves and petals have no volume
    again = finish(solids, catalogue()[name].longest_edge_m)
    for field in ("vertices", "faces", "normals", "colors"):
        assert getattr(again, field).tobytes() == getattr(mesh, field).tobytes()


def test_every_object_is_seen_at_two_metres(bank: MeshBank) -> None:
    # Two metres from the drone at 0.7 m: sqrt(2^2 - 0.7^2) = 1.87 m on the ground. The smallest side is the
    # banana's from its end, 12 x 17 cm or 4 x 6 pixels.
    renderer = Renderer(bank)
    for name in ALL:
        frames = seen_from_all_sides(renderer, name, math.sqrt(2.0**2 - 0.7**2), None)
        assert (frames.ids > 0).sum(axis=(1, 2)).min() >= 16, name


def test_no_two_objects_look_alike(bank: MeshBank) -> None:
    """Averaged over eight sides, colour and silhouette of any two objects differ by a tenth of full scale."""
    renderer = Renderer(bank, Camera(width=48, height=48, hfov_deg=40))
    looks = {}
    for name in ALL:
        frames = seen_from_all_sides(renderer, name, 1.3, 0.2)
        mask = (frames.ids > 0)[..., None]
        looks[name] = np.concatenate([frames.rgb * mask, 255 * mask], axis=-1).mean(axis=0) / 255
    for one, other in combinations(ALL, 2):
        difference = np.abs(looks[one] - looks[other]).mean(axis=-1).sum()
        either = np.maximum(looks[one][..., 3], looks[other][..., 3]).sum()
        assert difference / either > 0.1, f"{one} and {other}"
