"""The simulator and the agents share nothing: an agent has to understand an answer."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import naisei

ROOT = Path(naisei.__file__).parent
#: What both sides may use: the core, the vocabulary of the task, and words of a language.
SHARED = (
    "naisei",
    "naisei.core",
    "naisei.clarify",
    "naisei.clarify.agent",
    "naisei.clarify.schemas",
    "naisei.clarify.describe",
    "naisei.japanese",
    "naisei.japanese.morph",
    "naisei.models",
    "naisei.models.base",
    # What an embedder is opened with.
    "naisei.addresses",
    "naisei.keys",
    "naisei.lang",
    "naisei.lengths",
    "naisei.entries",
    "naisei.files",
    "naisei.japanese.sentences",
    "naisei.models.embedders.onnx",
    "naisei.plugins",
    "naisei.schema",
    "naisei.similarity",
    "naisei.text_files",
)


def _file(module: str) -> Path | None:
    path = ROOT.joinpath(*module.split(".")[1:])
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


@cache
def _imports(module: str) -> frozenset[str]:
    """The modules of naisei that a module imports, wherever in it the import stands."""
    file = _file(module)
    assert file is not None, module
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level and node.module
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(m for m in found if m.split(".")[0] == "naisei" and _file(m))


def reached(*roots: str) -> set[str]:
    """Everything of naisei that the roots import, directly or not, and the roots."""
    seen: set[str] = set()
    todo = list(roots)
    while todo:
        module = todo.pop()
        if module not in seen:
            seen.add(module)
            todo += _imports(module)
    return seen


def _under(package: str) -> list[str]:
    folder = ROOT.joinpath(*package.split(".")[1:])
    return [
        ".".join(["naisei", *p.relative_to(ROOT).with_suffix("").parts]).removesuffix(".__init__")
        for p in sorted(folder.rglob("*.py"))
    ]


def agents() -> list[str]:
    """Modules of the agents, of memory, and the understanding of answers."""
    return [*_under("naisei.clarify.agents"), *_under("naisei.memory"), "naisei.japanese.answers"]


def test_no_simulator_shares_anything_with_an_agent() -> None:
    shared = reached(*_under("naisei.clarify.simulator")) & reached(*agents())
    assert len(agents()) > 3
    assert not {m for m in shared if m not in SHARED and not m.startswith("naisei.core")}


def test_no_agent_reads_the_simulators_files() -> None:
    tables = {p.name for p in (ROOT / "clarify" / "simulator").glob("*.toml")}
    assert tables
    for module in agents():
        file = _file(module)
        assert file is not None
        text = file.read_text(encoding="utf-8")
        assert "simulator" not in {n for m in _imports(module) for n in m.split(".")}
        assert not [t for t in tables if t in text], module


def test_the_graph_sees_what_it_should() -> None:
    assert "naisei.clarify.forbidden_questions" in reached("naisei.clarify.simulator.rule")
    assert "naisei.core.effects" in reached("naisei.clarify.simulator.rule")
    assert "naisei.lang" in reached("naisei.clarify.simulator")
