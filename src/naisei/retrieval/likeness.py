"""How much of two documents is the same: MinHash over runs of five characters.

The share of equal places of two signatures estimates the Jaccard index of the two texts' sets
of runs, standard error below 0.05. Sources: Broder, On the resemblance and containment of
documents, 1997; one hash for all places, and empty ones filled: Shrivastava & Li, ICML 2014.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import combinations

import numpy as np
import numpy.typing as npt

from naisei.retrieval.types import Passage

__all__ = ["PLACES", "alike", "likely_pairs", "signature"]

PLACES = 128  # the greatest 7 bits of a hash say which
_EMPTY = np.uint64(2**64 - 1)
_RUN, _BANDS = 5, 32
#: Characters that are looked at, and the most documents of one band that are compared.
_MOST, _CROWD = 50_000, 50
_SPACE = re.compile(r"[\W_]+")


def signature(passages: Iterable[Passage]) -> bytes:
    """`PLACES` numbers of 32 bits; marks, spaces, width and case do not count."""
    text = "".join(passage.text for passage in passages)[:_MOST]
    folded = _SPACE.sub("", unicodedata.normalize("NFKC", text).casefold()).ljust(_RUN)
    codes = np.frombuffer(folded.encode("utf-32-le", "replace"), dtype=np.uint32).astype(np.uint64)
    runs = np.zeros(len(codes) - _RUN + 1, dtype=np.uint64)
    for i in range(_RUN):
        runs = runs * np.uint64(1_000_003) + codes[i : len(codes) - _RUN + 1 + i]
    # A finaliser (murmur3's), so that the greatest bits depend on all others.
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        runs = (runs ^ (runs >> np.uint64(33))) * np.uint64(factor)
    runs ^= runs >> np.uint64(33)
    least = np.full(PLACES, _EMPTY, dtype=np.uint64)
    np.minimum.at(least, (runs >> np.uint64(57)).astype(np.intp), runs & _EMPTY >> np.uint64(7))
    filled = np.flatnonzero(least != _EMPTY)
    # An empty place takes over the next that is filled, marked by how far away that is.
    ahead = filled[np.searchsorted(filled, np.arange(PLACES)) % len(filled)]
    far = (ahead - np.arange(PLACES)) % PLACES
    return (
        ((least[ahead] >> np.uint64(25)) + far.astype(np.uint64) * np.uint64(0x9E3779B1))
        .astype("<u4")
        .tobytes()
    )


def alike(one: bytes, two: bytes) -> float:
    """0 to 1."""
    return float(np.mean(np.frombuffer(one, "<u4") == np.frombuffer(two, "<u4")))


def likely_pairs(signatures: list[bytes]) -> Iterator[tuple[int, int]]:
    """Pairs (i < j) that may be alike by more than half: those with an equal band. Each once."""
    if not signatures:
        return
    table: npt.NDArray[np.uint32] = np.stack([np.frombuffer(s, "<u4") for s in signatures])
    seen: set[tuple[int, int]] = set()
    width = PLACES // _BANDS
    for band in range(_BANDS):
        buckets: dict[bytes, list[int]] = {}
        for i, row in enumerate(table[:, band * width : (band + 1) * width]):
            buckets.setdefault(row.tobytes(), []).append(i)
        for bucket in buckets.values():
            for pair in combinations(bucket[:_CROWD], 2):
                if pair not in seen:
                    seen.add(pair)
                    yield pair
