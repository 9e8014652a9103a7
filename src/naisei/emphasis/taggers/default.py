"""The tagger that comes with naisei: a CRF with the context of the whole article."""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files

from naisei.emphasis.taggers.crf import CrfTagger
from naisei.emphasis.taggers.store import load

__all__ = ["default_tagger"]


@cache
def default_tagger() -> CrfTagger:
    """Its weights, origin and limits: `naisei/data/emphasis_weights/README.md`."""
    with as_file(files("naisei") / "data" / "emphasis_weights" / "context.npz") as path:
        return load(path)
