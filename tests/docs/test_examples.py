"""Every Python block of the documentation runs, page by page, top to bottom.

In the pages, before a block:

    <!-- file: NAME -->           the block is written to NAME, for the blocks after it
    <!-- compile only: WHY -->    the block is compiled, not run
"""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs.pages import PAGES, ROOT, Block, blocks

WITH_PYTHON = [p for p in PAGES if any(b.language == "python" for b in blocks(p))]


def _of_a_twin(page: Path) -> bool:
    """Whether the same page stands in English, too: its blocks are left to the slow tests."""
    if page.name == "README_ja.md":
        return True
    folder = ROOT / "docs" / "ja"
    return folder in page.parents and ROOT.joinpath("docs", page.relative_to(folder)) in PAGES


@pytest.mark.parametrize(
    "page",
    [pytest.param(p, marks=[pytest.mark.slow] * _of_a_twin(p)) for p in WITH_PYTHON],
    ids=[str(p.relative_to(ROOT)) for p in WITH_PYTHON],
)
def test_python_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": page.stem}
    for block in blocks(page):
        if block.file:
            Path(block.file).parent.mkdir(parents=True, exist_ok=True)
            Path(block.file).write_text(block.text, encoding="utf-8")
        if block.language != "python":
            continue
        # Padded, so that a traceback names the line of the page.
        code = compile("\n" * block.line + block.text, str(page), "exec")
        if not block.compile_only:
            exec(code, names)


def test_blocks_are_found() -> None:
    """The reader itself: a page whose blocks it missed would pass in silence."""
    found = [b for page in PAGES for b in blocks(page)]
    fences = sum(
        line.lstrip().startswith("```")
        for page in PAGES
        for line in page.read_text("utf-8").splitlines()
    )
    assert len(found) * 2 == fences
    assert sum(b.language == "python" for b in found) >= 12
    assert {b.file for b in found if b.file} >= {"rules.jsonl", "mine.jsonl"}


@pytest.mark.slow
def test_python_blocks_are_typed(tmp_path: Path) -> None:
    """What a reader copies passes mypy --strict, and pyright where it is installed."""
    for page in WITH_PYTHON:
        code = [b for b in blocks(page) if b.language == "python"]
        run = [b for b in code if not b.compile_only]
        # What is not run may use the names of what is, each in its own way.
        apart = [[*(r for r in run if r.line < b.line), b] for b in code if b.compile_only]
        for number, part in enumerate([run, *apart]):
            if not all(map(_installed, part)):
                continue
            lines: list[str] = []
            for block in part:
                lines += [""] * (block.line - len(lines)) + block.text.splitlines()
            name = re.sub(r"\W", "_", str(page.relative_to(ROOT).with_suffix("")))
            (tmp_path / f"{name}_{number}.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    pages = sorted(map(str, tmp_path.glob("*.py")))
    assert len(pages) >= 40
    mypy = [sys.executable, "-m", "mypy", "--strict", "--no-warn-unused-ignores"]
    cache = ["--cache-dir", str(ROOT / ".mypy_cache" / "docs")]
    paths = {**os.environ, "MYPYPATH": str(ROOT)}  # `tools` is imported from a checkout
    call = [*mypy, *cache, "--follow-imports=silent", *pages]
    done = subprocess.run(call, capture_output=True, text=True, cwd=tmp_path, env=paths)
    assert done.returncode == 0, done.stdout
    if importlib.util.find_spec("pyright"):
        call = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, *pages]
        done = subprocess.run(call, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stdout


def _installed(block: Block) -> bool:
    """Whether what a block imports is here: an extra may be missing, our own modules may not."""
    tops = {
        name.partition(".")[0]
        for node in ast.walk(ast.parse(block.text))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    return all(top == "naisei" or importlib.util.find_spec(top) for top in tops)
