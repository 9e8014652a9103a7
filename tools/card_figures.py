"""Make the figures of cards and pages anew by the commands that they come from.

    python tools/card_figures.py [PAGE …]           write what is printed, check what is quoted
    python tools/card_figures.py --check [PAGE …]   write nothing

`<!-- printed: COMMAND -->` … `<!-- /printed -->` holds what the command prints. Between
`<!-- figures: COMMAND -->` and `<!-- /figures -->` (several commands parted by `&&`) each decimal
number and each "N of M" must be among those that the commands print: a share may stand as a
percentage, and a number may be rounded. Exits with 1 for what is left to mend. The commands of a
mark run in a folder of their own that holds `naisei/data` as `data`, once for all their marks.
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
_PRINTED = re.compile(r"(<!-- printed: (.+?) -->\n).*?(\n<!-- /printed -->)", re.DOTALL)
_NUMBER = re.compile(r"(?<![\w.\-−])[-−+]?\d+\.(\d+)( ?%)?")
_COUNT = re.compile(r"(\d+) (?:of|/) (\d+)|(\d+) のうち (\d+)")
#: Between rounding and what another processor may make of a last digit.
_TOLERANCE = 0.0006


def pages() -> list[Path]:
    """All pages and cards that may hold marks."""
    return [page for folder in ("docs", "src") for page in sorted((ROOT / folder).rglob("*.md"))]


def remade(text: str) -> str:
    """A page with what its commands print between the marks for it."""
    return _PRINTED.sub(lambda m: f"{m[1]}{printed(m[2]).strip()}{m[3]}", text)


def unprinted(text: str) -> Iterator[str]:
    """Per marked part of a page, the figures that its commands do not print."""
    for commands, quoted in _BLOCK.findall(text):
        if lost := missing(quoted, printed(commands)):
            yield f"not printed by {commands}: {', '.join(lost)}"


@cache
def printed(commands: str) -> str:
    """What commands print in a folder of their own, in English and in lines that do not wrap."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "data").symlink_to(ROOT / "src" / "naisei" / "data")
        return "\n".join(_run(command.split(), Path(folder)) for command in commands.split("&&"))


def _run(words: list[str], folder: Path) -> str:
    print("$", *words, file=sys.stderr)
    program, *rest = words
    if program == "naisei":
        rest = ["-m", "naisei", "--lang", "en", *rest]
    elif rest[0] != "-m":
        rest[0] = str(ROOT / rest[0])
    paths = f"{ROOT / 'src'}{os.pathsep}{ROOT}"
    return subprocess.run(
        [sys.executable, *rest],
        cwd=folder,
        env={**os.environ, "COLUMNS": "400", "PYTHONPATH": paths},
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
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args(arguments)
    wrong = []
    for page in [path.resolve() for path in options.pages] or pages():
        text = now = page.read_text("utf-8")
        try:
            now = remade(text)
            left = list(unprinted(now))
        except subprocess.CalledProcessError as error:
            left = [str(error)]
        if now != text and options.check:
            left.append("not what its commands print: run make figures")
        elif now != text:
            page.write_text(now, "utf-8")
        wrong += [f"{page.relative_to(ROOT)}: {line}" for line in left]
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
