"""Which user simulator a run had, and how far it can be trusted: a line in every report."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING

from naisei.clarify.config import ClarifyConfig
from naisei.clarify.schemas import ActionSet, Instance
from naisei.lang import say

if TYPE_CHECKING:
    from naisei.clarify.audit.task import Paraphrases

__all__ = ["AuditNote"]

#: The rule simulator is audited on so many instances of the run, spread evenly.
_AUDITED = 20
#: Seconds between two pieces of the audit.
_PAUSE = 0.004


class AuditNote:
    """The audit in one line; for a simulator that costs calls, how to get one.

    `meanwhile` works it out while a run waits for its models; `text` does what is left.
    """

    def __init__(
        self,
        config: ClarifyConfig,
        instances: Mapping[str, Instance],
        actions: ActionSet,
        paraphrases: Paraphrases,
    ) -> None:
        self._steps = _note(config, instances, actions, paraphrases)
        self._text = ""

    async def meanwhile(self) -> None:
        """Work on it in short pieces, letting the loop's other tasks go first."""
        while not self._text:
            await asyncio.sleep(_PAUSE)
            self._step()

    def text(self) -> str:
        while not self._text:
            self._step()
        return self._text

    def _step(self) -> None:
        try:
            next(self._steps)
        except StopIteration as stop:
            self._text = stop.value


def _note(
    config: ClarifyConfig,
    instances: Mapping[str, Instance],
    actions: ActionSet,
    paraphrases: Paraphrases,
) -> Generator[None, None, str]:
    if config.simulator != "rule":
        model = config.models.get("simulator", "")
        command = f"naisei clarify audit --simulator {config.simulator} --model {model}"
        return say(
            f"ユーザー役 {config.simulator} {model}: この実行では検査していません。"
            f"`{command}` で検査できます",
            f"simulator {config.simulator} {model}: not audited in this run; `{command}` does",
        )
    # Imported while the run waits, not at its start.
    from naisei.clarify.audit import audit_rule_steps, summary_line

    every: Sequence[Instance] = list(instances.values())
    sample = every[:: max(1, -(-len(every) // _AUDITED))]
    steps = audit_rule_steps(sample, actions, seed=config.seed, paraphrases=paraphrases)
    return summary_line((yield from steps))
