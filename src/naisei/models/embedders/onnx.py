"""multilingual-e5-small as an ONNX file for onnxruntime, in whole numbers of 8 bits.

Written by hand, since a graph of 160 nodes does not need the package `onnx`: protocol buffers,
field numbers as in onnx.proto3. Matrices are rounded to 8 bits with a scale for each output;
what is multiplied with them is rounded while it runs, with one scale for each text.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from naisei.models.embedders.packed import Packed

__all__ = ["write_encoder"]

_FLOAT, _INT8 = 1, 3
_MICROSOFT = "com.microsoft"
_IR, _OPSET = 9, 18


def write_encoder(packed: Packed, path: Path) -> None:
    """The layers above the word table: `embedded`, shape (1, tokens, hidden), to `states` of the
    same shape."""
    graph = _Graph()
    width, layers, heads, inner, *_ = packed.shape
    state = graph.norm("embedded", packed, "emb.ln")
    for layer in range(layers):
        at = f"l{layer}."
        # Three matrices as one: their input is rounded once.
        parts = graph.thirds(graph.dense(state, packed, [f"{at}{part}" for part in "qkv"], width))
        seen = graph.node("MultiHeadAttention", parts, domain=_MICROSOFT, num_heads=heads)
        seen = graph.dense(seen, packed, [f"{at}ao"], width)
        state = graph.norm(graph.node("Add", [seen, state]), packed, f"{at}aln")
        wide = graph.dense(state, packed, [f"{at}fi"], width)
        wide = graph.node("Gelu", [wide], domain=_MICROSOFT)
        wide = graph.dense(wide, packed, [f"{at}fo"], inner)
        state = graph.norm(graph.node("Add", [wide, state]), packed, f"{at}oln")
    with path.open("wb") as file:
        for part in graph.model("embedded", state, width):
            file.write(part)


class _Graph:
    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._nodes = 0

    def node(self, kind: str, given: list[str], *, domain: str = "", **options: float) -> str:
        """Returns the name of what it makes."""
        return self._node(kind, given, 1, domain, options)[0]

    def thirds(self, given: str) -> list[str]:
        return self._node("Split", [given], 3, "", {"axis": 2, "num_outputs": 3})

    def _node(
        self, kind: str, given: list[str], makes: int, domain: str, options: dict[str, float]
    ) -> list[str]:
        self._nodes += 1
        names = [f"n{self._nodes}.{i}" for i in range(makes)]
        fields = [_text(1, one) for one in given]
        fields += [_text(2, name) for name in names]
        fields.append(_text(4, kind))
        fields += [_block(5, _option(key, value)) for key, value in options.items()]
        fields.append(_text(7, domain))
        self._parts.append(_block(1, b"".join(fields)))
        return names

    def constant(self, name: str, values: npt.NDArray[np.generic]) -> str:
        kind = _INT8 if values.dtype == np.int8 else _FLOAT
        dims = b"".join(_number(1, size) for size in values.shape)
        raw = np.ascontiguousarray(values).tobytes()
        fields = [dims, _number(2, kind), _text(8, name), _block(9, raw)]
        self._parts.append(_block(5, b"".join(fields)))
        return name

    def dense(self, given: str, packed: Packed, names: list[str], width: int) -> str:
        weights = np.concatenate([packed.tensor(f"{name}.w", width) for name in names])
        bias = np.concatenate([packed.tensor(f"{name}.b") for name in names])
        scales = np.abs(weights).max(1) / np.float32(127)
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

    def model(self, given: str, made: str, width: int) -> Iterator[bytes]:
        self._parts += [
            _text(2, "e5"),
            _block(11, _value(given, width)),
            _block(12, _value(made, width)),
        ]
        yield _number(1, _IR)
        for domain, version in (("", _OPSET), (_MICROSOFT, 1)):
            yield _block(8, _text(1, domain) + _number(2, version))
        yield _tag(7, 2) + _varint(sum(map(len, self._parts)))
        yield from self._parts


def _value(name: str, width: int) -> bytes:
    dims = (_number(1, 1), _text(2, "tokens"), _number(1, width))
    shape = b"".join(_block(1, dim) for dim in dims)
    tensor = _number(1, _FLOAT) + _block(2, shape)
    return _text(1, name) + _block(2, _block(1, tensor))


def _option(name: str, value: float) -> bytes:
    if isinstance(value, int):
        return _text(1, name) + _number(3, value) + _number(20, 2)
    return _text(1, name) + _tag(2, 5) + struct.pack("<f", value) + _number(20, 1)


def _text(field: int, value: str) -> bytes:
    return _block(field, value.encode())


def _block(field: int, value: bytes) -> bytes:
    return _tag(field, 2) + _varint(len(value)) + value


def _number(field: int, value: int) -> bytes:
    return _tag(field, 0) + _varint(value & (2**64 - 1))


def _tag(field: int, kind: int) -> bytes:
    return _varint(field << 3 | kind)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
