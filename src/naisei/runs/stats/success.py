"""Success within k trials: pass@k, its discounted form, and pass^k.

Sequential trials (an agent that learns between them) and independent trials (samples of
the same thing) need different estimators; each function says which it is for.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np
import numpy.typing as npt

__all__ = ["discounted_within", "pass_at_k", "pass_hat_k", "succeeded_within"]

Floats = npt.NDArray[np.float64]


def _checked(k: int) -> None:
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")


def succeeded_within(
    first_success: Sequence[int | None], k: int, *, trials: int | None = None
) -> Floats:
    """Sequential trials: 1 where the first success came within k trials, else 0; shape (n,).

    Its mean is Pass@k of R-Clarify (§5.1): the share of instances solved by trial k. All
    NaN if fewer than k `trials` were allowed: what was not tried is not known.

    Args:
        first_success: t* of each instance, counted from 1; `None` where there was none.
        trials: how many each instance was allowed; `None` takes at least k for granted.
    """
    return discounted_within(first_success, [1] * len(first_success), k, alpha=1, trials=trials)


def discounted_within(
    first_success: Sequence[int | None],
    steps: Sequence[int | None],
    k: int,
    *,
    alpha: float,
    trials: int | None = None,
) -> Floats:
    """Sequential trials: α^(s−1) where the first success came within k, else 0; shape (n,).

    Its mean is DPass@k(α) = Pass@k · E[α^(s−1) | t* ≤ k] (R-Clarify §5.1): the share of
    successes times their mean discount is the sum of discounts over n. All NaN if fewer
    than k `trials` were allowed.

    Args:
        first_success: t* of each instance, counted from 1; `None` where there was none.
        steps: s of each instance, the interactions of the successful trial (≥ 1, the
            execution included); ignored where there was no success within k.
        alpha: discount, in (0, 1]; 1 gives Pass@k.

    Raises:
        ValueError: alpha or k out of range, or a success without its steps.
    """
    _checked(k)
    if not 0 < alpha <= 1:
        raise ValueError(f"alpha must be in (0, 1], not {alpha}")
    if trials is not None and trials < k:
        return np.full(len(first_success), np.nan)
    out = np.zeros(len(first_success))
    for i, (t, s) in enumerate(zip(first_success, steps, strict=True)):
        if t is None or t > k:
            continue
        if s is None or s < 1:
            raise ValueError(f"instance {i} succeeded at trial {t} in {s} steps")
        out[i] = alpha ** (s - 1)
    return out


def pass_at_k(n: int, c: int, k: int) -> float:
    """Independent trials: the unbiased estimate of P(at least one of k succeeds).

    1 − C(n−c, k) / C(n, k), with c successes among n samples of one instance (Chen et
    al. 2021, "Evaluating Large Language Models Trained on Code", eq. 1). NaN if n < k.
    """
    _checked(k)
    _counts(n, c)
    if n < k:
        return float("nan")
    whole = comb(n, k)
    return (whole - comb(n - c, k)) / whole


def pass_hat_k(n: int, c: int, k: int) -> float:
    """Independent trials: pass^k, the unbiased estimate of P(all of k succeed).

    C(c, k) / C(n, k), with c successes among n samples of one instance (Yao et al. 2024,
    "τ-bench", §3). NaN if n < k.
    """
    _checked(k)
    _counts(n, c)
    return float("nan") if n < k else comb(c, k) / comb(n, k)


def _counts(n: int, c: int) -> None:
    if not 0 <= c <= n:
        raise ValueError(f"{c} successes among {n} trials")
