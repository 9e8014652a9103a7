"""A linear-chain conditional random field with start and end states (thesis, eq. 4.1)."""

from naisei.emphasis.crf.lattice import (
    Expectations,
    expectations,
    log_partition,
    path_score,
    viterbi,
)

__all__ = ["Expectations", "expectations", "log_partition", "path_score", "viterbi"]
