"""Train, dev and test by a hash: what is added later never moves what is there."""

from __future__ import annotations

import hashlib

__all__ = ["SPLITS", "split_name", "split_of"]

SPLITS = ("train", "dev", "test")

_ALIASES = {"valid": "dev", "validation": "dev", "val": "dev", "training": "train"}


def split_of(key: str) -> str:
    """The split of a scene or utterance: about 20 % train, 20 % dev, 60 % test."""
    share = int.from_bytes(hashlib.sha256(key.encode("utf-8")).digest()[:4], "big") / 2**32
    return "train" if share < 0.2 else "dev" if share < 0.4 else "test"


def split_name(name: str) -> str:
    """The usual name of a split: `valid`, `validation` and `val` are `dev`."""
    lowered = name.strip().lower()
    return _ALIASES.get(lowered, lowered)
