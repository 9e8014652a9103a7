"""The torch layer gives what all labellings, written out, give."""

from __future__ import annotations

import pytest

from emphasis.brute_crf import score, written_out
from naisei.emphasis.crf import likeliest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'naisei[train]'")
# On a busy machine threads that wait for each other take seconds for what takes none.
torch.set_num_threads(1)


def test_it_equals_brute_force() -> None:
    from naisei.emphasis.taggers.neural.network import CrfLayer

    torch.manual_seed(2)
    lengths = torch.tensor([0, 1, 2, 3, 5, 8])
    p = torch.randn(6, 8, 2, dtype=torch.float64, requires_grad=True)
    y = torch.randint(0, 2, (6, 8))
    layer = CrfLayer().double()
    with torch.no_grad():
        layer.transitions.normal_()
    a = layer.transitions.detach().numpy()
    rows = [row[:n].detach().numpy() for row, n in zip(p, lengths.tolist(), strict=True)]
    wanted = [written_out(row, a) for row in rows]
    total = layer.log_partition(p, lengths)
    assert total.detach().numpy() == pytest.approx([one.log_partition for one in wanted])
    likely = layer.log_likelihood(p, y, lengths).detach().numpy()
    for own, labels, row, one in zip(likely, y.tolist(), rows, wanted, strict=True):
        assert own == pytest.approx(score(row, a, tuple(labels[: len(row)])) - one.log_partition)
    total.sum().backward()
    # The slope of log Z is what the model expects; on padding it is nothing.
    assert layer.transitions.grad.numpy() == pytest.approx(sum(one.edges for one in wanted))
    for slope, one, row in zip(p.grad.numpy(), wanted, rows, strict=True):
        n = len(one.positive)
        assert slope[:n, 1] == pytest.approx(one.positive)
        assert not slope[n:].any()
        best = max(one.scores, key=lambda labels: one.scores[labels])
        assert tuple(likeliest(row, layer.scores)) == best


def test_padding_changes_nothing() -> None:
    from naisei.emphasis.taggers.neural.network import CrfLayer

    torch.manual_seed(0)
    layer = CrfLayer()
    lengths = torch.tensor([3, 6])
    p, y = torch.randn(2, 6, 2), torch.randint(0, 2, (2, 6))
    before = layer.log_likelihood(p, y, lengths)
    wide = torch.cat([p, torch.full((2, 4, 2), 1e9)], 1)
    wide[0, 3:] = float("nan")
    labels = torch.cat([y, torch.full((2, 4), 7)], 1)
    labels[0, 3:] = -100  # what the losses of torch ignore
    assert torch.equal(layer.log_likelihood(wide, labels, lengths), before)
