"""The network of layout `shared` in numpy; playing needs no neural runtime.

A BERT with masked segments: the state attends to itself, an action to the state and itself; the
last layer computes only each action's `[CLS]`. Weights: `model.npz` with torch's names, each matrix
int8 with a scale per row (`NAME.scale`) or float32, and `attention_heads`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from naisei.textgame.trained.encoding import Shared

Floats = NDArray[np.float32]
#: In all layers but the last, the first attention heads attend to a token's other occurrences
#: in the state, one, two and three tokens before them ("dice the red onion") and
#: one after; the next heads attend to one, two and three tokens before the token itself.
_ELSEWHERE, _BESIDE = (0, -1, -2, -3, 1), (1, 2, 3)
#: Bonus on those logits, and per equal neighbour, so that
#: a "red bell pepper" matches another one rather than a green one.
_MATCH, _NEIGHBOUR = 5.0, 3.0
_EPSILON = np.float32(1e-12)
#: Most multiplications of a matrix product for which OpenBLAS uses one thread.
_ONE_THREAD = 65536 * 4


class NumpyNetwork:
    """Logits of one state's actions."""

    def __init__(self, path: Path) -> None:
        """Raises `OSError`, `ValueError` or `KeyError` for another file type."""
        with np.load(path, allow_pickle=False) as stored:
            arrays = dict(stored)
        self._heads = int(arrays["attention_heads"])
        self._weights: dict[str, Floats] = {}
        for name, array in arrays.items():
            if name.startswith(("body.", "head.")) and not name.endswith(".scale"):
                whole = array.astype(np.float32)
                if f"{name}.scale" in arrays:
                    whole *= arrays[f"{name}.scale"]
                is_layer = whole.ndim == 2 and "embeddings" not in name
                # Dequantised once instead of at every call.
                self._weights[name] = np.ascontiguousarray(whole.T) if is_layer else whole
        numbers = {int(n.split(".")[3]) for n in self._weights if n.startswith("body.encoder.")}
        self._layers = [f"body.encoder.layer.{number}" for number in sorted(numbers)]
        if not self._layers:
            raise ValueError("no layers")

    def rate(self, batch: Shared) -> Floats:
        """Logits, `(actions,)`."""
        ids, segments = batch.input_ids, batch.segments
        positions, heads = batch.position_ids, batch.heads
        part = self._weights.__getitem__
        states = part("body.embeddings.word_embeddings.weight")[ids]
        states = states + part("body.embeddings.token_type_embeddings.weight")[batch.parts]
        states = states + part("body.embeddings.position_embeddings.weight")[positions]
        states = self._normal(states, "body.embeddings.LayerNorm")
        visible = (segments[:, None] == segments[None]) | (segments == 0)[None]
        mask = ((1 - visible.astype(np.float32)) * np.float32(-1e4))[None]
        finding = mask + self._matches(ids, segments, positions)
        for layer in self._layers[:-1]:
            states = self._attend(layer, states, states, finding)
        queries = self._attend(self._layers[-1], states[heads], states, mask[:, heads])
        head = part("head.weight")[:, 0]
        logits: Floats = (queries * head).sum(axis=1) + part("head.bias")
        return logits

    def _attend(self, layer: str, queries: Floats, keys: Floats, mask: Floats) -> Floats:
        """queries: `(n, width)`. keys: `(tokens, width)`. mask: `(1 or heads, n, tokens)`."""
        own = f"{layer}.attention.self"
        query = self._split(self._linear(queries, f"{own}.query"))
        key = self._split(self._linear(keys, f"{own}.key"))
        value = self._split(self._linear(keys, f"{own}.value"))
        logits = _product(query, key.transpose(0, 2, 1))
        logits *= np.float32(query.shape[2] ** -0.5)
        logits += mask
        logits -= logits.max(axis=2, keepdims=True)
        np.exp(logits, out=logits)
        logits /= logits.sum(axis=2, keepdims=True)
        mixed = _product(logits, value).transpose(1, 0, 2).reshape(len(queries), -1)
        out = f"{layer}.attention.output"
        mixed = self._normal(self._linear(mixed, f"{out}.dense") + queries, f"{out}.LayerNorm")
        inner = _gelu(self._linear(mixed, f"{layer}.intermediate.dense"))
        inner = self._linear(inner, f"{layer}.output.dense")
        return self._normal(inner + mixed, f"{layer}.output.LayerNorm")

    def _matches(
        self, ids: NDArray[np.int64], segments: NDArray[np.int64], positions: NDArray[np.int64]
    ) -> Floats:
        """Bonuses for matching tokens, `(heads, tokens, tokens)`, added to attention logits."""
        before = positions[:, None] - positions[None]
        state = (segments == 0)[None].astype(np.float32)
        found = ((ids[:, None] == ids[None]) & (before != 0)).astype(np.float32) * state
        neighbours = np.zeros_like(found)
        neighbours[1:, 1:] += found[:-1, :-1]
        neighbours[:-1, :-1] += found[1:, 1:]
        found = found * (_MATCH + _NEIGHBOUR * neighbours).astype(np.float32)
        out = np.zeros((self._heads, *found.shape), np.float32)
        length = len(ids)
        for head, by in enumerate(_ELSEWHERE[: self._heads]):
            # Shift matches by `by` tokens.
            if by < 0:
                out[head, :, : length + by] = found[:, -by:]
            else:
                out[head, :, by:] = found[:, : length - by]
            out[head] *= state
        for head, by in enumerate(_BESIDE[: max(self._heads - len(_ELSEWHERE), 0)]):
            out[len(_ELSEWHERE) + head] = (before == by) * np.float32(_MATCH)
        return out

    def _split(self, states: Floats) -> Floats:
        return states.reshape(len(states), self._heads, -1).transpose(1, 0, 2)

    def _linear(self, states: Floats, name: str) -> Floats:
        return _product(states, self._weights[f"{name}.weight"]) + self._weights[f"{name}.bias"]

    def _normal(self, states: Floats, name: str) -> Floats:
        centred = states - states.mean(axis=1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(axis=1, keepdims=True) + _EPSILON)
        scale, bias = self._weights[f"{name}.weight"], self._weights[f"{name}.bias"]
        out: Floats = centred / spread * scale + bias
        return out


def _product(left: Floats, right: Floats) -> Floats:
    """`left @ right` in blocks of rows small enough for one thread.

    The matrices are small: distributing them over cores takes ten times the work, and other games
    use the cores.
    """
    *outer, count, inner = left.shape
    rows = max(2, _ONE_THREAD // (inner * right.shape[-1]))
    blocks = -(-count // rows)
    padded = np.zeros((*outer, blocks * rows, inner), np.float32)
    padded[..., :count, :] = left
    out: Floats = padded.reshape(*outer, blocks, rows, inner) @ right[..., None, :, :]
    return out.reshape(*outer, blocks * rows, -1)[..., :count, :]


def _gelu(x: Floats) -> Floats:
    """x Φ(x); the error function as Abramowitz and Stegun 7.1.26, to within 1.5e-7."""
    size = np.abs(x) * np.float32(0.5**0.5)
    t = 1 / (1 + np.float32(0.3275911) * size)
    series = np.zeros_like(t)
    for factor in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = (series + np.float32(factor)) * t
    erf = np.copysign(1 - series * np.exp(-size * size), x)
    out: Floats = x * np.float32(0.5) * (1 + erf)
    return out
