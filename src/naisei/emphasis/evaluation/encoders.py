"""Which encoder understands the language best, by how well it finds emphasis (thesis, ch. 4)."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from naisei.core import InputError
from naisei.emphasis.encoders.convert import NAME
from naisei.emphasis.evaluation.config import EvalConfig
from naisei.emphasis.evaluation.recipes import neural_plan
from naisei.emphasis.evaluation.specs import parsed
from naisei.emphasis.taggers.neural.plan import NeuralPlan
from naisei.emphasis.training.small import small as made_small
from naisei.lang import say

__all__ = ["compared"]

_DEFAULT = tuple(f"{NAME}:{layers}" for layers in (3, 6, 12))


def compared(
    base: EvalConfig,
    encoders: Sequence[str],
    *,
    tagger: str,
    small: bool | None,
    baselines: bool,
) -> dict[str, EvalConfig]:
    """Label → configuration: the same tagger on each encoder, all else alike.

    encoders: `NAME[:LAYERS]`; empty, the default one with a quarter, half and all of its layers.
    small: settings for a processor; `None` for where there is no GPU. What `tagger` sets itself
    stays as it says.

    Raises:
        InputError: a tagger without an encoder, no such setting, or layers that are no number.
    """
    name, options = parsed(tagger)
    plan = neural_plan(name, options)
    if small is None:
        small = not _has_gpu()

    def settings(whole: NeuralPlan) -> dict[str, JsonValue]:
        sized = made_small(whole) if small else whole
        kept = whole.model_dump(mode="json", include=set(options))
        # Only what differs from the row's own: that is what the configuration shows.
        plain = type(whole)().model_dump(mode="json")
        now = {**sized.model_dump(mode="json"), **kept}
        return {key: value for key, value in now.items() if value != plain[key] or key in kept}

    out: dict[str, EvalConfig] = {}
    if baselines:
        out["crf"] = base.model_copy(update={"tagger": "crf"})
        bare = settings(neural_plan("bilstm", {}))
        out["bilstm"] = base.model_copy(update={"tagger": "bilstm", "options": bare})
    for spec in dict.fromkeys(encoders or _DEFAULT):
        own = {**settings(plan), **_encoder(spec)}
        out[spec] = base.model_copy(update={"tagger": name, "options": own})
    return out


def _encoder(spec: str) -> dict[str, JsonValue]:
    name, colon, layers = spec.rpartition(":")
    # A path may hold a colon: only a number after it is a number of layers.
    if not colon or "/" in layers or "\\" in layers:
        return {"encoder": spec, "layers": None}
    if not layers.isdecimal() or not int(layers):
        raise InputError(
            say(f"'{layers}' は層の数ではありません", f"'{layers}' is no number of layers"),
            place=f"--encoder {spec}",
            remedy=say("書き方: 名前:層の数", "write NAME:LAYERS"),
        )
    return {"encoder": name, "layers": int(layers)}


def _has_gpu() -> bool:
    from naisei.emphasis.encoders.opening import needs_torch
    from naisei.emphasis.taggers.neural.learner import device_of

    needs_torch("safetensors")
    return device_of("auto") != "cpu"
