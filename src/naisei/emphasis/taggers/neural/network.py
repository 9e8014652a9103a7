"""The networks, their CRF layer, and input batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from naisei.emphasis.crf import likeliest, marginals
from naisei.emphasis.schemas import Article
from naisei.emphasis.taggers.neural.encoder import Subwords, opened
from naisei.emphasis.taggers.plans import NeuralPlan
from naisei.japanese.morph import words

#: A title takes at most this share of an input.
_TITLE = 0.25
_LONGEST_TITLE = 300  # characters
#: The label that torch's losses ignore.
IGNORED = -100


@dataclass(frozen=True, slots=True)
class Input:
    """`[CLS] words [SEP]`, or `[CLS] words [SEP] title [SEP]`.

    ids: subword ids. leads: index of each word's first subword (thesis, §4.3.3). labels: one per
    word, 0, 1 or IGNORED. place: number of the sentence, and of the input's first word in it.
    """

    ids: tuple[int, ...]
    leads: tuple[int, ...]
    labels: tuple[int, ...]
    place: tuple[int, int]


def inputs_of(article: Article, subwords: Subwords, *, title: bool, limit: int) -> list[Input]:
    """One input per sentence; longer sentences are split. Each word is in exactly one input.
    limit: most subwords, including special ones."""
    after = [subwords.between]
    if title:
        named = subwords.cut(word.surface for word in words(article.title[:_LONGEST_TITLE]))
        after += [n for pieces in named for n in pieces][: int(limit * _TITLE)]
        after.append(subwords.between)
    room = max(8, limit - 1 - len(after))
    out: list[Input] = []
    for number, sentence in enumerate(article.sentences):
        # A word longer than the input is truncated.
        pieces = [ids[:room] for ids in subwords.cut(t.surface for t in sentence.tokens)]
        for first, last in _parts(pieces, room):
            own = pieces[first:last]
            leads = 1 + np.cumsum([0, *map(len, own)])[:-1]
            labels = (
                IGNORED if token.label is None else int(token.label)
                for token in sentence.tokens[first:last]
            )
            ids = (subwords.first, *(n for word in own for n in word), *after)
            out.append(Input(ids, tuple(map(int, leads)), tuple(labels), (number, first)))
    return out


def _parts(pieces: Sequence[Sequence[int]], room: int) -> Iterator[tuple[int, int]]:
    first, size = 0, 0
    for i, own in enumerate(pieces):
        if size and size + len(own) > room:
            yield first, i
            first, size = i, 0
        size += len(own)
    if first < len(pieces):
        yield first, len(pieces)


def batch(inputs: Sequence[Input], *, pad: int) -> dict[str, Tensor]:
    """Pad B inputs of at most T subwords and W words: input_ids, attention_mask (B, T); leads,
    labels (B, W); sizes (B,), the number of words of each."""

    def table(rows: Sequence[Sequence[int]], fill: int) -> Tensor:
        out = np.full((len(rows), max(1, *map(len, rows))), fill, np.int64)
        for row, own in zip(out, rows, strict=True):
            row[: len(own)] = own
        return torch.from_numpy(out)

    return {
        "input_ids": table([each.ids for each in inputs], pad),
        "attention_mask": table([[1] * len(each.ids) for each in inputs], 0),
        "leads": table([each.leads for each in inputs], 0),
        "labels": table([each.labels for each in inputs], IGNORED),
        "sizes": torch.tensor([len(each.labels) for each in inputs]),
    }


class CrfLayer(nn.Module):  # type: ignore[misc]
    """Transition scores A of eq. 4.1, as in `naisei.emphasis.crf`, learnt with the layers below.

    emissions: (B, T, 2). lengths: (B,). labels: (B, T). Padding affects neither scores nor
    gradients.
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

    @property
    def scores(self) -> NDArray[np.float64]:
        """The transitions, for decoding."""
        found: NDArray[np.float64] = self.transitions.detach().cpu().double().numpy()
        return found


def _mask(emissions: Tensor, lengths: Tensor) -> Tensor:
    return torch.arange(emissions.shape[1], device=lengths.device)[None, :] < lengths[:, None]


class _BiLstm(nn.Module):  # type: ignore[misc]
    """Two scores per subword from static vectors, which are never trained."""

    def __init__(self, vectors: Any, hidden: int) -> None:
        super().__init__()
        self.vectors = vectors.requires_grad_(False)
        self.lstm = nn.LSTM(vectors.embedding_dim, hidden, batch_first=True, bidirectional=True)
        self.dropout = nn.Dropout(0.1)
        self.head = nn.Linear(2 * hidden, 2)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        lengths = attention_mask.sum(1).cpu()
        packed = pack_padded_sequence(
            self.dropout(self.vectors(input_ids)), lengths, batch_first=True, enforce_sorted=False
        )
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return self.head(self.dropout(states))


#: Score of emphasis for fixed words: odds of e^−40.
_NEVER = -40.0


class Network(nn.Module):  # type: ignore[misc]
    """Two scores per word, P in eq. 4.1, by `AutoModelForTokenClassification` or a BiLSTM.

    Raises:
        InputError: a requirement is not installed, or there is no such encoder.
    """

    def __init__(self, plan: NeuralPlan) -> None:
        super().__init__()
        with opened(plan.encoder) as path:
            from transformers import AutoModel, AutoModelForTokenClassification

            if plan.body == "bilstm":
                vectors = AutoModel.from_pretrained(path).get_input_embeddings()
                self.body: Any = _BiLstm(vectors, plan.hidden)
                self.longest = plan.limit
            else:
                first = {} if plan.layers is None else {"num_hidden_layers": plan.layers}
                self.body = AutoModelForTokenClassification.from_pretrained(
                    path, num_labels=2, **first
                )
                config = self.body.config
                self.body.get_input_embeddings().requires_grad_(plan.tuned == "all")
                # RoBERTa's positions start after the padding id.
                reserved = config.pad_token_id + 1 if "roberta" in config.model_type else 0
                self.longest = int(getattr(config, "max_position_embeddings", 512)) - reserved
        self.crf = CrfLayer() if plan.crf else None

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, leads: Tensor, labels: Tensor,
        sizes: Tensor,
    ) -> dict[str, Tensor]:  # fmt: skip
        """loss: mean negative log-likelihood per word. logits: (B, W, 2); fixed words score 0 and
        −40."""
        said = self.body(input_ids=input_ids, attention_mask=attention_mask)
        every = (said if isinstance(said, Tensor) else said.logits).float()
        own = every.gather(1, leads[:, :, None].expand(-1, -1, 2))
        free = labels != IGNORED
        scores = torch.where(free[:, :, None], own, own.new_tensor([0.0, _NEVER]))
        if self.crf is not None:
            # Sequences are weighted by length, so that every word has the same weight.
            likely = self.crf.log_likelihood(scores, labels.clamp(min=0), sizes).sum()
            loss = -likely / sizes.sum().clamp(min=1)
        elif bool(free.any()):
            loss = functional.cross_entropy(own[free], labels[free])
        else:
            loss = own.sum() * 0.0
        return {"loss": loss, "logits": scores}

    def decoded(self, scores: Tensor | NDArray[Any]) -> tuple[NDArray[np.float64], list[bool]]:
        """For the scores of one input, (W, 2): each word's probability of emphasis, and the
        likeliest labels."""
        own = np.asarray(scores, np.float64)
        off_on = own[:, 1] - own[:, 0]
        if self.crf is None:
            return 1 / (1 + np.exp(-off_on)), (off_on > 0).tolist()
        a = self.crf.scores
        return marginals([off_on], a)[0], likeliest(own, a)
