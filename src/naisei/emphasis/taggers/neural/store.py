"""A trained neural tagger as a folder, and back.

`tagger.json`: plan, calibration, spans. `tagger.safetensors`: what was trained; the encoder's
word vectors, or the whole encoder where it stayed as it is, are opened by name again.
"""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from naisei.core import InputError
from naisei.emphasis.taggers.calibration import Calibration
from naisei.emphasis.taggers.neural.learning import blank
from naisei.emphasis.taggers.neural.plan import NeuralPlan
from naisei.emphasis.taggers.neural.tagger import NeuralTagger
from naisei.emphasis.taggers.spans import SpanRule
from naisei.files import write_atomically
from naisei.lang import say

__all__ = ["CARD", "load", "save"]

CARD = "tagger.json"
_WEIGHTS = "tagger.safetensors"
_FORMAT = 1


def save(tagger: NeuralTagger, folder: Path) -> None:
    """Writes the tagger; the card comes last, so that a folder with a card is whole."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    about = {
        "format": _FORMAT,
        "name": tagger.name,
        "plan": tagger.plan.model_dump(),
        "calibration": [tagger.calibration.scale, tagger.calibration.shift],
        "rule": [tagger.rule.threshold, tagger.rule.cost],
    }
    scratch = folder / f".{_WEIGHTS}.tmp"
    weights = {name: w.contiguous() for name, w in tagger.learner.weights().items()}
    save_file(weights, str(scratch))
    scratch.replace(folder / _WEIGHTS)
    write_atomically(folder / CARD, json.dumps(about, ensure_ascii=False, indent=1) + "\n")


def load(folder: Path, *, device: str = "cpu") -> NeuralTagger:
    """The tagger that `save` wrote.

    Raises:
        InputError: the folder holds no such tagger, or its encoder cannot be opened.
    """
    try:
        about = json.loads((folder / CARD).read_text(encoding="utf-8"))
        if about["format"] != _FORMAT:
            raise ValueError(f"its format is {about['format']}")
        plan = NeuralPlan.model_validate(about["plan"])
        calibration, rule = Calibration(*about["calibration"]), SpanRule(*about["rule"])
        tagger = blank(plan, device=device)
        from safetensors.torch import load_file

        tagger.learner.load(load_file(str(folder / _WEIGHTS), device=device))
    except InputError:
        raise
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, ValidationError) as error:
        raise InputError(
            say(
                f"学習済みのニューラルタガーではありません: {error}",
                f"this is no trained neural tagger: {error}",
            ),
            place=str(folder),
            remedy=say("学習が書き出したフォルダーを指定してください", "give what training wrote"),
        ) from error
    return NeuralTagger(plan, tagger.learner, tagger.subwords, tagger.longest, calibration, rule)
