"""Other people's words for the same wish: what a simulator without a table of needs goes by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from naisei.clarify.config import AuditConfig, ClarifyConfig
from naisei.clarify.data import Dataset, load
from naisei.clarify.schemas import Instance
from naisei.clarify.simulator.knowledge import is_known
from naisei.core import fingerprint

__all__ = ["Paraphrases", "data_hash", "with_speakers"]


class Paraphrases:
    """Instance → its hidden intent → what the users of other scenes said who want the same."""

    def __init__(self, instances: Iterable[Instance]) -> None:
        self._by_gold: dict[int, list[Instance]] = {}
        for one in instances:
            self._by_gold.setdefault(one.gold, []).append(one)

    def __call__(self, instance: Instance) -> Mapping[int, tuple[str, ...]]:
        scene = instance.scene_id or instance.id
        same = self._by_gold.get(instance.gold, ())
        said = [i.scene.utterance for i in same if (i.scene_id or i.id) != scene]
        own = instance.scene.utterance
        return {instance.gold: tuple(dict.fromkeys(u for u in said if u != own))}


def with_speakers(
    config: ClarifyConfig | AuditConfig, *, actions: str = ""
) -> tuple[Dataset, Dataset]:
    """The data of a run, and the same without its limit: a user borrows words from those not
    run, too.

    The split stays, as an agent may have learnt from the others. Where a table describes the
    actions nobody borrows words, and both are the same.

    Raises:
        InputError: unusable data.
    """
    data = load(
        config.data,
        split=config.split,
        limit=config.limit,
        seed=config.seed,
        actions=actions or None,
    )
    if config.limit is None or is_known(data.actions):
        return data, data
    return data, load(config.data, split=config.split, seed=config.seed, actions=actions or None)


def data_hash(data: Dataset, speakers: Dataset) -> str:
    """Digest of all data that results depend on."""
    if speakers is data:
        return data.digest
    return fingerprint([data.digest, speakers.digest])
