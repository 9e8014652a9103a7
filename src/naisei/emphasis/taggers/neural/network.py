"""The networks: an encoder or a BiLSTM, a classifier of words, and a CRF if there is one."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from naisei.emphasis.crf.layer import CrfLayer
from naisei.emphasis.taggers.neural.batches import Batch
from naisei.emphasis.taggers.neural.plan import NeuralPlan

__all__ = ["Network"]

#: Score of emphasis where there can be none: odds of e^−40 are none.
_NEVER = -40.0
#: Standard deviations at which a state is cut off.
_FAR = 8.0


class Network(nn.Module):  # type: ignore[misc]
    """Two scores a word, (B, W, 2): the P of eq. 4.1. What cannot be emphasised scores 0 and −40.

    body: a `transformers` model. For a BiLSTM only its word vectors are kept, and never trained:
    a word's vector is the mean of those of its subwords. With kept states it is not needed.
    """

    def __init__(self, plan: NeuralPlan, body: Any, width: int) -> None:
        super().__init__()
        self.bilstm: nn.LSTM | None = None
        self.body: Any = None
        if plan.body == "bilstm":
            self.body = body.get_input_embeddings().requires_grad_(False)
        elif not plan.kept_states:
            self.body = body
            body.get_input_embeddings().requires_grad_(plan.tuned == "all")
        self.between: nn.Module | None = None
        if plan.kept_states:
            # An encoder's states lie close together: what they differ by is brought out first.
            self.register_buffer("centre", torch.zeros(2 * width))
            self.register_buffer("scale", torch.ones(2 * width))
            self.between = nn.Sequential(
                nn.Dropout(plan.dropout), nn.Linear(2 * width, plan.hidden), nn.GELU()
            )
            width = plan.hidden
        if plan.body == "bilstm":
            self.bilstm = nn.LSTM(width, plan.hidden, batch_first=True, bidirectional=True)
            width = 2 * plan.hidden
        self.dropout = nn.Dropout(plan.dropout)
        self.head = nn.Linear(width, 2)
        self.crf = CrfLayer(2) if plan.crf else None

    def forward(self, batch: Batch) -> Tensor:
        if self.between is not None:
            own = self.between(((batch.states - self.centre) / self.scale).clamp(-_FAR, _FAR))
        elif self.bilstm is None:
            states = self.body(
                input_ids=batch.ids, attention_mask=batch.attended.long()
            ).last_hidden_state
            own = states.gather(1, batch.firsts[:, :, None].expand(-1, -1, states.shape[2]))
        else:
            own = self._static(batch)
        scores = self.head(self.dropout(own)).float()
        free = batch.counted[:, :, None]
        never = scores.new_tensor([0.0, _NEVER])
        return torch.where(free, scores, never)

    def standardise(self, rows: Tensor) -> None:
        """From now on kept states are read by their distance from the mean of rows (n, 2 ×
        width), in standard deviations."""
        self.centre.copy_(rows.mean(0))
        self.scale.copy_(rows.std(0, unbiased=False) + 1e-4)

    def loss(self, scores: Tensor, batch: Batch) -> Tensor:
        """Mean negative log-likelihood: of a sequence with a CRF, of a word without."""
        if self.crf is not None:
            # Sequences count by their length, so that a long one is worth as much a word.
            return -self.crf.log_likelihood(
                scores, batch.labels, batch.words
            ).sum() / batch.words.sum().clamp(min=1)
        if not bool(batch.counted.any()):
            return scores.sum() * 0.0
        return functional.cross_entropy(scores[batch.counted], batch.labels[batch.counted])

    def probabilities(self, scores: Tensor, batch: Batch) -> list[list[float]]:
        """Of emphasis, per word of each input."""
        if self.crf is not None:
            p = self.crf.marginals(scores, batch.words)[:, :, 1]
        else:
            p = scores.softmax(2)[:, :, 1].cpu()
        return [row[:n].tolist() for row, n in zip(p, batch.words.tolist(), strict=True)]

    def best(self, scores: Tensor, batch: Batch) -> list[list[int]]:
        """The likeliest labels, per word of each input."""
        if self.crf is not None:
            found: list[list[int]] = self.crf.decode(scores, batch.words)
            return found
        said = scores.argmax(2).cpu()
        return [row[:n].tolist() for row, n in zip(said, batch.words.tolist(), strict=True)]

    def _static(self, batch: Batch) -> Tensor:
        """Units are read in order, the title's too; the states of the words are kept."""
        vectors = self.body(batch.ids)
        rows, _, width = vectors.shape
        units = int(batch.units.max())
        total = vectors.new_zeros(rows, units + 1, width)
        where = batch.unit_of.clamp(max=units)[:, :, None]
        total = total.scatter_add(1, where.expand(-1, -1, width), vectors)
        ones = vectors.new_ones(rows, vectors.shape[1], 1)
        count = vectors.new_zeros(rows, units + 1, 1).scatter_add(1, where, ones)
        means = (total / count.clamp(min=1))[:, :units]
        packed = pack_padded_sequence(
            self.dropout(means), batch.units.cpu(), batch_first=True, enforce_sorted=False
        )
        assert self.bilstm is not None
        states, _ = pad_packed_sequence(self.bilstm(packed)[0], batch_first=True)
        # Unit 0 is [CLS]; the words follow.
        return states[:, 1 : 1 + batch.firsts.shape[1]]
