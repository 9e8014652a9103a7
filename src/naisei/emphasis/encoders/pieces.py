"""The Unigram tokenizer of a packed encoder, for the library `tokenizers`."""

from __future__ import annotations

import unicodedata
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naisei.models.embedders.onnx import Packed

__all__ = ["unigram"]

#: Stands in for a character while the others are normalised.
_SHIELD = "\ue000"


def unigram(packed: Packed, kept: NDArray[np.int64]) -> Any:
    """A `tokenizers.Tokenizer` over the kept pieces, numbered anew in their order.

    Normalisation is NFKC, with spaces folded and control characters dropped, and `～` kept as
    the packed map has it. The map knows single characters only; here `ｶﾞ` becomes `ガ`, as with
    the original tokenizer.
    """
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

    number = {int(old): new for new, old in enumerate(kept)}
    vocabulary = [(packed.pieces[i], float(packed.scores[i])) for i in kept.tolist()]
    out = Tokenizer(models.Unigram(vocabulary, number[packed.unk], False))
    dropped = _class(c for c, to in packed.normalised.items() if not to)
    spaced = _class(
        c
        for c, to in packed.normalised.items()
        if to == " " and unicodedata.normalize("NFKC", c) != " "
    )
    steps: list[Any] = []
    for characters, to in ((spaced, " "), (dropped, "")):
        steps += [normalizers.Replace(Regex(f"[{characters}]"), to)] if characters else []
    if packed.normalised.get("～", "～") == "～":
        shielded = normalizers.Replace("～", _SHIELD), normalizers.Replace(_SHIELD, "～")
        steps += [shielded[0], normalizers.NFKC(), shielded[1]]
    else:
        steps.append(normalizers.NFKC())
    out.normalizer = normalizers.Sequence([*steps, normalizers.Replace(Regex(" {2,}"), " ")])
    out.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=True)
    out.decoder = decoders.Metaspace(prepend_scheme="always")
    out.add_special_tokens([packed.pieces[i] for i in (packed.bos, packed.pad, packed.eos)])
    return out


def _class(characters: Any) -> str:
    """For a regular expression's brackets."""
    return "".join(f"\\x{{{ord(c):04X}}}" for c in sorted(characters))
