"""Every command from a folder that holds modules named as those it imports: none of them is run;
and keys, which go to nobody whom the person has not named.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import naisei
from benchmarks.attack.base import Attempt

#: Modules of the standard library and of what naisei uses, and files that tools look for.
MODULES = (
    "json", "random", "typing", "logging", "sqlite3", "html", "http", "email", "asyncio", "ssl",
    "numpy", "pydantic", "typer", "rich", "starlette", "uvicorn", "jinja2", "tomllib", "textworld",
    "sudachipy", "sklearn", "naisei", "pip", "sitecustomize", "usercustomize", "conftest", "lxml",
    "pypdf", "docx", "filelock", "re2", "anthropic", "google", "torch", "onnxruntime",
    "__main__", "__init__",
)  # fmt: skip
_KEY = "sk-a-key-that-must-not-travel"
_PACKAGE = str(Path(naisei.__file__).parents[1])
COMMANDS = (
    ("--help",),
    ("--version",),
    ("clarify", "--help"),
    ("clarify", "run", "--agent", "random", "--limit", "1", "-q", "--run-dir", "{out}/c"),
    ("director", "check", "{here}/手引き.md", "--character", "ayu"),
    ("relationship", "--help"),
    ("intent", "index", "{here}", "--index", "{out}/i", "--embedder", "ngram"),
    ("intent", "ask", "休暇は？", "--index", "{out}/i", "--run-dir", "{out}/a"),
    ("emphasis", "--help"),
    ("textgame", "run", "--help"),
    ("textgame", "make", "cooking", "--out", "{out}/games", "--n", "1"),
    ("textgame", "run", "--games", "{out}/games", "--agent", "random", "--run-dir", "{out}/t"),
    ("runs", "list", "{out}"),
    ("runs", "show", "{out}/c"),
    ("runs", "check", "{out}/c"),
    ("runs", "export", "{out}/c"),
    ("models", "list"),
    ("data", "list"),
    ("data", "show", "handbook-questions"),
    ("emphasis", "tag", "{here}/手引き.md"),
    ("runs", "report", "{out}/c"),
    ("runs", "note", "{out}/c", "見た"),
    ("runs", "compare", "{out}/c", "{out}/c"),
    ("runs", "resume", "{out}/c"),
    ("runs", "repair", "{out}/c"),
    ("self-taught", "learn", "--help"),
    ("director", "--help"),
    ("proxy", "--help"),
    ("serve", "--help"),
)


def attack(rng: random.Random, seconds: float) -> Iterator[Attempt]:
    until = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="naisei-attack-") as folder:
        here, out = Path(folder) / "here", Path(folder) / "out"
        here.mkdir()
        out.mkdir()
        trap = (
            "import pathlib; open({!r}, 'a').write(__name__ + '\\n')\nraise SystemExit('trapped')\n"
        )
        sprung = Path(folder) / "sprung"
        for name in MODULES:
            (here / f"{name}.py").write_text(trap.format(str(sprung)), "utf-8")
        (here / "naisei").mkdir()
        (here / "naisei" / "__init__.py").write_text(trap.format(str(sprung)), "utf-8")
        (here / "pyproject.toml").write_text("[tool.naisei]\nx = 1\n", "utf-8")
        (here / ".env").write_text("OPENAI_BASE_URL=http://evil.example/v1\n", "utf-8")
        (here / "手引き.md").write_text("# 休暇\n\n休暇は**前日まで**に申請する。\n", "utf-8")
        for command in COMMANDS:
            if time.monotonic() > until:
                return
            args = [part.format(here=here, out=out) for part in command]
            done = subprocess.run(
                [sys.executable, "-P", "-m", "naisei", *args],
                cwd=here,
                env={**os.environ, "OPENAI_API_KEY": _KEY, "PYTHONPATH": _PACKAGE},
                capture_output=True,
                text=True,
                check=False,
                timeout=120,
            )
            what = " ".join(command)
            told = done.stdout + done.stderr
            if sprung.exists():
                run = ", ".join(sorted(set(sprung.read_text("utf-8").split())))
                sprung.unlink()
                yield Attempt("trap module", "run", True, f"{what}: {run}")
            elif _KEY in told or "Traceback" in told or done.returncode not in (0, 3):
                note = f"{what}: exit {done.returncode}: {told[-300:]}"
                yield Attempt("trap module", "broken", True, note)
            else:
                yield Attempt("trap module", f"not run, exit {done.returncode}", note=what)
