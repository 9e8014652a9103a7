"""Data sets: from a path, or by a registered name such as `ambigact40-open:test`.

A new source is an entry point in the group `naisei.datasets`: a callable

    build(argument: str, *, split: str | None, seed: int, actions: str | None) -> Loaded

`argument` is what follows the colon in `name:argument` (empty without one). It returns a `Loaded`;
choosing `limit` instances and the digest are the loader's work.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from naisei import entries, plugins
from naisei.clarify.data.instances import KEYS, SPLITS, instance, language_of, split_name
from naisei.clarify.data.records import ACTION_FILES, Row, exists, listed, load_actions, read_rows
from naisei.clarify.schemas import ActionSet, Instance
from naisei.core import InputError, canonical
from naisei.lang import say

#: As a split: all of them.
ALL = "all"

_SUFFIXES = (".jsonl", ".json")


@dataclass(frozen=True, slots=True)
class Loaded:
    """What was read. notes: what a reader of the results should know of it."""

    instances: tuple[Instance, ...]
    actions: ActionSet
    notes: tuple[str, ...] = ()
    split: str = ALL


def load_path(path: Path, *, split: str | None = None, actions: str | Path | None = None) -> Loaded:
    """The instances of a file, or of a folder with `train`, `dev` and `test` files.

    split: `train`, `dev`, `test` or `all`; `None` means `test` where a folder has one, and
    everything otherwise. actions: a file with another action set than the folder's own
    (`actions.jsonl`, `.json` or `.toml` beside the data), or than the 40 of AmbigAct-40.

    Raises:
        InputError: nothing there, no data, a broken row, or an id that comes twice.
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
    seen: dict[str, str] = {}
    out: list[Instance] = []
    for number, (file, of_file, row) in enumerate(rows, start=1):
        one = instance(row, action_set, default_id=f"{file.stem}-{number}", split=of_file)
        if one.id in seen:
            raise InputError(
                say(f"id '{one.id}' が重複しています", f"id '{one.id}' comes twice"),
                place=row.place,
                remedy=say(
                    f"最初は {seen[one.id]} にあります。id は重複できません",
                    f"the first is at {seen[one.id]}; ids must be unique",
                ),
            )
        seen[one.id] = row.place
        out.append(one)
    kept = tuple(i for i in out if chosen == ALL or i.split == chosen)
    if not kept:
        found = ", ".join(sorted({i.split or say("指定なし", "none") for i in out}))
        raise InputError(
            say(f"分割 '{chosen}' に入る件がありません", f"no instances of the split '{chosen}'"),
            place=str(path),
            remedy=say(f"あるもの: {found}", f"found: {found}"),
        )
    return Loaded(kept, action_set, _notes([row for _, _, row in rows]), chosen)


def _sources(path: Path, split: str | None) -> tuple[list[tuple[Path, str]], str]:
    """The files to read, each with the split that its name gives, and the split to keep."""
    wanted = split_name(split) if split is not None else None
    if wanted is not None and wanted not in (*SPLITS, ALL):
        raise InputError(
            say(f"'{split}' という分割はありません", f"unknown split '{split}'"),
            place=str(path),
            remedy=say(
                "train、dev、test、all のどれかを指定してください", "use train, dev, test or all"
            ),
        )
    if not exists(path):
        raise InputError(
            say("そのようなファイルやフォルダーはありません", "no such file or folder"),
            place=str(path),
            remedy=say(
                "パスを確かめてください。"
                "登録済みのデータは ambigact40-open のように名前で指定します",
                "check the path; registered data sets go by name, such as ambigact40-open",
            ),
        )
    if not path.is_dir():
        return [(path, "")], wanted or ALL
    by_split, others = _folder(path)
    if not by_split:
        if not others:
            raise InputError(
                say("このフォルダーにデータはありません", "this folder holds no data"),
                place=str(path),
                remedy=say(
                    "train.jsonl、dev.jsonl、test.jsonl を入れるか、ファイルを指定してください",
                    "put train.jsonl, dev.jsonl and test.jsonl there, or give a file",
                ),
            )
        return [(file, "") for file in others], wanted or ALL
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


def _folder(path: Path) -> tuple[dict[str, Path], list[Path]]:
    """Files named after a split, and the other data files."""
    files = [f for f in listed(path) if f.suffix in _SUFFIXES and f.name not in ACTION_FILES]
    by_split: dict[str, Path] = {}
    for name in SPLITS:
        mine = [f for f in files if split_name(f.stem) == name]
        if len(mine) > 1:
            raise InputError(
                say(
                    f"分割 '{name}' のファイルが二つあります: {mine[0].name} と {mine[1].name}",
                    f"two files for the split '{name}': {mine[0].name} and {mine[1].name}",
                ),
                place=str(path),
                remedy=say("どちらか一つにしてください", "keep one of them"),
            )
        if mine:
            by_split[name] = mine[0]
    return by_split, [f for f in files if f not in by_split.values() and f.suffix == ".jsonl"]


def _actions(path: Path, given: str | Path | None, rows: Sequence[Row]) -> ActionSet:
    language = language_of("".join(str(row.fields.get("utterance", "")) for row in rows))
    if given:
        return load_actions(given, language=language)
    folder = path if path.is_dir() else path.parent
    for name in ACTION_FILES:
        if (folder / name).is_file():
            return load_actions(folder / name, language=language)
    return load_actions(language=language)


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
