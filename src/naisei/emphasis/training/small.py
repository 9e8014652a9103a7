"""Settings with which a transformer learns on a processor in minutes, not on a GPU in hours."""

from __future__ import annotations

from naisei.emphasis.taggers.neural.plan import NeuralPlan

__all__ = ["small"]


def small(plan: NeuralPlan) -> NeuralPlan:
    """The same row of the tables with three layers of the encoder, whose word vectors stay as
    they are, a fifth of the inputs without emphasis an epoch, and fewer, longer steps. A BiLSTM
    keeps its layers: it has none of the encoder."""
    changes: dict[str, object] = {"plain": 0.2, "every": 100}
    if plan.body == "bilstm":
        changes |= {"steps": 1500, "rate": 1e-3, "hidden": 150}
    else:
        changes |= {"layers": 3, "tuned": "layers", "steps": 600, "rate": 2e-4, "limit": 192}
    return NeuralPlan.model_validate({**plan.model_dump(), **changes})
