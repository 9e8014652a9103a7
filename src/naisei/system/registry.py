"""The known systems: built-in ones, and those added by entry points."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from naisei.runs.frozen import Frozen
    from naisei.runs.task import Digest, Task
    from naisei.system.declare import Experiment, System

#: A text in Japanese and English.
Text = tuple[str, str]

#: Entry-point group of plug-in systems: name → a `System`.
GROUP = "naisei.systems"
#: Built-in systems in the order of the help; each is `naisei.<name>.system.SYSTEM`. Their
#: descriptions are defined here, so that `naisei --help` imports none of them.
BUILT_IN: dict[str, Text] = {
    "clarify": (
        "曖昧な発話に、聞き返してから行動する (R-Clarify)",
        "Ask before acting on ambiguous requests (R-Clarify).",
    ),
    "director": (
        "発言を口に出す前に検査する。不合格の案は跡を残さない",
        "Check lines before they are spoken; rejected ones leave no trace.",
    ),
    "relationship": (
        "二人の関係を値として読み、次の発話に生かし、図にする",
        "Personas whose relationship is read, injected and shown.",
    ),
    "textgame": (
        "テキストゲームを読み、計画し、同じ失敗をしないプレイヤー",
        "Players of text games that read, plan, and do not repeat a mistake.",
    ),
    "intent": (
        "資料を探す前に聞き返す、社内資料の案内役",
        "A document assistant that asks back before it searches.",
    ),
    "emphasis": (
        "文書の大事な語句に太字を付ける",
        "Set in bold the words of a document that matter.",
    ),
}


#: Built-in systems that have runs but no command.
WITHOUT_COMMAND = ("web",)


def system_names() -> list[str]:
    """Return all systems with a command: built-in ones, then plug-ins by name. Imports none."""
    from naisei.entries import entries, tell_taken

    taken = {*BUILT_IN, *WITHOUT_COMMAND}
    for name, entry in (outside := entries(GROUP)).items():
        if name in taken:
            tell_taken(entry, f"naisei.{name}")
    return [*BUILT_IN, *(name for name in outside if name not in taken)]


def find_system(name: str) -> System:
    """Return the system with this name.

    Raises:
        InputError: no system with this name is installed.
    """
    if name in BUILT_IN or name in WITHOUT_COMMAND:
        built_in: System = import_module(f"naisei.{name}.system").SYSTEM
        return built_in
    from naisei import plugins

    outside: System = plugins.load(GROUP, name, what=("システム", "system"))
    return outside


def system_in(path: Path) -> System:
    """Execute a Python file and return its `SYSTEM`, for systems under development.

    Raises:
        InputError: the file does not exist, cannot be imported or has no `SYSTEM`.
    """
    from naisei.core import InputError
    from naisei.lang import say
    from naisei.system.declare import System

    spec = spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise InputError(say("ファイルがありません", "no such file"), place=str(path))
    module = sys.modules[path.stem] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (ImportError, SyntaxError) as error:
        raise InputError(
            say(f"読み込めません: {error}", f"cannot be imported: {error}"), place=str(path)
        ) from error
    found = getattr(module, "SYSTEM", None)
    if not isinstance(found, System):
        raise InputError(
            say("SYSTEM (System の宣言) がありません", "holds no SYSTEM, the declaration of one"),
            place=str(path),
        )
    return found


def experiment_of(system: str, config: dict[str, Any], place: Path) -> Experiment[Any]:
    """Return the experiment that a frozen configuration belongs to. place: location of its run.

    Raises:
        InputError: the system is not installed, or has no such experiment.
    """
    from naisei.core import InputError
    from naisei.lang import say

    if system not in (*system_names(), *WITHOUT_COMMAND):
        raise InputError(
            say(
                f"システム {system!r} の実行ですが、インストールされていません",
                f"the run is of the system {system!r}, which is not installed",
            ),
            place=str(place),
            remedy=say(
                "元のパッケージをインストールしてください", "install the package that it came from"
            ),
        )
    declared = find_system(system)
    if declared.elsewhere is not None and (told := declared.elsewhere(config, place)) is not None:
        raise told
    found = declared.experiment(str(config.get("task", "")))
    if found is None:
        raise InputError(
            say(f"{system} のこの実行は再開できません", f"this run of {system} cannot be resumed"),
            place=str(place),
        )
    return found


def task_of(frozen: Frozen, path: Path) -> Task[Any]:
    """Return the task of the run in the directory `path`.

    Raises:
        InputError: its system is not installed, its data is missing, or the configuration is from
            another version.
    """
    experiment = experiment_of(frozen.system, frozen.config, path)
    return experiment.load(frozen.config_as(experiment.config, path / "config.json"))


def declared(system: str, config: dict[str, Any]) -> Experiment[Any] | None:
    """Return the experiment of a frozen configuration; `None` if no installed system has it."""
    from naisei.core import InputError

    try:
        return find_system(system).experiment(str(config.get("task", "")))
    except InputError:
        return None


def digest_of(system: str, config: dict[str, Any]) -> Callable[[Any], Digest]:
    """Return the function from an episode's stored result to its `Digest`. If none is declared,
    the digest is empty."""
    from naisei.runs.task import Digest

    experiment = declared(system, config)
    found = experiment and experiment.digest
    return found or (lambda result: Digest())
