"""Every `naisei …` command line in the documentation is one that the command line takes."""

from __future__ import annotations

import functools
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from checkout import tool
from docs.pages import PAGES, ROOT, blocks

_INLINE = re.compile(r"`((?:naisei|make|python) [^`\n]+)`")
#: Words for the reader where the command line has a placeholder of its own.
_ELLIPSES = {"…", "..."}


@functools.cache
def _commands() -> dict[str, Any]:
    """Name → command, of every command there is."""
    return {name: command for name, command, _ in tool("cli_reference").commands()}


def _quoted(page: Path) -> list[tuple[int, str]]:
    """Line of the page and command line, from shell blocks and from inline code."""
    found = []
    for block in blocks(page):
        if block.language in ("bash", "", "sh", "text"):
            found += [
                (block.line + i + 1, line.strip())
                for i, line in enumerate(block.text.splitlines())
                if line.startswith(("naisei ", "make ", "python "))
            ]
    for number, line in enumerate(page.read_text("utf-8").splitlines(), start=1):
        found += [(number, quoted) for quoted in _INLINE.findall(line)]
    return found


_PROMPT = re.compile(r"""["`']((?:agent|hybrid|reflexion|simulator|speaker|tur)\.v\d+)["`']""")


def test_every_prompt_that_a_page_names_is_there() -> None:
    folders = (ROOT / "src" / "naisei").rglob("prompts/*.md")
    known = {path.name.rsplit(".", 2)[0] for path in folders}
    named = {
        (page.name, name)
        for page in PAGES
        if page.name != "CHANGELOG.md"
        for name in _PROMPT.findall(page.read_text("utf-8"))
    }
    assert named and {name for _, name in named} <= known, named


QUOTED = {page: quoted for page in PAGES if (quoted := _quoted(page))}


def _check(line: str) -> None:
    """Raises what the command line raises for options that it does not have.

    A command that is only named, without anything after it, has to be there.
    """
    words = shlex.split(line, comments=True)
    if words[1:2] and words[1].startswith("--"):
        # Options of naisei itself stand first; `--lang` takes a value.
        del words[1 : 3 if words[1] == "--lang" else 2]
    if _ELLIPSES & set(words) or "COMMAND" in words:
        return
    if words[1:2] and (
        words[1].endswith(".py") or words[1] == "triage"
    ):  # the system of a tutorial's file
        return
    depth = max(n for n in range(1, 5) if " ".join(words[:n]) in _commands())
    name, rest = " ".join(words[:depth]), words[depth:]
    command = _commands()[name]
    if "|" in rest:  # `naisei runs list | show | …` names several
        for other in [w for w in rest if w != "|"]:
            assert f"{name.rsplit(' ', 1)[0]} {other}" in _commands(), other
        return
    if hasattr(command, "commands") and not (command.invoke_without_command and rest):
        assert not rest, f"{name} has no sub-command {rest[0]}"
        return
    if not rest or "[OPTIONS]" in rest:  # required options are named below the usage
        return
    with command.make_context(name, rest):
        pass


@pytest.mark.parametrize("page", QUOTED, ids=lambda page: str(page.relative_to(ROOT)))
def test_command_lines_parse(page: Path) -> None:
    wrong = []
    for number, line in QUOTED[page]:
        try:
            _take(line)
        except Exception as error:  # whatever class the library has for it
            wrong.append(f"{page.relative_to(ROOT)}:{number}: {line}: {error!r}")
    assert wrong == []


def _take(line: str) -> None:
    words = line.split()
    if words[0] == "naisei":
        _check(line)
    elif words[0] == "make":
        targets = (ROOT / "Makefile").read_text("utf-8")
        assert re.search(rf"^{re.escape(words[1])}:", targets, re.MULTILINE), line
    elif words[1].endswith(".py"):
        assert (ROOT / words[1]).is_file(), line


def test_wrong_options_are_noticed() -> None:
    assert sum(map(len, QUOTED.values())) > 50
    for line in ("naisei clarify run --no-such-option", "naisei runs lost", "naisei clarify run x"):
        with pytest.raises(Exception):  # noqa: B017  (whatever class the library has for it)
            _check(line)


def test_pages_with_figures_are_current() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "results.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def _anchors(page: Path) -> set[str]:
    heads = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_links_lead_somewhere() -> None:
    broken = []
    for page in PAGES:
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
            if target.startswith("http"):
                continue
            path, _, anchor = target.partition("#")
            aim = (page.parent / path).resolve() if path else page
            if not aim.exists() or (anchor and anchor not in _anchors(aim)):
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert broken == []


def test_pages_name_no_machine() -> None:
    """Nothing of the machine that a page was written on."""
    private = re.compile(r"/(?:home|work|tmp|root|Users)/\w")
    found = [
        f"{page.relative_to(ROOT)}: {line}"
        for page in PAGES
        for line in page.read_text("utf-8").splitlines()
        if private.search(line)
    ]
    assert found == []
