"""One executed notebook a system, ja and en: python tools/notebooks.py FOLDER (the extra `docs`).

Written to FOLDER/en/notebooks/SYSTEM.ipynb and FOLDER/ja/notebooks/SYSTEM.ipynb: a recorded run
that comes with the package as a table, and one of its episodes; R-Clarify is also run, with
`await`. A cell that fails is an error.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from traitlets.config import Config

ABOUT = {
    "clarify": ("R-Clarify: 聞いてから動く", "R-Clarify: ask before acting"),
    "director": ("発言を口に出す前に検査する", "Lines are checked before they are spoken"),
    "relationship": ("二人の関係を値として読む", "How two stand with each other"),
    "textgame": ("テキストゲーム", "Text games"),
    "intent": ("探す前に聞き返す資料の案内役", "A document assistant that asks back"),
    "emphasis": ("大事な語句に太字を付ける", "The words that matter, in bold"),
}
TABLE = """
from importlib.resources import files
from pathlib import Path

from naisei.lang import use
from naisei.runs.export import frame
from naisei.runs.show import Episode

use("{language}")
run = Path(str(files("naisei") / "data" / "recorded_runs" / "{system}"))
frame(run)
"""
EPISODE = """
first = next(iter(frame(run)))
Episode.of(run, f"{first['instance']}#{first['repetition']}")
"""
AWAIT = """
from tempfile import mkdtemp

from naisei.clarify import ClarifyConfig, RunOptions, arun

config = ClarifyConfig(agent="bayes", limit=5, embedder="ngram")
result = await arun(config, RunOptions(quiet=True), run_dir=Path(mkdtemp()) / "bayes")
result
"""


def notebook(system: str, language: str) -> nbformat.NotebookNode:
    """Executed. Raises `CellExecutionError` if a cell fails."""
    ja = language == "ja"
    cells = [
        new_markdown_cell(f"# {ABOUT[system][0 if ja else 1]}"),
        new_markdown_cell("同梱の実行記録を表で見ます。" if ja else "A bundled run, as a table."),
        new_code_cell(TABLE.format(language=language, system=system).strip()),
        new_markdown_cell("そのうちの 1 件。" if ja else "One of its episodes."),
        new_code_cell(EPISODE.strip()),
    ]
    if system == "clarify":
        text = (
            "モデルなしで動かします（`await` が使えます）。" if ja else "Run it, without a model."
        )
        cells += [new_markdown_cell(text), new_code_cell(AWAIT.strip())]
    made = new_notebook(cells=cells)
    ipc = Config(KernelManager={"transport": "ipc"})
    NotebookClient(made, timeout=600, kernel_name="python3", config=ipc).execute()
    for number, cell in enumerate(made.cells):
        cell["id"] = f"{system}-{number}"
        cell.metadata = {}  # when a cell ran is of no use to a reader
        for output in cell.get("outputs", ()):
            if "text/html" in output.get("data", {}):
                output.data.pop("text/plain", None)  # with paths of this machine
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    for language in ("ja", "en"):
        (folder / language / "notebooks").mkdir(parents=True, exist_ok=True)
        for system in ABOUT:
            path = folder / language / "notebooks" / f"{system}.ipynb"
            nbformat.write(notebook(system, language), path)


if __name__ == "__main__":
    main()
