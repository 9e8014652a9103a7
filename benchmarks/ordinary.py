"""Ordinary commands of this tree against those of an earlier one: processor time as ratios, taken
in turn. `python -m benchmarks.ordinary OTHER/src [--repeat 7]`, OTHER a worktree of it.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

_HERE = Path(__file__).parents[1] / "src"
#: 3,000 events with long texts that are alike, as prompts are; and the outcomes.
_APPEND = """
import sys; from pathlib import Path
from naisei.core import Event, Usage, Where
from naisei.runs.log import RunLog
from naisei.runs.task import EpisodeRow
log = RunLog(Path(sys.argv[1]))
system = "手引きに従って答えてください。" * 90
for i in range(100):
    for n in range(30):
        usage = Usage("agent", "m", 1, 1, 700, 20, 0.1)
        log.append(Event(Where(f"e{i}", 0, (n,)), "chat", "d", {"messages": [system, f"{i} {n}"]},
                         "はい", None, usage))
    log.finish(EpisodeRow(Where(f"e{i}"), {"n": 30}))
log.close()
"""
#: What is run, from a folder of its own each time; `{docs}`, `{index}`, `{text}` lie ready.
WORK: Mapping[str, tuple[str, ...]] = {
    "clarify run": ("clarify", "run", "--agent", "random", "--run-dir", "run", "-q"),
    "intent index, words alone": (
        "intent", "index", "{docs}", "--index", "index", "--embedder", "none", "-q",
    ),
    "the same, 295 documents": (
        "intent", "index", "{many}", "--index", "index", "--embedder", "none", "-q",
    ),
    "intent index, fast": (
        "intent", "index", "{docs}", "--index", "index", "--embedder", "fast", "-q",
    ),
    "intent ask": (
        "intent", "ask", "出張の宿泊費の上限は？", "--index", "{index}", "--run-dir", "run",
    ),
    "emphasis tag": ("emphasis", "tag", "{text}"),
    "3,000 appends": (),
}  # fmt: skip


def _cpu(source: Path, arguments: tuple[str, ...], folder: Path) -> float:
    """Seconds of the processor of a command and its children."""
    code = ["-c", _APPEND, "log.sqlite"] if not arguments else ["-m", "naisei", *arguments]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, *code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(source), "NAISEI_LANG": "en"},
        capture_output=True,
        text=True,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(f"{arguments}: exit {done.returncode}: {done.stderr[-500:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ordinary")
    parser.add_argument("other", type=Path)
    parser.add_argument("work", nargs="*", help=", ".join(WORK))
    parser.add_argument("--repeat", type=int, default=7)
    given = parser.parse_args()
    sources = {"before": given.other.resolve(), "now": _HERE}
    with tempfile.TemporaryDirectory(prefix="naisei-ordinary-") as name:
        base = Path(name)
        docs = _HERE / "naisei/data/handbook"
        text = base / "text.md"
        text.write_text("\n\n".join(p.read_text("utf-8") for p in sorted(docs.rglob("*.md"))))
        many = base / "many"
        for n in range(5):
            shutil.copytree(docs, many / str(n))
        ready = {"docs": str(docs), "text": str(text), "many": str(many)}
        for which, source in sources.items():
            folder = base / which
            folder.mkdir()
            _cpu(source, ("intent", "index", str(docs), "--index", "index", "-q"), folder)
        print(f"{'':28} before      now    ratio, seconds of the processor, medians")
        for what, arguments in WORK.items():
            if given.work and what not in given.work:
                continue
            took: dict[str, list[float]] = {which: [] for which in sources}
            for turn in range(given.repeat + 1):
                for which, source in sources.items():
                    filled = {**ready, "index": str(base / which / "index")}
                    with tempfile.TemporaryDirectory(dir=base) as folder:
                        seconds = _cpu(
                            source, tuple(a.format(**filled) for a in arguments), Path(folder)
                        )
                    if turn:  # the first one compiles
                        took[which].append(seconds)
            ratio = statistics.median(
                now / before for before, now in zip(took["before"], took["now"], strict=True)
            )
            old, new = (statistics.median(took[which]) for which in sources)
            print(f"{what:28} {old:6.2f}   {new:6.2f}   {ratio:6.2f}", flush=True)


if __name__ == "__main__":
    main()
