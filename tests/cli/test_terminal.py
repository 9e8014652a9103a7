"""Printing for people: hostile data, Japanese line breaks, help and usage errors in Japanese."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from commandline import Alone, Naisei
from naisei.terminal import Console, Panel, breaks, visible

#: Markup that rich would act on or refuse, the name of an emoji, and sequences of the terminal.
HOSTILE = (
    "[bold]x[/] [/red] openai:hand: :raised_hand: \x1b[2J\x1b[31m\x1b]0;t\x1b\\\x9b1m\u202eend"
)
SAFE = "[bold]x[/] [/red] openai:hand: :raised_hand: end"


def printed(*things: object, width: int = 200, **options: object) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=True, color_system="truecolor")
    console.print(*things, **options)
    return re.sub(r"\x1b\[[\d;]*m", "", out.getvalue())


def test_data_are_printed_as_they_are_wherever_they_stand() -> None:
    table = Table(title=HOSTILE, caption=HOSTILE)
    table.add_column(HOSTILE)
    table.add_row(HOSTILE)
    table.add_row(Text(HOSTILE))
    things = (HOSTILE, Text(HOSTILE), Panel(HOSTILE, title=HOSTILE, subtitle=HOSTILE), table)
    for shown in [*map(printed, things), printed(HOSTILE, soft_wrap=True, style="red")]:
        assert SAFE in shown
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e✋]", shown)


def test_what_is_left_out_of_the_middle_keeps_the_styles_around_it() -> None:
    text = Text.assemble(("red", "red"), "\x1b[2J", ("blue", "blue"))
    out = io.StringIO()
    Console(file=out, force_terminal=True, color_system="standard").print(text)
    assert out.getvalue() == "\x1b[31mred\x1b[0m\x1b[34mblue\x1b[0m\n"


@given(st.text(alphabet="あア漢。、」「（）ーっx[(. 1\u3000", max_size=60), st.integers(4, 30))
@settings(max_examples=50, deadline=None)
def test_every_line_fits_and_nothing_is_lost(text: str, width: int) -> None:
    at = [0, *breaks(text, width), len(text)]
    assert at == sorted(at)
    assert all(cell_len(text[a:b].rstrip()) <= width for a, b in pairwise(at))
    shown = printed(Text(text), width=width)
    assert "".join(shown.split()) == "".join(text.split())


def test_lines_are_broken_where_japanese_typesetting_allows() -> None:
    lines = printed("設定 (複数可。例: depth=2)。「引用」、ー長音っ。", width=12).split("\n")
    for line in filter(None, map(str.strip, lines)):
        assert line[0] not in "。、」）)ーっ" and line[-1] not in "「（("
    assert visible("a\tb\nc\u200b") == "a\tb\nc"


@pytest.mark.parametrize(
    ("command", "language"),
    [(("clarify", "run"), "ja"), (("textgame", "train"), "en"), (("serve",), "ja")],
)
def test_help_shows_all_of_every_text(
    command: tuple[str, ...], language: str, alone: Alone
) -> None:
    """At 80 columns, what the reference says of each option stands in its help too."""
    shown = alone(*command, "--help", NAISEI_LANG=language, COLUMNS="80").out
    assert all(cell_len(line) <= 80 for line in shown.splitlines())
    wide = alone(*command, "--help", NAISEI_LANG=language, COLUMNS="400").out

    def letters(text: str) -> list[str]:
        return sorted(re.sub(r"[\s│─╭╮╰╯]", "", text))

    assert letters(shown) == letters(wide)


#: Prints as JSON what the help of each command leaves out of what is declared.
_LEFT_OUT = """
import contextlib, io, json, re
from naisei.cli.errors import translate_help
from tools.cli_reference import commands
translate_help()
bare = lambda text: re.sub(r"[\\s│]", "", text or "")
left, brackets = [], 0
for name, command, _ in commands():
    context = command.context_class(command, info_name=name)
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        command.get_help(context)
    told = [command.help, *(param.help for param in command.get_params(context))]
    if hasattr(command, "commands"):
        told += [inner.help for inner in command.commands.values()]
    brackets += sum("[" in (text or "") for text in told)
    left += [(name, text) for text in told if bare(text) not in bare(shown.getvalue())]
