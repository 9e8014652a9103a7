"""Arrows go down only (DESIGN §2): doors → systems → declarations → shared → core; no system knows
another."""

import ast
from functools import cache
from pathlib import Path

import pytest

import naisei
from naisei import identity

ROOT = Path(naisei.__file__).parent
DOORS = {"cli", "web", "doors", "testing"}
#: Above the systems, which do not know of it.
COMPOSITION = {"agent"}
SYSTEMS = {"clarify", "relationship", "intent", "director", "textgame", "emphasis"}
SHARED = {"runs", "memory", "retrieval", "japanese", "models", "http", "data", "transcripts"}
#: Helpers of one file beside the packages. They may be used from above core.
HELPERS = {
    "near_json",
    "databases",
    "entries",
    "files",
    "keys",
    "lang",
    "lengths",
    "plugins",
    "terminal",
} | {
    "kept_text",
    "serving",
}
HELPERS |= {"addresses", "bm25", "identity", "invisible", "processor", "similarity"}
HELPERS |= {"data_sets", "postgres", "sandbox", "schema", "text_files", "training_documents"}
#: Of them, those that decide no result.
DECIDE_NOTHING = {"addresses", "data_sets", "databases", "entries", "files", "identity", "keys"}
DECIDE_NOTHING |= {"kept_text", "plugins", "postgres", "processor", "sandbox", "terminal"}
DECIDE_NOTHING |= {"serving", "training_documents"}
#: Files or folders inside a system or a shared package that belong to its door: `cli` (DESIGN §2)
#: and what it is split into, the verbs of the command line (`*_commands`, too). They may use
#: `naisei.cli`; only doors may use them.
DOOR_FILES = {"cli", "command", "commands", "demo", "resume"}


def layer(part: str) -> int:
    if part in DOORS:
        return 5
    if part in COMPOSITION:
        return 4
    if part in SYSTEMS:
        return 3
    if part == "system":
        return 2
    return 0 if part == "core" else 1


def module_of(file: Path) -> str:
    return ".".join(["naisei", *file.relative_to(ROOT).with_suffix("").parts])


def part_of(module: str) -> str:
    pieces = module.split(".")
    return pieces[1] if len(pieces) > 1 else ""


@cache
def imports(file: Path) -> list[tuple[int, str]]:
    """(line, module of ours) for every import, wherever in the file it stands."""
    package = ("naisei", *file.relative_to(ROOT).parent.parts)
    found = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            if module == "naisei":
                found += [(node.lineno, f"naisei.{alias.name}") for alias in node.names]
            else:
                found.append((node.lineno, module))
    return [(line, module) for line, module in found if module.split(".")[0] == "naisei"]


def is_door(module: str) -> bool:
    pieces = module.split(".")
    inner = pieces[2:]
    named = bool(DOOR_FILES & {*inner}) or any(piece.endswith("_commands") for piece in inner)
    return pieces[1:2] != [] and (pieces[1] in DOORS or named)


def breach(source: str, target: str) -> str:
    """Why module `source` may not import module `target`; empty if it may."""
    if is_door(target) and not is_door(source):
        return "arrows go down only: this belongs to a door"
    door, source, target = is_door(source), part_of(source), part_of(target)
    if source == target or target in ("", "__version__") or (door and target in DOORS):
        return ""
    if source == "core":
        return "core imports nothing of ours"
    if source in SYSTEMS and target in SYSTEMS:
        return "a system never imports another system"
    if layer(target) > layer(source):
        return "arrows go down only"
    return ""


FILES = sorted(ROOT.rglob("*.py"))


def test_every_file_is_in_a_part_that_is_known() -> None:
    rooms = DOORS | COMPOSITION | SYSTEMS | SHARED | HELPERS
    known = rooms | {"system", "core", "__init__", "__main__"}
    unknown = {f.relative_to(ROOT).parts[0].removesuffix(".py") for f in FILES} - known
    assert not unknown, "where in the house of DESIGN §2 are they?"


def test_arrows_go_down_only() -> None:
    wrong = [
        f"{file}:{line}: imports {module}: {why}"
        for file in FILES
        for line, module in imports(file)
        if file.parent != ROOT or file.stem not in ("__init__", "__main__")
        if (
            why := breach(
                ".".join(["naisei", *file.relative_to(ROOT).with_suffix("").parts]), module
            )
        )
    ]
    assert not wrong, "\n".join(wrong)


def test_every_core_file_is_looked_at_and_its_imports_are_seen() -> None:
    core = [f for f in FILES if f.parent == ROOT / "core"]
    assert len(core) > 5
    assert any(module == "naisei.core.effects" for _, module in imports(ROOT / "core/engine.py"))


@pytest.mark.parametrize(
    ("source", "target", "allowed"),
    [
        ("core.engine", "models", False),
        ("models.base", "clarify.flow", False),
        ("clarify.task", "intent.flow", False),
        ("cli.app", "clarify.flow", True),
        ("clarify.flow", "cli.show", False),
        ("system.execute", "clarify.flow", False),
        ("clarify.flow", "agent.mind", False),
    ],
)
def test_the_rule_itself(source: str, target: str, allowed: bool) -> None:
    assert (breach(f"naisei.{source}", f"naisei.{target}") == "") is allowed


def test_core_does_no_io_and_knows_no_provider() -> None:
    banned = {"httpx", "openai", "pydantic_ai", "sqlite3", "socket", "requests", "pathlib", "os"}
    for file in (ROOT / "core").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = (
                [a.name for a in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
            assert not {n.split(".")[0] for n in names} & banned, file


def test_what_is_no_part_of_a_runs_identity_decides_nothing() -> None:
    """What talks to people is imported by doors and declarations alone (`naisei.identity`)."""

    def at(module: str) -> str:
        return "/".join(module.split(".")[1:])

    wrong = [
        f"{file}:{line}: imports {module}, which is no part of the identity of runs"
        for file in FILES
        if part_of(module_of(file)) in identity._ROOMS
        and not identity._speaks(at(module_of(file)))
        and file.name != "system.py"
        for line, module in imports(file)
        if part_of(module) in identity._ROOMS and identity._speaks(at(module))
    ]
    assert not wrong, "\n".join(wrong)
    parts = COMPOSITION | SYSTEMS | SHARED - {"runs", "http", "data"} | {"core"}
    assert parts | HELPERS - DECIDE_NOTHING <= identity._ROOMS, "a new part decides, too"
