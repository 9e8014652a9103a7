"""Where data comes from: a path, or a registered name such as `ambigact40-open:test`.

A new source is an entry point in the group `naisei.datasets`: a callable

    build(argument: str, *, split: str | None, seed: int, actions: str | None) -> Loaded

`argument` is what follows the colon in `name:argument` (empty without one). It returns
`naisei.clarify.data.loader.Loaded`; choosing `limit` instances and the digest are ours.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass
from pathlib import Path

from naisei import plugins
from naisei.clarify.data.loader import Loaded, load_path
from naisei.clarify.data.records import exists
from naisei.clarify.schemas import ActionSet, Instance
from naisei.core import InputError, canonical
from naisei.lang import say

__all__ = ["GROUP", "Dataset", "load"]

#: Entry-point group of data sources.
GROUP = "naisei.datasets"


@dataclass(frozen=True, slots=True)
class Dataset:
    """Instances with their action set, ready to run.

    name: for people, without the folders of this machine. digest: SHA-256 (64 hex
    digits) of actions and instances in canonical JSON; equal content, equal digest,
    whatever the file's name or layout. notes: what a reader of results should know.
    """

    instances: tuple[Instance, ...]
    actions: ActionSet
    name: str
    digest: str
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.instances)


def load(
    source: str | Path,
    *,
    split: str | None = None,
    limit: int | None = None,
    seed: int = 0,
    actions: str | Path | None = None,
) -> Dataset:
    """The instances that `source` names.

    source: a registered name (`ambigact40-open`, `ambigact40-open-en:dev`, `arta:PATH`, or
    what others register), else a file or a folder. split: `train`, `dev`, `test`, `all`;
    registered sources default to `test`. limit: so many instances, drawn by `seed` and
    kept in their order; `None` for all. seed: also draws hidden intents where a source
    has several. actions: a file with another action set.

    Raises:
        InputError: unknown source, unusable data, or a limit below 1.
    """
    if limit is not None and limit < 1:
        raise InputError(
            say(f"上限 {limit} は 1 より小さい値です", f"the limit {limit} is below 1"),
            place="--limit",
            remedy=say("1 以上にしてください", "use 1 or more"),
        )
    name, loaded = _open(str(source), split, seed, str(actions) if actions else None)
    instances = loaded.instances
    if limit is not None and limit < len(instances):
        kept = sorted(random.Random(seed).sample(range(len(instances)), limit))
        instances = tuple(instances[i] for i in kept)
    return Dataset(
        instances=instances,
        actions=loaded.actions,
        name=name,
        digest=_digest(instances, loaded.actions),
        notes=loaded.notes,
    )


def _open(source: str, split: str | None, seed: int, actions: str | None) -> tuple[str, Loaded]:
    """The name to show and what was read."""
    head, colon, argument = source.partition(":")
    known = plugins.names(GROUP)
    if head in known:
        build = plugins.load(GROUP, head, what="data set", option="--data")
        loaded: Loaded = build(argument, split=split, seed=seed, actions=actions)
        tail = Path(argument).name if argument else ""
        shown = head if not tail or tail == loaded.split else f"{head}:{tail}"
        return f"{shown}:{loaded.split}", loaded
    path = Path(source).expanduser()
    if not source.strip() or not exists(path):
        hint = ""
        if colon:
            hint = say(
                f"'{head}' は登録済みのデータではありません。",
                f"'{head}' is no registered data set; ",
            )
        raise InputError(
            say(
                f"{hint}そのようなファイルやフォルダーはありません",
                f"{hint}there is no such file or folder",
            ),
            place=f"--data {source}",
            remedy=say(
                f"パスか、次のどれかを指定してください: {', '.join(known)}",
                f"give a path, or one of: {', '.join(known)}",
            ),
        )
    loaded = load_path(path, split=split, actions=actions)
    name = path.resolve().name
    return (name if loaded.split in ("all", path.stem) else f"{name}:{loaded.split}"), loaded


def _digest(instances: tuple[Instance, ...], actions: ActionSet) -> str:
    content = {
        "actions": [[a.id, a.text] for a in actions],
        "instances": [i.model_dump(mode="json", exclude_defaults=True) for i in instances],
    }
    return hashlib.sha256(canonical(content).encode("utf-8")).hexdigest()
