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
#: A simulator or an agent that is a language model is told the scene and has prompts.
PROMPTED = (*SHARED, "naisei.clarify.describe")


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
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parent = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parent, *([base] if base else [])])
            found.add(base)
            found.update(f"{base}.{alias.name}" for alias in node.names)
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


def agents(*, prompted: bool) -> list[str]:
    """Modules of the agents, of memory, and the understanding of answers."""
    found = [*_under("naisei.clarify.agents"), *_under("naisei.memory"), "naisei.japanese.answers"]
    return [m for m in found if prompted or not reached(m) & {"naisei.lang"}]


def _strangers(shared: set[str], allowed: tuple[str, ...]) -> set[str]:
    return {
        m for m in shared if m not in allowed and not m.startswith(("naisei.core.", "naisei.core"))
    }


def test_the_rule_simulator_shares_nothing_with_any_agent() -> None:
    simulator = reached("naisei.clarify.simulator.rule")
    assert len(agents(prompted=True)) > 3
    assert _strangers(simulator & reached(*agents(prompted=True)), SHARED) == set()


def test_no_simulator_shares_more_than_the_prompt_loader() -> None:
    simulators = reached(*_under("naisei.clarify.simulator"))
    assert _strangers(simulators & reached(*agents(prompted=True)), PROMPTED) == set()


def test_no_agent_reads_the_simulators_files() -> None:
    tables = {p.name for p in (ROOT / "clarify" / "simulator").glob("*.toml")}
    assert tables
    for module in agents(prompted=True):
        file = _file(module)
        assert file is not None
        text = file.read_text(encoding="utf-8")
        assert "simulator" not in {n for m in _imports(module) for n in m.split(".")}
        assert not [t for t in tables if t in text], module


def test_the_graph_sees_what_it_should() -> None:
    assert "naisei.clarify.forbidden_questions" in reached("naisei.clarify.simulator.rule")
    assert "naisei.core.effects" in reached("naisei.clarify.simulator.rule")
    assert "naisei.lang" in reached("naisei.clarify.simulator")
