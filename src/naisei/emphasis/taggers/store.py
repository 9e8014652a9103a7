"""A trained CRF tagger as one file, and back."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from naisei.core import InputError
from naisei.emphasis.crf.sparse import BITS, SparseCrf
from naisei.emphasis.taggers.calibration import Calibration
from naisei.emphasis.taggers.crf import CrfTagger
from naisei.emphasis.taggers.features.terms import Terms
from naisei.emphasis.taggers.plan import CrfPlan
from naisei.emphasis.taggers.spans import SpanRule
from naisei.files import written_beside
from naisei.lang import say

__all__ = ["load", "save"]

_FORMAT = 1


def save(tagger: CrfTagger, path: Path) -> None:
    """Writes the tagger, whole or not at all; weights that are 0 are left out."""
    about = {
        "format": _FORMAT,
        "bits": BITS,
        "plan": tagger.plan.model_dump(),
        "articles": tagger.terms.articles,
        "found_in": dict(tagger.terms.found_in),
        "calibration": [tagger.calibration.scale, tagger.calibration.shift],
        "rule": [tagger.rule.threshold, tagger.rule.cost],
    }
    arrays: dict[str, Any] = {"about": np.array(json.dumps(about, ensure_ascii=False))}
    for name, model in (("tokens", tagger.tokens), ("sentences", tagger.sentences)):
        if model is not None:
            codes = np.flatnonzero(model.weights)
            arrays[f"{name}_codes"] = codes.astype(np.int32)
            arrays[f"{name}_weights"] = model.weights[codes]
            arrays[f"{name}_transitions"] = model.transitions
    with written_beside(path) as scratch, scratch.open("wb") as file:
        np.savez_compressed(file, **arrays)


def load(path: Path) -> CrfTagger:
    """The tagger that `save` wrote.

    Raises:
        InputError: no such file, or it holds no tagger of this kind.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            about = json.loads(str(file["about"]))
            if (about["format"], about["bits"]) != (_FORMAT, BITS):
                raise ValueError(f"its format is {about['format']} with {about['bits']} bits")
            return CrfTagger(
                CrfPlan.model_validate(about["plan"]),
                Terms(int(about["articles"]), about["found_in"]),
                _model(file, "tokens"),
                _model(file, "sentences") if "sentences_codes" in file else None,
                Calibration(*about["calibration"]),
                SpanRule(*about["rule"]),
            )
    except (OSError, ValueError, KeyError, TypeError, EOFError, IndexError,
            zipfile.BadZipFile, ValidationError) as error:  # fmt: skip
        raise InputError(
            say(
                f"学習済みの CRF タガーではありません: {error}",
                f"this is no trained CRF tagger: {error}",
            ),
            place=str(path),
            remedy=say(
                "学習が書き出したファイルを指定してください", "give the file that training wrote"
            ),
        ) from error


def _model(file: Any, name: str) -> SparseCrf:
    weights = np.zeros(1 << BITS)
    weights[file[f"{name}_codes"]] = file[f"{name}_weights"]
    transitions = np.asarray(file[f"{name}_transitions"], np.float64)
    if transitions.shape != (4, 4):
        raise ValueError(f"transitions of shape {transitions.shape}")
    return SparseCrf(weights, transitions)
