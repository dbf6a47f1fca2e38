from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from wayword.errors import DataError, WaywordError
from wayword.weight_folder import (
    WeightFolder,
    content_digest,
    folder_digest,
    holds_weights,
    locate,
    read_checked,
    read_settings,
    read_tensors,
    reading,
    shipped_names,
)

NETWORK = b"a network"


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    """Two folders of weights beside each other, and one that is none."""
    for name in ("sim", "lab"):
        (tmp_path / name).mkdir()
        settings = {"schema": 1, "size": 4, "sha256": {"net.onnx": hashlib.sha256(NETWORK).hexdigest()}}
        (tmp_path / name / "config.json").write_text(json.dumps(settings))
        (tmp_path / name / "net.onnx").write_bytes(NETWORK)
    (tmp_path / "empty").mkdir()
    return tmp_path


def test_weights_are_found_by_name_or_folder(shipped: Path) -> None:
    assert shipped_names(shipped) == ("lab", "sim")
    assert locate("sim", shipped) == locate(Path("sim"), shipped) == shipped / "sim"
    for other in ("empty", "../sim", "nowhere"):
        assert locate(other, shipped) == Path(other)
    assert holds_weights(shipped / "lab")
    assert not holds_weights(shipped / "empty")


def test_a_folder_gives_its_settings_and_the_files_it_vouches_for(shipped: Path) -> None:
    folder = WeightFolder.read(shipped / "sim", schema=1)
    with folder.parsing() as settings:
        assert settings["size"] == 4
    path, sha256 = folder.file("net.onnx")
    assert read_checked(path, sha256) == NETWORK
    with pytest.raises(DataError, match=r"config\.json: is damaged; reinstall or train again"):
        folder.file("other.onnx")
    with pytest.raises(DataError, match="is damaged"), folder.parsing() as settings:
        int(settings["sha256"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is damaged"),
        ("[1]", "is damaged"),
        ("{}", "is damaged"),
        ('{"schema": 2}', "has schema 2; this version reads 1"),
    ],
)
def test_settings_that_cannot_be_read(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_settings(path, schema=1)
    path.unlink()
    with pytest.raises(DataError, match=r"config\.json: cannot be read \(No such file or directory\)"):
        read_settings(path)
    with pytest.raises(DataError, match=r"config\.json: the chunker is missing$"):
        read_settings(path, message="the chunker is missing")


def test_another_file_than_the_one_described_is_refused(shipped: Path) -> None:
    path, sha256 = WeightFolder.read(shipped / "lab").file("net.onnx")
    path.write_bytes(NETWORK + b"!")
    with pytest.raises(DataError, match=r"net\.onnx: is not the file its config\.json describes"):
        read_checked(path, sha256)
    assert read_checked(path, content_digest(NETWORK + b"!")) == NETWORK + b"!"


def test_tensors(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_file({"bias": np.arange(3, dtype=np.float32)}, path)
    np.testing.assert_array_equal(read_tensors(path)["bias"], [0, 1, 2])
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DataError, match="is damaged"):
        read_tensors(path)


def test_a_complaint_gets_the_file_it_is_about() -> None:
    with (
        pytest.raises(DataError, match=r"^a\.json: they do not fit; reinstall or train again$"),
        reading(Path("a.json")),
    ):
        raise WaywordError("they do not fit")
    with pytest.raises(DataError, match=r"^b\.json: is known$"), reading(Path("a.json")):
        raise DataError("b.json", "is known")


def test_a_digest_of_a_folder_counts_data_and_not_code(shipped: Path) -> None:
    before = folder_digest(shipped)
    (shipped / "sim" / "code.py").write_text("1")
    assert folder_digest(shipped) == before
    (shipped / "sim" / "net.onnx").rename(shipped / "sim" / "other.onnx")
    assert folder_digest(shipped) != before
