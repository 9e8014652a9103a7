"""A network with its optimiser: one step of training, and what it says of inputs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naisei.core import InputError
from naisei.emphasis.taggers.neural.encoder import Encoder
from naisei.emphasis.taggers.neural.inputs import Batch, Input, lots, tensors
from naisei.emphasis.taggers.neural.network import States, with_means
from naisei.emphasis.taggers.plans import NeuralPlan
from naisei.lang import say

__all__ = ["Learner", "device_of", "spread"]

#: Inputs by which states are standardised.
_LOOKED_AT = 300


def device_of(name: str) -> str:
    """`auto`: cuda where there is one, else cpu.

    Raises:
        InputError: no such device here.
    """
    import torch

    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise InputError(
            say(f"このマシンに '{name}' はありません", f"there is no device '{name}' here"),
            place=f"--device {name}",
            remedy=say("auto か cpu を指定してください", "use auto or cpu"),
        ) from error
    return name


class Learner:
    """device: `cpu`, `cuda`, …; the head's first weights are the same for the same seed."""

    def __init__(
        self, plan: NeuralPlan, encoder: Encoder, *, device: str, seed: int, states: States | None
    ) -> None:
        """states: of an encoder that stays as it is, for plans that have one."""
        import torch

        from naisei.emphasis.taggers.neural.network import Network

        torch.manual_seed(seed)
        self.plan, self.device, self.states = plan, device, states
        self.pad = encoder.subwords.pad
        self.network = Network(plan, encoder.body, encoder.width).to(device)
        self.optimiser: Any = torch.optim.AdamW(_groups(self.network, plan))

    def prepare(self, inputs: Sequence[Input]) -> None:
        """Look at inputs to be learnt from, before the first step."""
        if self.states is None:
            return
        import torch

        # Evenly over all of them: the first ones may be of one book.
        few = inputs[:: max(1, len(inputs) // _LOOKED_AT)]
        rows = [with_means(own, each) for own, each in zip(self.states.of(few), few, strict=True)]
        self.network.standardise(torch.from_numpy(np.concatenate(rows)).to(self.device))

    def step(self, inputs: Sequence[Input], *, share: float, seed: int) -> float:
        """Learn from a batch; returns its loss. share: of the plan's rates. seed: of the
        dropout, so that a training that goes on draws what it would have drawn."""
        import torch

        self.network.train()
        torch.manual_seed(seed)
        for group in self.optimiser.param_groups:
            group["lr"] = group["full"] * share
        batch = self._batch(inputs)
        with self._precision():
            scores = self.network(batch)
        loss = self.network.loss(scores, batch)
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimiser.step()
        return float(loss.detach())

    def read(self, inputs: Sequence[Input]) -> tuple[list[list[float]], list[list[int]]]:
        """Probabilities of emphasis and the likeliest labels, per word of each input."""
        import torch

        self.network.eval()
        p: list[list[float]] = [[] for _ in inputs]
        y: list[list[int]] = [[] for _ in inputs]
        with torch.inference_mode():
            for lot in lots(inputs):
                batch = self._batch([inputs[i] for i in lot])
                with self._precision():
                    scores = self.network(batch)
                for i, one, other in zip(
                    lot,
                    self.network.probabilities(scores, batch),
                    self.network.best(scores, batch),
                    strict=True,
                ):
                    p[i], y[i] = one, other
        return p, y

    def weights(self) -> dict[str, Any]:
        """Of the network, on the CPU, without word vectors that are never trained."""
        kept = _kept(self.network)
        return {name: value.cpu() for name, value in self.network.state_dict().items()
                if name in kept}  # fmt: skip

    def load(self, weights: dict[str, Any]) -> None:
        """What `weights` gave.

        Raises:
            ValueError: they are those of another network.
        """
        missing = set(weights) ^ _kept(self.network)
        if missing:
            raise ValueError(f"weights of another network: {sorted(missing)[:3]}")
        self.network.load_state_dict(weights, strict=False)

    def _batch(self, inputs: Sequence[Input]) -> Batch:
        states = None
        if self.states is not None:
            found = self.states.of(inputs)
            states = [with_means(own, each) for own, each in zip(found, inputs, strict=True)]
        return tensors(inputs, pad=self.pad, device=self.device, states=states)

    def _precision(self) -> Any:
        import torch

        if self.plan.precision == "bfloat16":
            return torch.autocast(self.device.partition(":")[0], dtype=torch.bfloat16)
        return nullcontext()


def _kept(network: Any) -> set[str]:
    still = {name for name, p in network.named_parameters() if not p.requires_grad}
    return {name for name in network.state_dict() if name not in still}


def _groups(network: Any, plan: NeuralPlan) -> list[dict[str, Any]]:
    """Biases and scales are not decayed; what is new learns at its own rate."""
    found: dict[tuple[float, float], list[Any]] = {}
    for name, parameter in network.named_parameters():
        if not parameter.requires_grad:
            continue
        rate = plan.rate if name.startswith("body.") else plan.head_rate
        decay = plan.decay if parameter.ndim > 1 and not name.startswith("crf.") else 0.0
        found.setdefault((rate, decay), []).append(parameter)
    return [
        {"params": own, "lr": rate, "full": rate, "weight_decay": decay}
        for (rate, decay), own in found.items()
    ]


def spread(
    values: Sequence[Sequence[float]], inputs: Sequence[Input], sizes: Sequence[int]
) -> list[NDArray[np.float64]]:
    """Values of the words of inputs, put back into the sentences of their article."""
    out = [np.zeros(size) for size in sizes]
    for own, each in zip(values, inputs, strict=True):
        for value, (sentence, word) in zip(own, each.places, strict=True):
            out[sentence][word] = value
    return out
