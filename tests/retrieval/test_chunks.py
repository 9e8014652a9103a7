"""Chunks: sizes, headings, table rows, overlap; search words."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naisei.japanese.sentences import search_tokens, sentence_spans
from naisei.retrieval.chunking import Chunking, raw_chunks
from naisei.retrieval.types import Document, Passage

WORDS = st.text("あいう漢字。、！ ab1\n", min_size=1, max_size=300)
ROW = st.builds(
    lambda text: Passage(text=f"| {text} |", kind="row", header="| 見出し |", headings=("A",)),
    st.text("あいう12", min_size=1, max_size=120),
)
TEXT = st.builds(
    lambda text, heading: Passage(text=text, headings=(heading,)), WORDS, st.sampled_from("AB")
)


def document(passages: list[Passage]) -> Document:
    return Document(path="a.md", title="題", format="md", sha256="0", passages=tuple(passages))


def squeezed(text: str) -> str:
    return "".join(text.split())


@given(st.lists(st.one_of(ROW, TEXT), min_size=1, max_size=12), st.integers(50, 200))
def test_chunks_hold_everything_in_whole_rows(passages: list[Passage], size: int) -> None:
    found = raw_chunks(document(passages), Chunking(size=size, overlap=size // 4))
    assert len({piece.id for piece in found}) == len(found)
    lines = [line for piece in found for line in piece.text.split("\n")]
    for passage in passages:
        if passage.kind == "row":
            assert passage.text in lines
    for piece in found:
        rows = [line for line in piece.text.split("\n") if line.startswith("| ")]
        assert len(piece.text) <= size or len(rows) in (1, 2)
        assert piece.headings in {passage.headings for passage in passages}
    everything = squeezed("".join(piece.text for piece in found))
    for passage in passages:
        for sentence in sentence_spans(passage.text):
            if len(sentence) <= 50:
                assert squeezed(sentence) in everything


def test_neighbours_of_one_section_overlap_and_sections_do_not() -> None:
    text = "".join(f"これは{n}番目の文です。" for n in range(40))
    found = raw_chunks(
        document([Passage(text=text, headings=("一",)), Passage(text="別。", headings=("二",))]),
        Chunking(size=100, overlap=30),
    )
    for one, two in pairwise(found[:-1]):
        assert two.text.split("\n")[0] in one.text
    assert found[-1].text == "別。"


def test_a_chunk_that_refers_back_begins_with_the_sentence_before() -> None:
    before = f"{'長い' * 20}決まりがある。"
    text = f"{'前の文。' * 9}{before}その後は{'続く' * 15}。"
    found = raw_chunks(document([Passage(text=text)]), Chunking(size=100, overlap=10))
    (last,) = [piece.text for piece in found if "その後は" in piece.text]
    assert last.startswith(before)


def test_a_table_in_several_chunks_has_its_header_in_each() -> None:
    rows = [
        Passage(text=f"| {n} | {'値' * 20} |", kind="row", header="| 番号 | 値 |") for n in range(9)
    ]
    found = raw_chunks(document(rows), Chunking(size=100, overlap=20))
    assert len(found) > 2
    assert all(piece.text.startswith("| 番号 | 値 |\n") for piece in found)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("引越し", "引っ越し"),
        ("お問い合わせ", "問合せ"),
        ("サーバ", "サーバー"),
        ("プリンタ", "ﾌﾟﾘﾝﾀｰ"),
        ("１５日", "十五日"),
        ("VPN", "ｖｐｎ"),
        ("子ども", "子供"),
        ("見積", "見積もり"),
        ("expenses", "Expense"),
        ("1,000円", "１０００円"),
    ],
)
def test_one_word_however_it_is_written(one: str, two: str) -> None:
    assert set(search_tokens(one)) & set(search_tokens(two))


def test_what_is_searched_by() -> None:
    assert search_tokens("看護休暇の申請方法を教えてください") == ["看護", "休暇", "申請", "方法"]
    assert "iso" in search_tokens("ISO27001") and "27001" in search_tokens("ISO27001")
    assert search_tokens("。？のが") == [] and search_tokens("") == []
    assert search_tokens("\0\ud800あ" + "休暇" * 20_000).count("休暇") > 19_990
