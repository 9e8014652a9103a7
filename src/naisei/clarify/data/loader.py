"""Data sets: from a path, or by a registered name such as `ambigact40-open:test`.

A new source is an entry point in the group `naisei.datasets`: a callable

    build(argument: str, *, split: str | None, seed: int, actions: str | None) -> Loaded

`argument` is the part after the colon in `name:argument`, or empty. `build` returns a `Loaded`;
the loader chooses `limit` instances and computes the digest.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from naisei import entries, plugins
from naisei.clarify.data.instances import (
    ALL,
    KEYS,
    SPLITS,
    instance,
    known_split,
    language_of,
    of_split,
)
from naisei.clarify.data.records import ACTION_FILE, Row, exists, listed, load_actions, read_rows
from naisei.clarify.schemas import ActionSet, Instance
from naisei.core import InputError, canonical
from naisei.lang import say


@dataclass(frozen=True, slots=True)
class Loaded:
    """Loaded data. notes: for readers of the results."""

    instances: tuple[Instance, ...]
    actions: ActionSet
    notes: tuple[str, ...] = ()
    split: str = ALL


def load_path(path: Path, *, split: str | None = None, actions: str | Path | None = None) -> Loaded:
    """The instances of a file, or of a folder with `train`, `dev` and `test` files.

    split: `train`, `dev`, `test` or `all`; `None` means `test` if the folder has one, and
    everything otherwise. actions: a file with an action set that replaces the folder's own
    (`actions.jsonl` beside the data) or the 40 actions of AmbigAct-40.

    Raises:
        InputError: the path does not exist, no data, a broken row, or a duplicate id.
    """
    sources, chosen = _sources(path, split)
    rows = [(file, of_file, row) for file, of_file in sources for row in read_rows(file)]
    if not rows:
        raise InputError(
            say("データが 1 件もありません", "there are no instances"),
            place=str(path),
            remedy=say("行を足してください", "add rows"),
        )
    action_set = _actions(path, actions, [row for _, _, row in rows])
    made = [
        instance(row, action_set, default_id=f"{file.stem}-{number}", split=of_file)
        for number, (file, of_file, row) in enumerate(rows, start=1)
    ]
    own = [row for _, _, row in rows]
    return Loaded(of_split(own, made, chosen), action_set, _notes(own), chosen)


def _sources(path: Path, split: str | None) -> tuple[list[tuple[Path, str]], str]:
    """The files to read, each with the split in its name, and the requested split."""
    wanted = known_split(split, str(path)) if split is not None else None
    if not path.is_dir():
        return [(path, "")], wanted or ALL
    found = {f.stem: f for f in listed(path) if f.suffix == ".jsonl" and f.name != ACTION_FILE}
    if not found:
        raise InputError(
            say("このフォルダーにデータはありません", "this folder holds no data"),
            place=str(path),
            remedy=say(
                "train.jsonl、dev.jsonl、test.jsonl を入れるか、ファイルを指定してください",
                "put train.jsonl, dev.jsonl and test.jsonl there, or give a file",
            ),
        )
    by_split = {name: found[name] for name in SPLITS if name in found}
    if not by_split:
        return [(file, "") for file in found.values()], wanted or ALL
    chosen = wanted or ("test" if "test" in by_split else ALL)
    if chosen == ALL:
        return [(file, name) for name, file in by_split.items()], ALL
    if chosen not in by_split:
        raise InputError(
            say(f"{chosen}.jsonl がありません", f"there is no {chosen}.jsonl"),
            place=str(path),
            remedy=say(f"あるもの: {', '.join(by_split)}", f"splits there: {', '.join(by_split)}"),
        )
    return [(by_split[chosen], chosen)], chosen


def _actions(path: Path, given: str | Path | None, rows: Sequence[Row]) -> ActionSet:
    language = language_of("".join(str(row.fields.get("utterance", "")) for row in rows))
    if given:
        return load_actions(given, language=language)
    beside = (path if path.is_dir() else path.parent) / ACTION_FILE
    return load_actions(beside if beside.is_file() else None, language=language)


def _notes(rows: Sequence[Row]) -> tuple[str, ...]:
    unknown = Counter(key for row in rows for key in row.fields if key not in KEYS)
    if not unknown:
        return ()
    named = ", ".join(f"{key} ({count}×)" for key, count in sorted(unknown.items()))
    return (say(f"使わなかったキー: {named}", f"keys that were not read: {named}"),)


#: Entry-point group of data sources.
GROUP = "naisei.datasets"


@dataclass(frozen=True, slots=True)
class Dataset:
    """Instances with their action set, ready to run.

    name: for display, without local folders. digest: SHA-256 (64 hex digits) of actions and
    instances in canonical JSON; it depends only on the content, not on file name or layout.
    notes: for readers of the results.
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

    source: a registered name (`ambigact40-open`, `ambigact40-open-en:dev`, `arta:PATH`, or a
    plug-in's), or a file or folder. split: `train`, `dev`, `test`, `all`; registered sources
    default to `test`. limit: number of instances, a fixed selection in data order; `None` for
    all. seed: selects hidden intents if a source has several. actions: a file with another action
    set.

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
        kept = sorted(random.Random(0).sample(range(len(instances)), limit))
        instances = tuple(instances[i] for i in kept)
    return Dataset(
        instances=instances,
        actions=loaded.actions,
        name=name,
        digest=_digest(instances, loaded.actions),
        notes=loaded.notes,
    )


def _open(source: str, split: str | None, seed: int, actions: str | None) -> tuple[str, Loaded]:
    """The name to show and the data."""
    head, colon, argument = source.partition(":")
    known = entries.names(GROUP)
    if head in known:
        build = plugins.load(GROUP, head, what=("データセット", "data set"), option="--data")
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
