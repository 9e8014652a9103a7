"""`naisei emphasis tag`, and its page of probabilities."""

from __future__ import annotations

import re
from pathlib import Path

import docx
import numpy as np
import pytest
from numpy.typing import NDArray

from naisei.core import InputError
from naisei.emphasis.corpus.read import read_bytes
from naisei.emphasis.review import why_none
from naisei.emphasis.schemas import Article
from naisei.emphasis.tag import TagOptions, command, heat_map, suggest, tag
from naisei.emphasis.taggers.registry import FirstSentence
from naisei.lang import speaking

TEXT = "# 題\r\n\r\n猫は眠い。犬は起きる。\r\n"
MARKED = "# 題\r\n\r\n**猫は眠い**。犬は起きる。\r\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.md"
    path.write_bytes(TEXT.encode())
    return path


def test_to_standard_output(file: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    tag(TagOptions(file=file), FirstSentence())
    said = capfdbinary.readouterr()
    assert said.out == MARKED.encode()
    assert "1" in said.err.decode()
    assert file.read_bytes() == TEXT.encode()


def test_to_files(file: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out, page = tmp_path / "b.md", tmp_path / "b.html"
    tag(TagOptions(file=file, out=out, html=page), FirstSentence())
    assert out.read_bytes() == MARKED.encode()
    assert "猫" in page.read_text(encoding="utf-8")
    said = capfd.readouterr()
    assert not said.out
    assert "b.md" in said.err
    assert "b.html" in said.err


@pytest.mark.parametrize("option", ["out", "html"])
def test_a_document_is_never_written_over(file: Path, option: str) -> None:
    link = file.with_name("link.md")
    link.symlink_to(file)
    for path in (file, link):
        with pytest.raises(InputError, match=path.name):
            tag(TagOptions(file=file, **{option: path}), FirstSentence())
    assert file.read_bytes() == TEXT.encode()


def test_what_cannot_be_written_or_read_is_told(file: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"x\.md"):
        tag(TagOptions(file=file, out=file / "x.md"), FirstSentence())
    with pytest.raises(InputError, match="none"):
        tag(TagOptions(file=tmp_path / "none.md"), FirstSentence())
    with pytest.raises(InputError, match=r"\.csv"):
        tag(TagOptions(file=tmp_path / "none.csv"), FirstSentence())
    with pytest.raises(InputError):
        tag(TagOptions(file=tmp_path), FirstSentence())


def test_a_word_document_has_a_page_only(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("猫は眠い。犬は起きる。")
    document.save(str(tmp_path / "a.docx"))
    tag(TagOptions(file=tmp_path / "a.docx", html=tmp_path / "a.html"), FirstSentence())
    assert "猫" in (tmp_path / "a.html").read_text(encoding="utf-8")
    with pytest.raises(InputError, match="--html"):
        tag(TagOptions(file=tmp_path / "a.docx", out=tmp_path / "b.docx"), FirstSentence())


class Half:
    """Says 0.5 of everything and chooses nothing."""

    name = "half.v1"

    def probabilities(self, article: Article) -> list[NDArray[np.float64]]:
        return [np.full(len(s.tokens), 0.5) for s in article.sentences]

    def labels(self, article: Article) -> list[list[bool]]:
        return [[False] * len(s.tokens) for s in article.sentences]


def test_the_page_shows_every_word_once_and_runs_nothing() -> None:
    text = "# <題>\n\n猫 & **犬** <b onclick='x'>鳥</b>は\n「眠い」。\n\n`<script>` の話。"
    page = heat_map(suggest(read_bytes(text.encode(), "markdown"), Half()))
    body = page[page.index("<article>") : page.index("</article>")]
    shown = re.sub(r"<[^>]*>", "", body)
    assert "".join(shown.split()) == "猫&amp;犬鳥は「眠い」。&lt;script&gt;の話。"
    assert "<strong><span" in body
    assert body.count('title="50 %"') > 5
    assert "<script" not in page
    assert "&lt;題&gt;" in page
    assert not re.search(r"(?:src|href)=", page)


PLAIN = "朝は雨が降った。昼には晴れた。夕方にまた降った。夜は静かだった。翌日も雨だった。"


@pytest.mark.parametrize(
    ("text", "options", "fact"),
    [
        ("# Title\n\n```\nmake\n```\n", {}, "code"),
        ("The key must never be lost. " * 6, {}, "Japanese"),
        ("雨が降った。", {}, "1 sentence"),
        (PLAIN, {}, "defines a term"),
        (PLAIN, {"threshold": 0.999}, "threshold; the highest probability is 0."),
        ("電源を入れたまま電池を外さないでください。" + PLAIN, {"max_share": 0.0}, "maximum share"),
    ],
)
def test_where_nothing_is_suggested_the_reason_is_said(
    text: str,
    options: dict[str, float],
    fact: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "a.md"
    path.write_text(text, encoding="utf-8")
    with speaking("en"):
        command(TagOptions(file=path, **options))
    said = capfd.readouterr()
    assert said.out == text
    assert fact in said.err


def test_where_something_is_suggested_there_is_no_reason() -> None:
    assert not why_none(suggest(read_bytes(TEXT.encode(), "markdown"), FirstSentence()))


def test_the_page_of_nothing() -> None:
    assert "<article>" in heat_map(suggest(read_bytes(b"", "html"), Half()))


def _cats(folder: Path, count: int) -> Path:
    """A writer who sets nothing in bold but cats."""
    folder.mkdir()
    for i, cat in enumerate(("三毛猫", "黒猫", "白猫", "虎猫", "家猫")[:count]):
        text = f"# {i} 日目\n\n朝{i}時に起きた。庭で**{cat}**を見た。犬は寝ている。\n"
        (folder / f"{i}.md").write_text(text, encoding="utf-8")
    return folder


def test_a_writer_is_imitated(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = _cats(tmp_path / "own", 5)
    # What is to be tagged is not learnt from, though it lies there.
    file = folder / "today.md"
    file.write_text("# 今日\n\n昼に起きた。道で黒猫を見た。犬は**寝て**いる。\n", encoding="utf-8")
    command(TagOptions(file=file, like=folder))
    said = capfd.readouterr()
    assert said.out == file.read_text("utf-8").replace("黒猫", "**黒猫**")
    assert "5 articles" in said.err


def test_one_article_is_enough_and_none_is_told(
    file: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    command(TagOptions(file=file, like=_cats(tmp_path / "one", 1)))
    assert "1 article\n" in capfd.readouterr().err
    with pytest.raises(InputError, match="emphasis"):
        command(TagOptions(file=file, like=_cats(tmp_path / "none", 0)))
    with pytest.raises(InputError, match="cannot be adapted"):
        command(TagOptions(file=file, like=tmp_path, tagger="rule"))
    with pytest.raises(InputError, match="no such folder"):
        command(TagOptions(file=file, like=tmp_path / "nowhere"))
