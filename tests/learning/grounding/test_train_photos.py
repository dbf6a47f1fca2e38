"""How photographs are looked at: drawn photos, the fits, and the backbone as it ships."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from support.extra_torch import torch
from wayword.cli.train_photos import TrainPhotos
from wayword.errors import DataError, WaywordError
from wayword.grounding.photo_candidates import TRAITS, Candidates
from wayword.grounding.photo_vectors import PHOTO_WEIGHTS
from wayword.grounding.shared_thing import Choice, ChoiceConfig
from wayword.learning.ar.config import PoolConfig
from wayword.learning.ar.objects import ObjectPool
from wayword.learning.common.train_config import claim
from wayword.learning.grounding.backbone import SIDE, Backbone, SamePad, backbone_onnx, read_backbone
from wayword.learning.grounding.fit_photos import Looked, likeliest_weights, logistic_weights, measure_crops
from wayword.learning.grounding.photo_names import cut_out, fit_photo_density, two_against_two
from wayword.learning.grounding.teachings import HEIGHT, WIDTH, draw_teachings
from wayword.learning.grounding.train_photos import TRAINING, PhotoSources, PhotoTraining, train_photos


@pytest.fixture(scope="module")
def backbone() -> Backbone:
    torch.manual_seed(0)
    return Backbone().eval()


def test_the_backbone_has_the_size_of_efficientnet_lite0(backbone: Backbone) -> None:
    # 4,652,008 parameters (4.7 million, as published) less the classifier's 1280 x 1000 + 1000.
    assert sum(p.numel() for p in backbone.parameters()) == 4_652_008 - 1_281_000
    with torch.no_grad():
        assert backbone(torch.zeros(2, 3, SIDE, SIDE)).shape == (2, 1280)


def test_padding_puts_the_odd_pixel_right_and_below() -> None:
    # 4 pixels, kernel 3, stride 2: 2 outputs see (2 - 1) 2 + 3 = 5 pixels, so one is missing.
    padded = SamePad(3, 2)(torch.ones(1, 1, 4, 4))
    assert padded.shape == (1, 1, 5, 5)
    assert padded[0, 0, 4].sum() == 0
    assert padded[0, 0, 0, :4].tolist() == [1, 1, 1, 1]


def test_half_precision_changes_the_answers_little(backbone: Backbone) -> None:
    content = backbone_onnx(backbone)
    assert len(content) < 8_000_000
    crops = np.random.default_rng(0).uniform(-1, 1, (2, 3, SIDE, SIDE)).astype(np.float32)
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    (ours,) = session.run(None, {"x": crops})
    with torch.no_grad():
        theirs = backbone(torch.from_numpy(crops)).numpy()
    cosine = (ours * theirs).sum(axis=1) / np.linalg.norm(ours, axis=1) / np.linalg.norm(theirs, axis=1)
    assert cosine.min() > 0.9999


def test_another_file_is_no_backbone(tmp_path: Path, backbone: Backbone) -> None:
    path = tmp_path / "weights.pth"
    torch.save({"_fc.weight": torch.zeros(3), "stem": torch.zeros(2)}, path)
    with pytest.raises(DataError, match="is not the file of"):
        read_backbone(path)
    torch.save({**backbone.state_dict(), "_fc.weight": torch.zeros(1)}, path)
    again = read_backbone(path)
    assert torch.equal(again.layers[1].weight, backbone.layers[1].weight)


def test_drawn_photos_show_the_thing_whole_with_its_box() -> None:
    pool = ObjectPool.build((), PoolConfig(random_objects=14, min_edge_m=0.2, max_edge_m=0.4), "train")
    plain = np.full((64, 128, 3), 0.4, np.float32)
    made = list(draw_teachings(pool, [plain], count=3, seed=1, photos=2, clutter=2))
    assert len(made) == 3
    for teaching in made:
        for photo, box in zip(teaching.photos, teaching.boxes, strict=True):
            assert photo.shape == (HEIGHT, WIDTH, 3)
            assert 0 <= box.x0 < box.x1 <= WIDTH
            assert 0 <= box.y0 < box.y1 <= HEIGHT
            assert 0.1 * HEIGHT < max(box.width, box.height) < 1.1 * HEIGHT
    again = next(draw_teachings(pool, [plain], count=3, seed=1, photos=2, clutter=2))
    np.testing.assert_array_equal(again.photos[0], made[0].photos[0])


def test_weights_favour_the_trait_of_right_boxes() -> None:
    rng = np.random.default_rng(2)
    rows = []
    for _ in range(60):
        right = np.zeros(5, bool)
        right[rng.integers(5)] = True
        traits = np.column_stack([right + 0.3 * rng.standard_normal(5), rng.standard_normal(5)])
        rows.append((traits, right))
    weights = likeliest_weights([*rows, (np.ones((2, 2)), np.zeros(2, bool))])  # a photo without a right box is no help
    assert weights[0] > 2
    assert abs(weights[1]) < 0.5


def test_logistic_weights_by_hand() -> None:
    # Three of four are right whatever is said: the constant is log 3 and the rest 0.
    x = np.array([[1.0, 1.0], [-1.0, 1.0], [1.0, 1.0], [-1.0, 1.0]] * 2)
    y = np.array([1, 1, 1, 0, 0, 1, 1, 1], float)
    found = logistic_weights(x, y)
    assert found[0] == pytest.approx(0.0, abs=1e-3)
    assert found[1] == pytest.approx(math.log(3), abs=2e-3)


def looked(thing: int, rng: np.random.Generator, photos: int = 5) -> Looked:
    """Photos with the thing as first box and background as second; the odds do not tell them apart."""
    own = np.zeros(12, np.float32)
    own[thing] = 1
    made = []
    for _ in range(photos):
        other = rng.standard_normal(12).astype(np.float32)
        vectors = np.stack([own + 0.1 * rng.standard_normal(12).astype(np.float32), other])
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        made.append(Candidates(np.zeros((2, 4), np.float32), np.zeros((2, len(TRAITS))), vectors, vectors))
    true = np.stack([photo.vectors[0] for photo in made])
    return Looked(tuple(made), (np.array([True, False]),) * photos, true, true)


def test_crops_and_names_are_measured() -> None:
    rng = np.random.default_rng(3)
    things = [looked(thing, rng) for thing in range(12)]
    none = Choice((0.0,) * len(TRAITS), (0.0, 0.0, 2.0))
    blind, agreeing = (
        ChoiceConfig(none, Choice((0.0,) * (len(TRAITS) + 3), none.confidence)),
        ChoiceConfig(none, Choice((*(0.0 for _ in TRAITS), 1.0, 0.0, 0.0), none.confidence)),
    )
    together = measure_crops(things, agreeing, 5)
    assert together.right.mean > 0.9
    assert together.right.n == 60
    assert together.sure.mean == 1.0  # sigmoid(2) = 0.88 for all of them
    assert together.gap == pytest.approx(0.88 - together.right.mean, abs=0.01)
    assert measure_crops(things, blind, 5).right.mean == 1.0  # of equals the first is taken, which is the thing here
    density, share = fit_photo_density(things, rng, count=40, rounds=12)
    assert share in (0.3, 0.5, 0.7)
    known, asked = cut_out(things, agreeing, (0, 1)), cut_out(things, agreeing, (2, 3))
    assert two_against_two(known, asked, share, density.variance, 10, 60, rng).mean > 0.8


def test_the_shipped_weights_can_be_made_again_from_their_settings() -> None:
    verb = TrainPhotos(config=PHOTO_WEIGHTS / "train_config.json")
    assert verb.settings() == PhotoTraining(things=120, held_out=80, grounder="real", seed=5)
    assert TrainPhotos(config=verb.config, seed=7).settings().seed == 7
    sources = verb._sources()
    assert sources.backbone.name == "efficientnet-lite0-57934424.pth"
    assert [path.stem for path in sources.packs] == ["gso", "quat", "kaykit", "tox"]
    assert len(sources.panoramas) == 8
    assert len(sources.held_panoramas) == 4
    with pytest.raises(WaywordError, match="--things: --config has all settings"):
        TrainPhotos(config=verb.config, things=40).settings()
    with pytest.raises(WaywordError, match="are needed, or --config"):
        TrainPhotos()._sources()


def test_a_folder_belongs_to_its_settings(tmp_path: Path) -> None:
    names = ("backbone.pth", "pack.npz", "room.hdr", "other.hdr")
    for name in names:
        (tmp_path / name).write_text(name)
    backbone, pack, room, other = (tmp_path / name for name in names)
    sources = PhotoSources(backbone, (pack,), (room,), (other,))
    claim(tmp_path / "out", TRAINING, PhotoTraining(), sources)
    with pytest.raises(WaywordError, match=r"other settings \(things 120, now 20;"):
        train_photos(PhotoTraining(things=20), sources, tmp_path / "out")
