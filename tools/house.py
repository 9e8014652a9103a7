"""Size of the house: lines, files, and the files that a command enters.

    python tools/house.py [--json]

Counts `src/naisei/**/*.py`. "Heads" are lines above a file's first definition (docstring,
imports, `__all__`); "plumbing" are the lines of a system's files that declare, parse flags,
print or start runs (by name: `system`, `config`, `cli`, `commands`, `demo`, `live`). A file is
entered when a command imports it; the commands run in processes of their own.
"""

from __future__ import annotations

import argparse
import ast
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent / "src" / "naisei"
SYSTEMS = ("clarify", "director", "relationship", "textgame", "intent", "emphasis")
PLUMBING = {"system", "config", "cli", "commands", "execute", "resume", "session", "demo", "live"}
#: What is run to count the files it enters; `{}` is a folder of its own.
COMMANDS = {
    "clarify run": "clarify run --agent bayes --limit 1 -q --run-dir {}/r",
    "intent ask": "intent ask 休暇の申請はどうすればよいですか --index {}/i",
}
#: Done first, not counted.
BEFORE = {"intent ask": "intent index {root}/data/handbook --embedder ngram --index {}/i"}
_ENTERED = """
import sys
from naisei.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
names = [n for n, m in sys.modules.items() if n.split('.')[0] == 'naisei']
files = {getattr(sys.modules[n], '__file__', None) for n in names} - {None}
print(len(files), file=sys.stderr)
"""


def head(text: str) -> int:
    """Lines above the first function, class or statement that is no import or `__all__`."""
    for node in ast.parse(text).body:
        named = isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
        constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not (isinstance(node, ast.Import | ast.ImportFrom) or named or constant):
            return node.lineno - 1
    return len(text.splitlines())


def entered(name: str) -> int:
    """Files of ours that a command imports."""
    with tempfile.TemporaryDirectory() as folder:

        def words(command: str) -> list[str]:
            return command.replace("{root}", str(ROOT)).replace("{}", folder).split()

        start = [sys.executable, "-c", _ENTERED]
        if name in BEFORE:
            subprocess.run([*start, *words(BEFORE[name])], capture_output=True, check=True)
        done = subprocess.run(
            [*start, *words(COMMANDS[name])], capture_output=True, text=True, check=True
        )
    return int(done.stderr.split()[-1])


def counts(*, commands: bool = True) -> dict[str, object]:
    """All figures by name."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(ROOT.rglob("*.py"))}
    lines = {path: len(text.splitlines()) for path, text in texts.items()}
    plumbing = {
        system: sum(
            n
            for path, n in lines.items()
            if path.relative_to(ROOT).parts[0] == system
            and PLUMBING & {path.stem, *path.relative_to(ROOT).parts[1:-1]}
        )
        for system in SYSTEMS
    }
    return {
        "files": len(lines),
        "lines": sum(lines.values()),
        "median lines a file": statistics.median(lines.values()),
        "lines of heads": sum(head(text) for text in texts.values()),
        "files over 15 KB": sum(path.stat().st_size > 15_000 for path in texts),
        "files by part": {
            part: sum(path.relative_to(ROOT).parts[0] == part for path in texts)
            for part in sorted({path.relative_to(ROOT).parts[0] for path in texts})
            if not part.endswith(".py")
        },
        "plumbing lines by system": plumbing,
        "files entered": {name: entered(name) for name in COMMANDS} if commands else {},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true", help="one JSON object")
    found = counts()
    if parser.parse_args().json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        shown = (
            "  ".join(f"{k} {v:,}" for k, v in value.items()) if isinstance(value, dict) else value
        )
        print(f"{name:26} {shown:,}" if isinstance(shown, int | float) else f"{name:26} {shown}")


if __name__ == "__main__":
    main()
