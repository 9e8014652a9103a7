"""One step of training, validation, and the state on disk from which a killed training goes on."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from hashlib import sha256
from math import ceil, exp
from pathlib import Path
from typing import Any

from naisei.core import InputError
from naisei.files import write_atomically
from naisei.lang import say
from naisei.textgame.cooking_state import TextState
from naisei.textgame.trained.dataset import Choice, Item, Source, choice_item, processing_item
from naisei.textgame.trained.encoding import SharedEncoder
from naisei.textgame.trained.scorer import read_task
from naisei.textgame.trained.training.network import RatingModel


class Learner:
    """Network and optimiser. device: `cpu`, `cuda`, …"""

    def __init__(self, model: RatingModel, *, device: str) -> None:
        import torch

        plan = self._plan = model.options
        self.inputs, self._encoder = model.inputs, model.encoder
        self.device = device
        self.network = model.network.to(device)
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
            outputs = self._outputs([(item.state, item.actions) for item in items])
        loss = self._loss(outputs.float(), items)
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimiser.step()
        return float(loss.detach())

    def rate(
        self, groups: Sequence[tuple[TextState, Sequence[str]]], *, at_once: int = 8
    ) -> list[list[float]]:
        """The network's outputs (before the sigmoid) for the actions of each state."""
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

    def _outputs(self, groups: Sequence[tuple[TextState, Sequence[str]]]) -> Any:
        """One after the other, without padding."""
        import torch

        if isinstance(self._encoder, SharedEncoder):
            shared = self._encoder.batch(groups)
            rated = self.network(*map(self._there, shared.named().values()))
            return torch.cat([row[:n] for row, n in zip(rated, shared.counts, strict=True)])
        pairs = [(state, action) for state, actions in groups for action in actions]
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


@dataclass(frozen=True, slots=True)
class Validation:
    """loss: mean over examples, all candidates of a choice being rated. accuracy: share of
    choices whose positive is rated highest (a tie counts as wrong); of the classifier, share of
    actions on the right side of 0.5. wrong_found, right_kept: of the classifier, share of wrong
    actions found and of right actions left alone (thesis §5.2.3); NaN for the policy, and where
    there is no such action."""

    loss: float
    accuracy: float
    wrong_found: float = float("nan")
    right_kept: float = float("nan")


def validate(learner: Learner, sources: Sequence[Source]) -> Validation:
    """Over all of `sources`, which are of one task; NaN if there are none."""
    items = [
        choice_item(each, each.others) if isinstance(each, Choice) else processing_item(each)
        for each in sources
    ]
    outputs = learner.rate([(item.state, item.actions) for item in items])
    losses = [learner.loss_of(own, item) for own, item in zip(outputs, items, strict=True)]
    if items and isinstance(sources[0], Choice):
        return Validation(_mean(losses), _mean([float(own[0] > max(own[1:])) for own in outputs]))
    actions = [
        (label > 0.5, (output > 0) == (label > 0.5))
        for own, item in zip(outputs, items, strict=True)
        for output, label in zip(own, item.labels, strict=True)
    ]
    return Validation(
        _mean(losses),
        _mean([right for _, right in actions]),
        _mean([right for wrong, right in actions if wrong]),
        _mean([right for wrong, right in actions if not wrong]),
    )


def threshold(learner: Learner, sources: Sequence[Source], *, keep: float = 0.99) -> float:
    """The lowest rating of 0.5 or more that leaves this share of the right actions alone.

    A cookbook does not tell what is done already when a game begins, and an action that it asks
    for is then wrong all the same; so a classifier rates right actions at about the share of
    these, which can come near a half. 0.5 where there is nothing to go by.
    """
    items = [processing_item(each) for each in sources if not isinstance(each, Choice)]
    outputs = learner.rate([(item.state, item.actions) for item in items])
    right = sorted(
        1 / (1 + exp(-output))
        for own, item in zip(outputs, items, strict=True)
        for output, label in zip(own, item.labels, strict=True)
        if label < 0.5
    )
    if not right:
        return 0.5
    return min(0.99, max(0.5, right[min(len(right) - 1, ceil(keep * len(right)))]))


