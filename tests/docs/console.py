"""Console sessions of the pages: read from ```console blocks, run, and compared.

    $ a command           run in the page's own folder, by bash unless it is a plain `naisei …`
                          (and by bash all the same with the slow tests); `> ` goes on with it
    what it prints        standard output and error, as they come

In what is shown, a line `…` stands for any lines (none as well), and `…` within a line for any
text. In the page, before a block:

    <!-- file: NAME -->       (any block) its text is written to NAME
    <!-- slow -->             run with the slow tests only, and so is every block after it
    <!-- copy: PATH -->       the file of the checkout is copied into the folder first
    <!-- needs: MODULE -->    run only where MODULE can be imported
    <!-- exit: N -->          the block's last command ends with N
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import patch

from docs.pages import ROOT
from naisei.cli.main import main as naisei

_MARK = re.compile(r"<!-- (file|copy|slow|needs|exit)(?:: (.+?))? -->")
_PROGRESS = re.compile(r"\d+/\d+ · .*ETA ")
#: What only a shell can run: another program, or several commands in one line.
_SHELL = re.compile(r"^(?!naisei )|[|<>;&$`*?\n]")
_FENCE = re.compile(r"^(```+)(\S*)$")


@dataclass(frozen=True)
class Step:
    """A file to write, or a command with what it prints. place: line of the page, from 1."""

    place: str
    file: str = ""
    command: str = ""
    shown: str = ""
    slow: bool = False
    needs: str = ""
    exit: int = 0


def steps(page: Path) -> list[Step]:
    lines = page.read_text("utf-8").splitlines()
    found: list[Step] = []
    marks: dict[str, str] = {}
    slow = False
    at = 0
    while at < len(lines):
        if mark := _MARK.fullmatch(lines[at].strip()):
            marks[mark[1]] = mark[2] or ""
        elif fence := _FENCE.match(lines[at]):
            end = lines.index(fence[1], at + 1)
            body = lines[at + 1 : end]
            slow = slow or "slow" in marks
            place = f"{page.name}:{at + 2}"
            if "copy" in marks:
                copied = Path(marks["copy"])
                found.append(
                    Step(place, file=copied.name, shown=(ROOT / copied).read_text("utf-8"))
                )
            if "file" in marks:
                found.append(Step(place, file=marks["file"], shown="\n".join(body) + "\n"))
            elif fence[2] == "console":
                found += _commands(body, page, at + 2, slow, marks)
            marks = {}
            at = end
        elif lines[at].strip():
            marks = {}
        at += 1
    return found


def _commands(
    body: list[str], page: Path, first: int, slow: bool, marks: Mapping[str, str]
) -> Iterator[Step]:
    starts = [n for n, line in enumerate(body) if line.startswith("$ ")]
    assert starts and starts[0] == 0, f"{page}:{first}: a console block begins with a command"
    for start, end in zip(starts, [*starts[1:], len(body)], strict=True):
        command = body[start][2:]
        shown = start + 1
        while shown < end and body[shown].startswith("> ") and command.endswith("\\"):
            command += "\n" + body[shown][2:]
            shown += 1
        last = end == len(body)
        yield Step(
            f"{page.name}:{first + start}",
            command=command,
            shown="\n".join(body[shown:end]),
            slow=slow,
            needs=marks.get("needs", ""),
            exit=int(marks.get("exit", "0")) if last else 0,
        )


def run_page(page: Path, folder: Path, *, language: str, slow: bool) -> Iterator[str]:
    """What is not as shown, a text a command; runs the page in `folder`."""
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("NAISEI_MODEL", "OPENAI"))},
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "NAISEI_LANG": language,
        "NAISEI_DATA": str(folder / ".data"),
        "NAISEI_FORBID_MODELS": "1",
        "PYTHONUTF8": "1",
        "COLUMNS": "80",
        "TERM": "dumb",
    }
    for step in steps(page):
        if step.file:
            path = folder / step.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.shown, encoding="utf-8")
            continue
        if (step.slow and not slow) or (step.needs and find_spec(step.needs) is None):
            continue
        run = _by_bash if slow or _SHELL.search(step.command) else _in_process
        code, printed = run(step.command, folder, environment)
        printed = tidy(printed)
        if code != step.exit:
            yield f"{step.place}: exit code {code}\n$ {step.command}\n{printed}"
        elif not matches(step.shown, printed):
            yield f"{step.place}: prints otherwise\n$ {step.command}\n{printed}"


def _by_bash(command: str, folder: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.returncode, done.stdout.decode("utf-8")


def _in_process(command: str, folder: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    """The same for a plain `naisei …`, without a process for it."""
    screen = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    with (
        patch.dict(os.environ, environment, clear=True),
        patch("sys.stdin", io.StringIO()),
        redirect_stdout(screen),
        redirect_stderr(screen),
        chdir(folder),
    ):
        try:
            naisei(shlex.split(command)[1:])
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return code, screen.buffer.getvalue().decode("utf-8")


def tidy(printed: str) -> str:
    """Without progress, which depends on the machine, and without space at the ends of lines."""
    lines = (line.rsplit("\r", 1)[-1].rstrip() for line in printed.split("\n"))
    return "\n".join(line for line in lines if not _PROGRESS.match(line)).strip("\n")


def matches(shown: str, printed: str) -> bool:
    pattern = ""
    for line in tidy(shown).split("\n"):
        if line.strip() == "…":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += ".*".join(map(re.escape, line.split("…"))) + "\n"
    return re.fullmatch(pattern, printed + "\n") is not None


def main() -> int:
    """python tests/docs/console.py PAGE LANGUAGE FOLDER: what of the page is not as shown."""
    page, language, folder = sys.argv[1:4]
    Path(folder).mkdir(parents=True, exist_ok=True)
    wrong = list(run_page(Path(page), Path(folder), language=language, slow=True))
    print("\n\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
