"""Hold the figures of cards and pages against the commands that they come from.

    python tools/card_figures.py [PAGE …]   exit with 1 if a figure is not what its command prints

A page marks what to check by `<!-- figures: COMMAND -->` … `<!-- /figures -->`, several commands
parted by `&&`. Each decimal number and each "N of M" between the marks must be among those that the
commands print: a share may stand as a percentage, and a number may be rounded. Commands run in an
empty folder; each runs once, whatever quotes it.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_BLOCK = re.compile(r"<!-- figures: (.+?) -->(.*?)<!-- /figures -->", re.DOTALL)
_NUMBER = re.compile(r"(?<![\w.\-−])[-−+]?\d+\.(\d+)( ?%)?")
_COUNT = re.compile(r"(\d+) (?:of|/) (\d+)|(\d+) のうち (\d+)")
#: Between rounding and what another processor may make of a last digit.
_TOLERANCE = 0.0006


def blocks() -> Iterator[tuple[Path, str, str]]:
    """Page, command and marked text of everything that is marked."""
    for folder in ("docs", "src"):
        for page in sorted((ROOT / folder).rglob("*.md")):
            for command, text in _BLOCK.findall(page.read_text("utf-8")):
                yield page, command, text


@cache
def printed(command: str) -> str:
    """What a command prints, in English and in lines that do not wrap."""
    print(f"$ {command}", file=sys.stderr)
    program, *rest = command.split()
    known = {
        "python": lambda: [
            sys.executable,
            *([] if rest[0] == "-m" else [str(ROOT / rest[0])]),
            *rest[rest[0] != "-m" :],
        ],
        "naisei": lambda: [sys.executable, "-m", "naisei", "--lang", "en", *rest],
    }
    environment = {
        **os.environ,
        "COLUMNS": "400",
        "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
    }
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(
            known[program](),
            cwd=folder,
            env=environment,
            check=True,
            text=True,
            stdout=subprocess.PIPE,
        ).stdout


def numbers(text: str) -> Iterator[tuple[str, float, float]]:
    """Each decimal number as it stands, its value and half a unit of its last digit."""
    for found in _NUMBER.finditer(text):
        scale = 0.01 if found[2] else 1.0
        whole = found[0].rstrip(" %").replace("−", "-").lstrip("+")
        yield found[0], float(whole) * scale, 0.5 * scale * 10.0 ** -len(found[1])


def counts(text: str) -> set[tuple[str, str]]:
    """Each "N of M", in either language."""
    return {(a, b) if a else (d, c) for a, b, c, d in _COUNT.findall(text)}


def missing(text: str, output: str) -> list[str]:
    """The figures of a text that its commands do not print."""
    given = [value for _, value, _ in numbers(output)]
    out = [
        shown
        for shown, value, half in numbers(text)
        if not any(abs(abs(value) - abs(g)) <= half + _TOLERANCE for g in given)
    ]
    return out + [f"{a} of {b}" for a, b in sorted(counts(text) - counts(output))]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", type=Path)
    pages = {page.resolve() for page in parser.parse_args(arguments).pages}
    wrong = 0
    for page, commands, text in blocks():
        if pages and page not in pages:
            continue
        output = "\n".join(printed(command.strip()) for command in commands.split("&&"))
        if lost := missing(text, output):
            wrong += 1
            print(f"{page.relative_to(ROOT)}: not printed by {commands}: {', '.join(lost)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
