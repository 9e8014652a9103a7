"""Corpora from folders: what is taken, what is left out and why."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import docx
import pytest

from naisei.core import InputError
from naisei.emphasis.corpus.build import CorpusOptions, build, make_corpus
from naisei.emphasis.corpus.docx import read_docx
from naisei.emphasis.corpus.html import read_html
from naisei.emphasis.corpus.store import load_corpus
from naisei.emphasis.schemas import Article

REST = "これは猫の話です。猫は家にいます。"


def bold(article: Article) -> list[str]:
    return [t.surface for s in article.sentences for t in s.tokens if t.label]


def written(folder: Path, **pages: str) -> Path:
    for name, page in pages.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")
    return folder


def word_file(path: Path) -> None:
    document = docx.Document()
    document.add_heading("猫の話", 0)
    document.add_heading("暮らし", 1)
    paragraph = document.add_paragraph("猫は")
    paragraph.add_run("とても").bold = True
    paragraph.add_run("眠い。")
    paragraph.add_run("必ず", style="Strong")
    paragraph.add_run("寝る。家にいる。")
    document.add_paragraph("見出しではないが太字の節").runs[0].bold = True
    document.add_table(1, 1).rows[0].cells[0].paragraphs[0].add_run("表").bold = True
    document.save(str(path))


def test_word_documents(tmp_path: Path) -> None:
    word_file(tmp_path / "a.docx")
    parsed = read_docx((tmp_path / "a.docx").read_bytes())
    assert parsed.title == "猫の話"
    (article,) = build("x", tmp_path).articles
    assert bold(article) == ["とても", "必ず"]


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"\xd0\xcf\x11\xe0", "猫".encode()])
def test_what_is_no_word_document(data: bytes) -> None:
    with pytest.raises(InputError, match=r"x\.docx"):
        read_docx(data, place="x.docx")


def test_what_is_taken_and_what_is_not(tmp_path: Path) -> None:
    folder = written(
        tmp_path,
        a_md=f"# 題\n\n**猫**がいる。{REST}",
        b__c_html="<h1>題</h1><p><b>犬</b>が庭を走る。雨の日も走る。夜は小屋で寝る。</p>",
        plain_md=REST * 2,
        english_md="Some **bold** words. Another sentence. And one more.",
        short_md="**猫**がいる。",
        copy_md=f"# 別の題\n\n**猫**がいる。{REST}\n\nもう一つ。",
        bad_docx="no docx",
        other_csv="**猫**",
        _hidden__a_md=f"**鳥**がいる。{REST}",
    )
    built = build("x", folder)
    assert [(a.id, a.title, bold(a)) for a in built.articles] == [
        ("x/a.md", "題", ["猫"]),
        ("x/b/c.html", "題", ["犬"]),
    ]
    assert built.left_out == Counter(plain=1, foreign=1, short=1, same=1, unreadable=1)
    assert [path for path, _ in built.unreadable] == ["bad.docx"]
    assert len(build("x", folder, any_language=True).articles) == 3


def test_chapters_are_preferred_to_the_book_on_one_page(tmp_path: Path) -> None:
    told = (
        "猫がいる。魚を食べる。高い所で寝るので、棚の上には何も置けない",
        "犬が走る。骨を庭に埋める。よく吠えるので、近所に菓子を配った",
        "鳥が鳴く。朝は早い。巣を枝に作るので、春まで庭木を切らない",
    )
    chapters = [f"<h2>章{n}</h2><p><b>{n}番</b>の{text}。</p>" for n, text in enumerate(told)]
    written(
        tmp_path, book_html="".join(chapters), **{f"ch{n}_html": c for n, c in enumerate(chapters)}
    )
    found = build("x", tmp_path)
    assert [a.id for a in found.articles] == ["x/ch0.html", "x/ch1.html", "x/ch2.html"]
    assert found.left_out["same"] == 1


def test_the_command_writes_and_tells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = written(tmp_path / "docs", a_md=f"# 題\n\n**猫**がいる。{REST}")
    out = tmp_path / "new" / "corpus.jsonl"
    make_corpus(CorpusOptions(out=out, folders=(folder, folder)))
    assert [a.id for a in load_corpus(out)] == ["docs/a.md"]
    assert "docs-2" in capsys.readouterr().out


def test_near_copies_and_shared_sentences(tmp_path: Path) -> None:
    banner = "**この記事は 1{n} 年以上前のものです**。"
    texts = (
        "猫は高い所で寝ます。**魚**が好きです。水は嫌いです。爪は二週間ごとに切り、毛は毎日とかし、耳は月に一度だけ拭いてやります。",
        "犬は毎朝庭を走ります。**骨**を埋めます。雨の日は廊下で待っています。",
        "鳥は枝に**巣**を作ります。春になると、卵を三つか四つ産みます。",
    )
    pages = {f"p{n}_md": banner.replace("{n}", str(n)) + t for n, t in enumerate(texts)}
    edited = texts[0].replace("二週間", "三週間").replace("。", "。\n\n")
    folder = written(
        tmp_path / "d", copy_html=f"<p>{edited.replace('**', '')}<b>終</b></p>", **pages
    )
    out = tmp_path / "c.jsonl"
    make_corpus(CorpusOptions(out=out, folders=(folder,)))
    found = load_corpus(out)
    assert [bold(a) for a in found] == [["終"], ["骨"], ["巣"]]
    shared = [s for a in found for s in a.sentences if "年以上前" in s.text]
    assert shared and not any(any(s.counted) for s in shared)


def test_a_caption_in_bold_is_no_emphasis() -> None:
    page = "<p><b>図 1. 全体</b></p><p><b>必ず読むこと。</b></p><p><b>注意</b>する。</p>"
    assert [block.text for block in read_html(page).blocks] == ["必ず読むこと。", "注意する。"]


def test_nothing_to_build_from(tmp_path: Path) -> None:
    out = tmp_path / "c.jsonl"
    with pytest.raises(InputError, match="--from"):
        make_corpus(CorpusOptions(out=out))
    with pytest.raises(InputError, match="nowhere"):
        make_corpus(CorpusOptions(out=out, folders=(tmp_path / "nowhere",)))
    with pytest.raises(InputError, match="--any-language"):
        make_corpus(CorpusOptions(out=out, folders=(written(tmp_path / "d", a_md=REST),)))
    assert not out.exists()


def test_blogs_name_their_writers(tmp_path: Path) -> None:
    def body(said: str) -> str:
        return "{}は**とても**眠い。{}は家にいる。昼も{}を見る。".format(*said)

    written(
        tmp_path,
        zenn_md=f"---\ntitle: 題\nauthor: 虎\ntopics: [Python, 猫]\n---\n{body('犬骨山')}\n",
        hugo_md='+++\ntitle = "題"\nauthors = ["玉"]\ncategories = ["家"]\n+++\n' + body("鳥虫空"),
        mkdocs_md='# 題\n\n!!! warning "注意"\n    牛は**必ず**寝る。\n\n        code **x**\n\n'
        f"{body('猫魚川')}\n",
        page_html='<head><meta property="article:section" content="暮らし">'
        f'<meta content="黒 &amp; 白" name="author"></head><p>馬は<b>よく</b>走る。{REST}',
    )
    built = build("blogs", tmp_path)
    said = {a.id: (a.title, a.writer, a.domain) for a in built.articles}
    assert said == {
        "blogs/hugo.md": ("題", "玉", "家"),
        "blogs/mkdocs.md": ("題", "blogs", ""),
        "blogs/page.html": ("", "黒 & 白", "暮らし"),
        "blogs/zenn.md": ("題", "虎", "Python"),
    }
    assert bold(next(a for a in built.articles if "mkdocs" in a.id)) == ["必ず", "とても"]


def test_a_folder_for_each_writer_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, rest in (("tora", REST), ("tama", "庭は広い。蝶が来る。")):
        written(tmp_path / name, a_md=f"{name}は**とても**眠い。{rest}")
    out = tmp_path / "corpus.jsonl"
    make_corpus(CorpusOptions(out=out, folders=(tmp_path,), writer_folders=True))
    assert {a.writer for a in load_corpus(out)} == {"tora", "tama"}
    assert "2 writers" in capsys.readouterr().out
