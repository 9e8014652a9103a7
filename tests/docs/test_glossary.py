"""One word for one thing: what Japanese readers see keeps to docs/ja/glossary.md."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from checkout import ROOT
from naisei.lang import speaking
from naisei.runs.words import metric_name

SOURCE = ROOT / "src" / "naisei"
#: Told to models, shipped as data, or words looked for in what people write.
ELSEWHERE = {"prompts", "data", "japanese", "speech", "wording", "person_kinds.py"}

#: ユーザの… and ユーザ発話に対して are quoted from the R-Clarify paper.
BANNED = re.compile(
    r"命令(?!形|文|的|口調|法|・|や依頼)|版を表示|フォルダ(?!ー)|利用者|ユーザ(?!ー|の発話|の状況|発話に)|この機械|ほかの機械|計算機"
    r"|内蔵|実演|付与器|エンコーダ(?!ー)|シミュレータ(?!ー)|トークナイザ(?!ー)|まともな質問"
    r"|計測の失敗|件どうし|乱数の種|同じ命令は続きから"
)


def shown(file: Path) -> list[tuple[int, str]]:
    """(line, text) of what a Japanese reader may see of a file."""
    text = file.read_text("utf-8")
    if file.suffix != ".py":
        return list(enumerate(text.splitlines(), 1))
    tree = ast.parse(text)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    return [
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in docstrings
    ]


def files() -> list[Path]:
    source = [p for p in SOURCE.rglob("*") if p.suffix in (".py", ".html", ".js")]
    source = [p for p in source if not ELSEWHERE & {*p.relative_to(SOURCE).parts}]
    pages = [p for p in (ROOT / "docs" / "ja").rglob("*.md") if p.name != "glossary.md"]
    return [*source, *pages, ROOT / "README_ja.md"]


#: A title is quoted as its authors spell it.
TITLE = re.compile("『[^』]*』")


def test_no_word_that_the_glossary_replaces_is_shown() -> None:
    found = [
        f"{file.relative_to(ROOT)}:{line}: {hit[0]} in {text.strip()[:60]}"
        for file in files()
        for line, text in shown(file)
        for hit in BANNED.finditer(TITLE.sub("", text))
    ]
    assert found == []


@pytest.mark.parametrize("word", ["命令", "フォルダ", "利用者", "内蔵", "付与器", "計測の失敗"])
def test_the_check_finds_what_it_is_for(word: str, tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(f'say("この{word}を", "this")\n', "utf-8")
    assert [BANNED.search(text) is not None for _, text in shown(file)] == [True, False]


@pytest.mark.parametrize("page", ["docs/glossary.md", "docs/ja/glossary.md"])
def test_metrics_are_called_there_as_they_are_displayed(page: str) -> None:
    rows = re.findall(r"^\| (`.+?) \| (.+?) \|", (ROOT / page).read_text("utf-8"), re.MULTILINE)
    assert len(rows) > 8
    with speaking("ja"):
        for names, told in rows:
            assert "、".join(map(metric_name, re.findall("`(.+?)`", names))) == told
