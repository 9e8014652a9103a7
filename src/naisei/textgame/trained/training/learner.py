"""One step of training, and the rating of actions, on whatever device there is."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from naisei.textgame.trained.pairs import PairEncoder
from naisei.textgame.trained.shared import SharedEncoder
from naisei.textgame.trained.situation import Situation
from naisei.textgame.trained.training.items import Item
from naisei.textgame.trained.training.network import Loaded
from naisei.textgame.trained.training.options import TrainingOptions

__all__ = ["Learner"]


class Learner:
    """Network and optimiser. device: `cpu`, `cuda`, …"""

    def __init__(
        self,
        loaded: Loaded,
        encoder: PairEncoder | SharedEncoder,
        plan: TrainingOptions,
        *,
        device: str,
    ) -> None:
        import torch

        self.inputs, self._encoder, self._plan = loaded.inputs, encoder, plan
        self.device = device
        self.network = loaded.network.to(device)
        if plan.embeddings == "frozen":
            self.network.body.get_input_embeddings().requires_grad_(False)
        learned = [p for p in self.network.parameters() if p.requires_grad]
        # Biases and scales are not decayed, as is usual for AdamW.
        decayed = [p for p in learned if p.ndim > 1]
        others = [p for p in learned if p.ndim <= 1]
        self.optimiser: Any = torch.optim.AdamW(
            [
                {"params": decayed, "weight_decay": plan.decay},
                {"params": others, "weight_decay": 0.0},
            ],
            lr=plan.rate,
        )

    def step(self, items: Sequence[Item], *, rate: float, seed: int) -> float:
        """Learn from a batch; returns its mean loss. seed: of the dropout of this step, so that
        a training that goes on from a checkpoint draws what it would have drawn."""
        import torch

        self.network.train()
        torch.manual_seed(seed)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        with self._precision():
            outputs = self._outputs([(item.situation, item.actions) for item in items])
        loss = self._loss(outputs.float(), items)
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimiser.step()
        return float(loss.detach())

    def rate(
        self, groups: Sequence[tuple[Situation, Sequence[str]]], *, at_once: int = 8
    ) -> list[list[float]]:
        """The network's outputs (before the sigmoid) for the actions of each situation."""
        import torch

        self.network.eval()
        rated: list[list[float]] = [[] for _ in groups]
        # Those of similar length together, so that little is padded.
        numbers = sorted(range(len(groups)), key=lambda n: len(groups[n][0].text))
        with torch.no_grad(), self._precision():
            for start in range(0, len(numbers), at_once):
                now = numbers[start : start + at_once]
                outputs = self._outputs([groups[n] for n in now]).float().tolist()
                for n in now:
                    count = len(groups[n][1])
                    rated[n], outputs = outputs[:count], outputs[count:]
        return rated

    def loss_of(self, outputs: Sequence[float], item: Item) -> float:
        """The loss of one item, given the network's outputs."""
        import torch

        return float(self._loss(torch.tensor(outputs), [item]))

    def _outputs(self, groups: Sequence[tuple[Situation, Sequence[str]]]) -> Any:
        """One after the other, without padding."""
        import torch

        if isinstance(self._encoder, SharedEncoder):
            shared = self._encoder.batch(groups)
            rated = self.network(*map(self._there, shared.named().values()))
            return torch.cat([row[:n] for row, n in zip(rated, shared.counts, strict=True)])
        pairs = [(situation, action) for situation, actions in groups for action in actions]
        batch = self._encoder.batch(pairs).named(self.inputs)
        return self.network(*map(self._there, batch.values()))

    def _there(self, array: Any) -> Any:
        import torch

        return torch.from_numpy(array).to(self.device)

    def _loss(self, outputs: Any, items: Sequence[Item]) -> Any:
        import torch
        from torch.nn import functional

        if self._plan.loss == "ranking" and self._plan.task == "policy":
            groups = outputs.split([len(item.actions) for item in items])
            weight = torch.tensor([item.weight for item in items], device=outputs.device)
            lost = torch.stack([-torch.log_softmax(g, 0)[0] for g in groups])
            return (lost * weight).mean()
        labels = torch.tensor([v for item in items for v in item.labels], device=outputs.device)
        return functional.binary_cross_entropy_with_logits(outputs, labels)

    def _precision(self) -> Any:
        import torch

        if self._plan.precision == "bfloat16":
            return torch.autocast(self.device.partition(":")[0], dtype=torch.bfloat16)
        return nullcontext()
