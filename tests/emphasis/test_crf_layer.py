"""The torch layer gives what the numpy lattice gives, and its slope is the expectations'."""

from __future__ import annotations

import numpy as np
import pytest

from naisei.emphasis.crf import expectations, log_partition, path_score, viterbi

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'naisei[train]'")
# On a busy machine threads that wait for each other take seconds for what takes none.
torch.set_num_threads(1)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_it_equals_the_lattice_and_so_brute_force(k: int) -> None:
    from naisei.emphasis.taggers.neural.network import CrfLayer

    torch.manual_seed(k)
    rng = np.random.default_rng(k)
    lengths = torch.tensor([0, 1, 2, 3, 5, 8])
    p = torch.randn(6, 8, k, dtype=torch.float64, requires_grad=True)
    y = torch.from_numpy(rng.integers(0, k, (6, 8)))
    layer = CrfLayer(k).double()
    with torch.no_grad():
        layer.transitions.normal_()
    arrays = (p.detach().numpy(), layer.transitions.detach().numpy())
    n = lengths.numpy()
    total = layer.log_partition(p, lengths)
    assert total.detach().numpy() == pytest.approx(log_partition(*arrays, n), abs=1e-9)
    score = layer.path_score(p, y, lengths).detach().numpy()
    assert score == pytest.approx(path_score(*arrays, y.numpy(), n), abs=1e-9)
    likely = layer.log_likelihood(p, y, lengths).detach().numpy()
    assert likely == pytest.approx(score - total.detach().numpy(), abs=1e-9)
    paths, _ = viterbi(*arrays, n)
    assert layer.decode(p, lengths) == [row[:m].tolist() for row, m in zip(paths, n, strict=True)]
    found = expectations(*arrays, n)
    assert layer.marginals(p, lengths).numpy() == pytest.approx(found.tokens)
    total.sum().backward()
    # The slope of log Z is what the model expects; on padding it is nothing.
    assert p.grad.numpy() == pytest.approx(found.tokens, abs=1e-9)
    assert layer.transitions.grad.numpy() == pytest.approx(found.edges.sum(0), abs=1e-9)


def test_padding_changes_nothing() -> None:
    from naisei.emphasis.taggers.neural.network import CrfLayer

    torch.manual_seed(0)
    layer = CrfLayer(2)
    lengths = torch.tensor([3, 6])
    p, y = torch.randn(2, 6, 2), torch.randint(0, 2, (2, 6))
    before = layer.log_likelihood(p, y, lengths)
    wide = torch.cat([p, torch.full((2, 4, 2), 1e9)], 1)
    wide[0, 3:] = float("nan")
    labels = torch.cat([y, torch.full((2, 4), 7)], 1)
    labels[0, 3:] = -100  # what the losses of torch ignore
    assert torch.equal(layer.log_likelihood(wide, labels, lengths), before)
    assert layer.decode(wide, lengths) == layer.decode(p, lengths)


def test_it_learns_what_only_transitions_tell() -> None:
    from naisei.emphasis.taggers.neural.network import CrfLayer

    torch.manual_seed(0)
    layer = CrfLayer(2)
    # Labels alternate; the emissions say nothing except for the first token.
    p = torch.zeros(2, 6, 2)
    p[0, 0, 0], p[1, 0, 1] = 3.0, 3.0
    y = torch.tensor([[0, 1] * 3, [1, 0] * 3])
    lengths = torch.tensor([6, 6])
    for _ in range(30):
        layer.zero_grad()
        (-layer.log_likelihood(p, y, lengths).mean()).backward()
        with torch.no_grad():
            layer.transitions -= layer.transitions.grad
    assert layer.decode(p, lengths) == y.tolist()


def test_another_number_of_labels_is_refused() -> None:
    from naisei.emphasis.taggers.neural.network import CrfLayer

    with pytest.raises(ValueError, match="3 scores"):
        CrfLayer(2).log_partition(torch.zeros(1, 2, 3), torch.tensor([2]))
