"""Which user simulator a run had, and how far it can be trusted: a line in every report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from naisei.clarify.audit import audit_rule, summary_line
from naisei.clarify.audit.task import Paraphrases
from naisei.clarify.config import ClarifyConfig
from naisei.clarify.schemas import ActionSet, Instance

__all__ = ["audit_note"]

#: The rule simulator is audited on so many instances of the run, spread evenly.
_AUDITED = 60


def audit_note(
    config: ClarifyConfig,
    instances: Mapping[str, Instance],
    actions: ActionSet,
    paraphrases: Paraphrases,
) -> str:
    """The audit in one line; for a simulator that costs calls, how to get one."""
    if config.simulator != "rule":
        model = config.models.get("simulator", "")
        return (
            f"simulator {config.simulator} {model}: not audited in this run; "
            f"`naisei clarify audit --simulator {config.simulator} --model {model}` does"
        )
    every: Sequence[Instance] = list(instances.values())
    sample = every[:: max(1, -(-len(every) // _AUDITED))]
    return summary_line(audit_rule(sample, actions, seed=config.seed, paraphrases=paraphrases))
