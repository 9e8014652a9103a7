"""Statistics of runs: success within k trials, intervals, paired tests, agreement."""

from naisei.runs.stats.agreement import (
    krippendorff_alpha,
    masi_distance,
    set_precision,
    set_recall,
)
from naisei.runs.stats.bootstrap import bootstrap_interval, bootstrap_means
from naisei.runs.stats.paired import (
    Difference,
    holm,
    mcnemar_exact,
    paired_difference,
    permutation_test,
)
from naisei.runs.stats.success import (
    discounted_within,
    pass_at_k,
    pass_hat_k,
    succeeded_within,
)
from naisei.runs.stats.summary import mean_metric
from naisei.runs.stats.wilcoxon import wilcoxon_signed_rank

__all__ = [
    "Difference",
    "bootstrap_interval",
    "bootstrap_means",
    "discounted_within",
    "holm",
    "krippendorff_alpha",
    "masi_distance",
    "mcnemar_exact",
    "mean_metric",
    "paired_difference",
    "pass_at_k",
    "pass_hat_k",
    "permutation_test",
    "set_precision",
    "set_recall",
    "succeeded_within",
    "wilcoxon_signed_rank",
]
