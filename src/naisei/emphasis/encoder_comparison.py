"""Which encoder understands the language best, by how well it finds emphasis (thesis, ch. 4)."""

from __future__ import annotations

from pydantic import JsonValue

from naisei.core import InputError
from naisei.emphasis.config import EncoderConfig, EvalConfig, SplitConfig
from naisei.emphasis.taggers.plans import NAME, NeuralPlan
from naisei.emphasis.taggers.registry import neural_plan, parsed
from naisei.lang import say

__all__ = ["encoder_configs"]


_DEFAULT = tuple(f"{NAME}:{layers}" for layers in (3, 6, 12))


def encoder_configs(config: EncoderConfig) -> dict[str, EvalConfig]:
    """Label → configuration: the same tagger on each encoder, all else alike.

    What the tagger's own settings say stays as it is, also with the settings for a CPU.

    Raises:
        InputError: a tagger without an encoder, no such setting, or layers that are no number.
    """
    shared = config.model_dump(include=set(SplitConfig.model_fields))
    base = EvalConfig.model_validate(shared)
    name, options = parsed(config.tagger)
    plan = neural_plan(name, options)
    small = not _has_gpu() if config.small is None else config.small

    def settings(whole: NeuralPlan) -> dict[str, JsonValue]:
        sized = whole.for_cpu() if small else whole
        kept = whole.model_dump(mode="json", include=set(options))
        # Only what differs from the row's own: that is what the configuration shows.
        plain = type(whole)().model_dump(mode="json")
        now = {**sized.model_dump(mode="json"), **kept}
        return {key: value for key, value in now.items() if value != plain[key] or key in kept}

    out: dict[str, EvalConfig] = {}
    if config.baselines:
        out["crf"] = base.model_copy(update={"tagger": "crf"})
        bare = settings(neural_plan("bilstm", {}))
        out["bilstm"] = base.model_copy(update={"tagger": "bilstm", "options": bare})
    for spec in dict.fromkeys(config.encoder or _DEFAULT):
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
    from naisei.emphasis.taggers.neural.encoder import needs_torch

    needs_torch("safetensors")
    from naisei.emphasis.taggers.neural.learner import device_of

    return device_of("auto") != "cpu"
