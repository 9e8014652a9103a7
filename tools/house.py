"""Size of the house, by room: python tools/house.py [--json] [--root DIR].

Of `src/naisei`: lines and statements (nodes of `ast`) of Python, lines of tables (TOML) and of
templates (HTML, CSS, JavaScript), functions over 40 lines, files over 15 KB, circles (files of one
room that import each other at their top), and the files that `naisei clarify run` imports.
"""

from __future__ import annotations

import argparse
import ast
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent / "src" / "naisei"
SYSTEMS = ("clarify", "director", "relationship", "textgame", "intent", "emphasis")
LONG, LARGE = 40, 15_000
TEMPLATES = {".html", ".css", ".js"}
#: Not templates: what others wrote, and documents that the assistant reads.
NOT_TEMPLATES = {"vendor", "data"}
_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
_ENTERED = """
import sys
from naisei.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
ours = [module for name, module in sys.modules.items() if name.split(".")[0] == "naisei"]
print(*(module.__file__ for module in ours), sep="\\n", file=sys.stderr)
"""


@dataclass(frozen=True)
class File:
    """One file of Python. room: its folder below the root, or its own name."""

    path: Path
    room: str
    text: str
    tree: ast.Module

    def functions(self) -> Iterator[int]:
        """Lines of each function, decorators left out."""
        for node in ast.walk(self.tree):
            if isinstance(node, _FUNCTION):
                yield (node.end_lineno or node.lineno) - node.lineno + 1

    def imports(self) -> Iterator[str]:
        """Modules imported at the top, not those under `if TYPE_CHECKING`."""
        for node in self.tree.body:
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
                yield node.module


def room_of(path: Path, root: Path) -> str:
    parts = path.relative_to(root).parts
    return parts[0] if len(parts) > 1 else "(files)"


def read(root: Path) -> list[File]:
    texts = {path: path.read_text("utf-8") for path in sorted(root.rglob("*.py"))}
    return [File(p, room_of(p, root), text, ast.parse(text)) for p, text in texts.items()]


def circles(files: list[File], root: Path) -> list[list[str]]:
    """One circle for each room that has any, as the names of its files."""
    names = {
        ".".join(["naisei", *file.path.relative_to(root).with_suffix("").parts]): file
        for file in files
    }
    found = []
    for room in sorted({file.room for file in files}):
        inside = {name for name, file in names.items() if file.room == room}
        graph = {name: (inside & set(names[name].imports())) - {name} for name in inside}
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            found.append(list(error.args[1]))
    return found


def entered() -> dict[str, int]:
    """Room → files that `naisei clarify run` imports, in a process of its own."""
    words = ["clarify", "run", "--agent", "bayes", "--limit", "1", "-q", "--run-dir"]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", _ENTERED, *words, f"{folder}/r"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    ours = [Path(line) for line in done.stderr.splitlines() if line.endswith(".py")]
    return dict(Counter(room_of(path, ROOT) for path in ours if path.is_relative_to(ROOT)))


def lines(root: Path, suffixes: set[str]) -> Counter[str]:
    """Room → lines of the files with these suffixes."""
    found: Counter[str] = Counter()
    for path in root.rglob("*"):
        inside = path.relative_to(root).parts
        if path.suffix in suffixes and not (path.suffix in TEMPLATES and NOT_TEMPLATES & {*inside}):
            found[room_of(path, root)] += len(path.read_text("utf-8").splitlines())
    return found


def counts(root: Path = ROOT) -> dict[str, dict[str, float]]:
    """Room → its figures; then sums of the shared rooms, of the systems and of all."""
    files = read(root)
    tables, templates = lines(root, {".toml"}), lines(root, TEMPLATES)
    begun = entered() if root == ROOT else {}
    rows: dict[str, dict[str, float]] = {}
    for room in sorted({file.room for file in files} | set(tables) | set(templates)):
        own = [file for file in files if file.room == room]
        spans = [span for file in own for span in file.functions()]
        rows[room] = {
            "files": len(own),
            "lines": sum(len(file.text.splitlines()) for file in own),
            "statements": sum(isinstance(n, ast.stmt) for f in own for n in ast.walk(f.tree)),
            "tables": tables[room],
            "templates": templates[room],
            "functions": len(spans),
            "over 40 lines": sum(span > LONG for span in spans),
            "over 15 KB": sum(file.path.stat().st_size > LARGE for file in own),
            "entered": begun.get(room, 0),
        }
    shared = [row for room, row in rows.items() if room not in SYSTEMS]
    systems = [rows[room] for room in SYSTEMS if room in rows]
    sums = (("shared", shared), ("systems", systems), ("all", [*shared, *systems]))
    return rows | {name: {key: sum(r[key] for r in of) for key in of[0]} for name, of in sums}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--root", type=Path, default=ROOT, help="another src/naisei")
    options = parser.parse_args()
    rows = counts(options.root.resolve())
    found = circles(read(options.root.resolve()), options.root.resolve())
    if options.json:
        print(json.dumps({"rooms": rows, "circles": found}))
        return
    names = list(rows["all"])
    print(f"{'':14}" + "".join(f"{name:>14}" for name in names))
    for room, row in rows.items():
        print(f"{room:14}" + "".join(f"{row[name]:14,}" for name in names))
    share = rows["all"]["over 40 lines"] / rows["all"]["functions"]
    print(f"\nfunctions over {LONG} lines: {share:.1%}")
    for circle in found:
        print("circle:", " → ".join(circle))


if __name__ == "__main__":
    main()
