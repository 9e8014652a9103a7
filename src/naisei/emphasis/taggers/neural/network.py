"""The network and its CRF layer."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from naisei.emphasis.crf import likeliest, marginals
from naisei.emphasis.taggers.neural.inputs import Batch
from naisei.emphasis.taggers.plans import NeuralPlan


class CrfLayer(nn.Module):  # type: ignore[misc]
    """Transition scores A of eq. 4.1, as in `naisei.emphasis.crf`, learnt with what lies below.

    emissions: (B, T, 2). lengths: (B,). labels: (B, T). Padding is never read: neither a score nor
    a gradient depends on it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.transitions = nn.Parameter(torch.empty(4, 4).uniform_(-0.1, 0.1))

    def log_likelihood(self, emissions: Tensor, labels: Tensor, lengths: Tensor) -> Tensor:
        """log p(y | X) of each sequence, eq. 4.1: (B,)."""
        return self.path_score(emissions, labels, lengths) - self.log_partition(emissions, lengths)

    def path_score(self, emissions: Tensor, labels: Tensor, lengths: Tensor) -> Tensor:
        """s(X, y) of each sequence: (B,)."""
        rows, steps, k = emissions.shape
        mask = _mask(emissions, lengths)
        p = emissions.masked_fill(~mask[:, :, None], 0.0)
        y = labels.masked_fill(~mask, 0)
        own = p.gather(2, y[:, :, None])[:, :, 0].sum(1)
        before = torch.cat([y.new_full((rows, 1), k), y], 1)
        after = torch.cat([y, y.new_full((rows, 1), k + 1)], 1)
        after = after.scatter(1, lengths[:, None], k + 1)
        taken = torch.arange(steps + 1, device=lengths.device)[None, :] <= lengths[:, None]
        return own + self.transitions[before, after].masked_fill(~taken, 0.0).sum(1)

    def log_partition(self, emissions: Tensor, lengths: Tensor) -> Tensor:
        """log Σ e^s over all labellings, by the forward algorithm: (B,)."""
        rows, steps, k = emissions.shape
        mask = _mask(emissions, lengths)
        p = emissions.masked_fill(~mask[:, :, None], 0.0)
        a = self.transitions
        nothing = a[k, k + 1].expand(rows)
        if not steps:
            return nothing
        alpha = a[k, :k] + p[:, 0]
        for t in range(1, steps):
            ways = torch.logsumexp(alpha[:, :, None] + a[:k, :k], 1) + p[:, t]
            alpha = torch.where(mask[:, t, None], ways, alpha)
        return torch.where(lengths > 0, torch.logsumexp(alpha + a[:k, k + 1], 1), nothing)

    def decode(self, emissions: Tensor, lengths: Tensor) -> list[list[bool]]:
        """The likeliest labels of each sequence, as long as it is (Viterbi)."""
        return [likeliest(row, self._scores()) for row in _rows(emissions, lengths)]

    def marginals(self, emissions: Tensor, lengths: Tensor) -> list[list[float]]:
        """The probability of label 1 at each token of each sequence."""
        scores = [row[:, 1] - row[:, 0] for row in _rows(emissions, lengths)]
        return [p.tolist() for p in marginals(scores, self._scores())]

    def _scores(self) -> NDArray[np.float64]:
        found: NDArray[np.float64] = self.transitions.detach().cpu().double().numpy()
        return found


def _mask(emissions: Tensor, lengths: Tensor) -> Tensor:
    return torch.arange(emissions.shape[1], device=lengths.device)[None, :] < lengths[:, None]


def _rows(emissions: Tensor, lengths: Tensor) -> list[NDArray[np.float64]]:
    whole = emissions.detach().cpu().double().numpy()
    return [row[:n] for row, n in zip(whole, lengths.tolist(), strict=True)]


#: Score of emphasis where there can be none: odds of e^−40 are none.
_NEVER = -40.0


class Network(nn.Module):  # type: ignore[misc]
    """Two scores a word, (B, W, 2): the P of eq. 4.1. What cannot be emphasised scores 0 and −40.

    body: a `transformers` model. For a BiLSTM only its word vectors are kept, and never trained:
    a word's vector is the mean of those of its subwords.
    """

    def __init__(self, plan: NeuralPlan, body: Any, width: int) -> None:
        super().__init__()
        self.bilstm: nn.LSTM | None = None
        self.body: Any = None
        if plan.body == "bilstm":
            self.body = body.get_input_embeddings().requires_grad_(False)
        else:
            self.body = body
            body.get_input_embeddings().requires_grad_(plan.tuned == "all")
        if plan.body == "bilstm":
            self.bilstm = nn.LSTM(width, plan.hidden, batch_first=True, bidirectional=True)
            width = 2 * plan.hidden
        self.dropout = nn.Dropout(plan.dropout)
        self.head = nn.Linear(width, 2)
        self.crf = CrfLayer() if plan.crf else None

    def forward(self, batch: Batch) -> Tensor:
        if self.bilstm is None:
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
            return self.crf.marginals(scores, batch.words)
        p = scores.softmax(2)[:, :, 1].cpu()
        return [row[:n].tolist() for row, n in zip(p, batch.words.tolist(), strict=True)]

    def best(self, scores: Tensor, batch: Batch) -> list[list[int]]:
        """The likeliest labels, per word of each input."""
        if self.crf is not None:
            return [[*map(int, row)] for row in self.crf.decode(scores, batch.words)]
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