def _mean(values: Sequence[float] | Sequence[bool]) -> float:
    return sum(values) / len(values) if values else float("nan")


_NAME, _BEST = "checkpoint.pt", "best.pt"


@dataclass(slots=True)
class Progress:
    """step: steps done. validated: epochs validated. best: of the criterion, the higher the
    better; minus infinity before the first validation. best_epoch: from 1; 0 is none."""

    step: int = 0
    validated: int = 0
    best: float = float("-inf")
    best_epoch: int = 0


def save(folder: Path, learner: Learner, progress: Progress, *, digest: str) -> None:
    """digest: of the parameters and the data (`TrainingOptions.digest`)."""
    state = {
        "digest": digest,
        "step": progress.step,
        "validated": progress.validated,
        "best": progress.best,
        "best_epoch": progress.best_epoch,
        "network": learner.network.state_dict(),
        "optimiser": learner.optimiser.state_dict(),
    }
    _write(folder / _NAME, state)


def restore(folder: Path, learner: Learner, *, digest: str) -> Progress:
    """The progress of the checkpoint in a folder, loaded into the learner; none if there is none.

    Raises:
        InputError: it belongs to another training.
    """
    path = folder / _NAME
    if not path.is_file():
        return Progress()
    state = _read(path, learner.device)
    if state["digest"] != digest:
        raise InputError(
            say(
                "このフォルダーには、設定・ゲーム・コードのどれかが違う学習の途中経過があります",
                "the folder holds a training with other settings, other games or other code",
            ),
            place=str(folder),
            remedy=say(
                "別のフォルダーを選ぶか、これを削除してください",
                "choose another folder, or delete this one",
            ),
        )
    learner.network.load_state_dict(state["network"])
    learner.optimiser.load_state_dict(state["optimiser"])
    return Progress(state["step"], state["validated"], state["best"], state["best_epoch"])


def save_best(folder: Path, learner: Learner) -> None:
    """Keep the present weights as the best."""
    _write(folder / _BEST, learner.network.state_dict())


def start_from(folder: Path, learner: Learner, *, task: str) -> str:
    """Load the best weights of another training of the same network; returns their digest.

    Raises:
        InputError: there are none, or they are of another network.
    """
    path = folder / "training" / _BEST
    if not path.is_file():
        raise InputError(
            say("このフォルダーに、元にする学習がありません", "there is no training to start from"),
            place=str(folder),
            remedy=say("学習の --out を指定してください", "name the --out of a training"),
        )
    try:
        learner.network.load_state_dict(_read(path, learner.device))
    except RuntimeError as error:
        raise InputError(
            say("ネットワークの形が違います: ", "its network is another one: ")
            + str(error).splitlines()[-1].strip(),
            place=str(folder),
            remedy=say(
                "--encoder、--layout、--layers、--width をそろえて学習してください",
                "train with the same encoder, layout, layers and width",
            ),
        ) from error
    if read_task(folder) != task:
        # What a policy rates high a classifier of wrong actions rates low, and the reverse.
        for each in learner.network.head.parameters():
            each.data.neg_()
    return sha256(path.read_bytes()).hexdigest()[:24]


def take_best(folder: Path, learner: Learner) -> None:
    """Load the best weights into the learner."""
    learner.network.load_state_dict(_read(folder / _BEST, learner.device))


def _write(path: Path, state: Any) -> None:
    import torch

    # Not to the file: of a full disk torch tells no more than that something failed.
    data = io.BytesIO()
    torch.save(state, data)
    write_atomically(path, data.getvalue())


def _read(path: Path, device: str) -> Any:
    import torch

    return torch.load(path, map_location=device, weights_only=True)