print(json.dumps([brackets, left]))
"""


@pytest.mark.parametrize("language", ["ja", "en"])
def test_no_word_of_any_help_is_taken_for_markup(language: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LEFT_OUT],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "NAISEI_LANG": language, "COLUMNS": "240"},
        capture_output=True,
        text=True,
        check=True,
    )
    brackets, left = json.loads(done.stdout)
    assert brackets >= 3 and left == []


def test_help_is_japanese_throughout(alone: Alone) -> None:
    shown = alone("clarify", "run", "--help", NAISEI_LANG="ja").out
    for word in ("使い方:", "[オプション]", "─ オプション ─", "既定:", "このヘルプを表示する"):
        assert word in shown
    assert not re.search("Usage|Options|OPTIONS|Commands|Arguments|default:|Show this", shown)
    assert "─ コマンド ─" in alone("--help", NAISEI_LANG="ja").out


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("clarify run --limit x", "'--limit' の値が正しくありません: 整数を指定してください"),
        (
            "clarify run --forbidden no",
            "'--forbidden' の値が正しくありません: 'no' は指定できません",
        ),
        ("clarify run --limt 1", "--limt というオプションはありません (候補: --limit"),
        ("clarify rum", "'rum' というコマンドはありません (候補: 'run')"),
        ("runs show", "引数 'DIR' を指定してください"),
    ],
)
def test_usage_errors_are_one_japanese_message(args: str, message: str, naisei: Naisei) -> None:
    done = naisei(*args.split(), NAISEI_LANG="ja")
    assert done.code == 2 and not done.out and message in done.err
    assert done.err.startswith("エラー: ") and len(done.err.splitlines()) <= 2
    assert done.err.count("--help") == done.err.count("→")


def test_hostile_names_reach_the_terminal_as_text(naisei: Naisei, tmp_path: Path) -> None:
    """A file and a line of each system that prints what it is given."""
    evil = tmp_path / "[bold]:hand:[/x]"
    wrong = naisei("clarify", "run", "--data", f"{evil}\x1b[2J")
    assert wrong.code == 2 and "[bold]:hand:[/x]" in wrong.err and "\x1b" not in wrong.err
    script = tmp_path / "script.jsonl"
    script.write_text(json.dumps({"speaker": "yana", "text": HOSTILE}) + "\n", "utf-8")
    lines = naisei("director", "check", script)
    assert "[bold]x[/]" in lines.out and "\x1b" not in lines.out
    talk = tmp_path / "talk.csv"
    talk.write_text(f"speaker,text\n[a]:hand:,{SAFE}\n[/b],いいね\n", "utf-8")
    rated = naisei("relationship", "rate", talk, "--rater", "speech")
    assert rated.code == 0 and "[a]:hand:" in rated.out and "[/b]" in rated.out
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "[bold]:hand:.md").write_text("# [/] :hand:\n\n経費は月末に締めます。\n", "utf-8")
    (folder / "[red]x.pdf").write_bytes(b"no pdf")
    index = naisei("intent", "index", folder, "--index", tmp_path / "index", "--embedder", "none")
    assert index.code == 0 and "[red]x.pdf" in index.out
    place = tmp_path / "[bold]run:hand:"
    done = naisei("clarify", "run", "--agent", "random", "--limit", "1", "--run-dir", place, "-q")
    assert done.code == 0 and "[bold]run:hand:" in "".join(done.out.split())
    text = tmp_path / "[red]t:hand:.md"
    text.write_text(f"# 題\n\n{SAFE}。重要な設定は必ず確認してください。\n", "utf-8")
    tagged = naisei("emphasis", "tag", text, "--tagger", "rule")
    assert "[/red] openai:hand:" in tagged.out.replace("**", "")
    games = naisei("textgame", "run", "--games", evil)
    assert games.code == 2 and "[bold]:hand:[/x]" in games.err
