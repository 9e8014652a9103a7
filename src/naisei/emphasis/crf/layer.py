"""The CRF as a torch layer, to put on an encoder's classifier. Needs the extra `train`."""

from __future__ import annotations

from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from naisei.emphasis.crf.lattice import expectations, viterbi

__all__ = ["CrfLayer"]


class CrfLayer(nn.Module):  # type: ignore[misc]
    """Transition scores A of eq. 4.1, (K + 2, K + 2), learnt with what lies below.

    Shapes as in `naisei.emphasis.crf.lattice`: emissions (B, T, K), lengths (B,), labels
    (B, T). Padding is never read: neither a score nor a gradient depends on it.
    """

    def __init__(self, labels: int) -> None:
        """labels: K, at least 1."""
        super().__init__()
        if labels < 1:
            raise ValueError(f"{labels} labels")
        self.labels = labels
        self.transitions = nn.Parameter(torch.empty(labels + 2, labels + 2).uniform_(-0.1, 0.1))

    def log_likelihood(self, emissions: Tensor, labels: Tensor, lengths: Tensor) -> Tensor:
        """log p(y | X) of each sequence, eq. 4.1: (B,)."""
        return self.path_score(emissions, labels, lengths) - self.log_partition(emissions, lengths)

    def path_score(self, emissions: Tensor, labels: Tensor, lengths: Tensor) -> Tensor:
        """s(X, y) of each sequence: (B,)."""
        rows, steps, k = emissions.shape
        mask = self._mask(emissions, lengths)
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
        mask = self._mask(emissions, lengths)
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

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def decode(self, emissions: Tensor, lengths: Tensor) -> list[list[int]]:
        """The likeliest labels of each sequence, as long as it is (Viterbi)."""
        paths, _ = viterbi(*self._arrays(emissions, lengths))
        return [row[:n].tolist() for row, n in zip(paths, lengths.tolist(), strict=True)]

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def marginals(self, emissions: Tensor, lengths: Tensor) -> Tensor:
        """The probability of each label at each token, 0 on padding: (B, T, K), on the CPU."""
        return torch.from_numpy(expectations(*self._arrays(emissions, lengths)).tokens)

    def _mask(self, emissions: Tensor, lengths: Tensor) -> Tensor:
        if emissions.shape[2] != self.labels:
            raise ValueError(f"{emissions.shape[2]} scores a token for {self.labels} labels")
        return torch.arange(emissions.shape[1], device=lengths.device)[None, :] < lengths[:, None]

    def _arrays(self, *tensors: Tensor) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        emissions, lengths = (t.detach().cpu().numpy() for t in tensors)
        return emissions, self.transitions.detach().cpu().numpy(), lengths
