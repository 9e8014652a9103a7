"""Normalisation, words, sentences and forms of questions."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naisei.japanese.morph import is_japanese, morphemes, normalise, tokens
from naisei.japanese.questions import parse, words
from naisei.japanese.sentences import search_tokens, sentences


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("ｺｯﾌﾟ は ありますか?", "コップはありますか？"),
        ("ｶﾞﾗｽ，ください．", "ガラス、ください。"),
        ("Ｗｈａｔ　ｎｏｗ？", "What now?"),
        ("I’m  thirsty", "I'm thirsty"),
        ("えっ！！！", "えっ！"),
        ("あ～", "あー"),
        ("", ""),
    ],
)
def test_one_spelling(raw: str, expected: str) -> None:
    assert normalise(raw) == expected


@given(st.text(max_size=40))
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once


@given(st.text(max_size=40))
def test_any_text_is_taken_apart(text: str) -> None:
    question = parse(text)
    assert question.form in ("polar", "alternative", "wh", "none")
    assert question.form != "alternative" or len(question.sides) >= 2


def test_words_have_lemma_form_and_offsets() -> None:
    found = tokens("のどが渇いた")
    assert [t.form for t in found if t.content] == ["喉", "渇く"]
    assert found[2].lemma == "渇く"
    assert "のどが渇いた"[found[2].start : found[2].end] == "渇い"


def test_words_from_many_threads() -> None:
    texts = [f"飲み物を{n}本飲みますか" for n in range(40)]
    with ThreadPoolExecutor(8) as pool:
        assert [len(t) for t in pool.map(tokens, texts)] == [len(tokens(t)) for t in texts]


def test_english_words_are_stemmed() -> None:
    assert words("Cooking snacks, she's finished using") == (
        "cook",
        "snack",
        "she's",
        "finish",
        "use",
    )
    assert words("dishes") == words("dish")


def test_quotations_are_not_cut() -> None:
    assert sentences("「はい。そうです。」と言った。次。") == (
        "「はい。そうです。」と言った。",
        "次。",
    )
    assert sentences("Tired? No.") == ("Tired?", "No.")
    assert not is_japanese("Tired?")


@pytest.mark.parametrize(
    ("text", "form", "asks"),
    [
        ("のどが渇いていますか？", "polar", ""),
        ("何か飲みたい？", "polar", ""),
        ("どこかへ出かけますか？", "polar", ""),
        ("何でも食べられますか？", "polar", ""),
        ("なるほど。では、料理をするんですか？", "polar", ""),
        ("何に使いますか？", "wh", "what"),
        ("どうして必要なんですか？", "wh", "why"),
        ("どうしてほしいですか？", "wh", "how"),
        ("どこで使いますか", "wh", "where"),
        ("誰が使うの？", "wh", "who"),
        ("いつ使いますか？", "wh", "when"),
        ("どれくらい必要？", "wh", "how-much"),
        ("もう少し詳しく教えてください。", "wh", ""),
        ("お茶ですか、それとも水ですか？", "alternative", ""),
        ("お茶と水、どちらがいいですか？", "alternative", ""),
        ("飲む？それとも食べる？", "alternative", ""),
        ("わかりました。", "none", ""),
        ("Are you thirsty?", "polar", ""),
        ("What will you do next?", "wh", "what"),
        ("Is it for cooking or for cleaning?", "alternative", ""),
        ("I see.", "none", ""),
    ],
)
def test_forms_of_questions(text: str, form: str, asks: str) -> None:
    question = parse(text)
    assert (question.form, question.asks) == (form, asks)


def test_sides_and_negation() -> None:
    assert parse("食べたいですか、それとも飲みたいですか？").sides == (
        "食べたいですか",
        "飲みたいですか",
    )
    asked = parse("おやつと飲み物ならどちらの気分ですか？")
    assert (asked.sides, asked.tail) == (("おやつ", "飲み物"), "の気分ですか")
    assert parse("のどは渇いていませんか？").negated
    assert not parse("のどが渇いたのではないですか？").negated
    assert not parse("味が物足りないですか？").negated


@pytest.mark.parametrize(
    "text",
    ["資料を読んで、まとめます。" * 6000, "あ" * 60_000, "\ufdfa" * 9000, "半分の\ud83d文字。"],
    ids=["sentences", "no place to cut", "thirty bytes a character", "half a pair"],
)
def test_a_text_that_sudachi_refuses_is_analysed_all_the_same(text: str) -> None:
    written = text.encode("utf-8", "replace").decode()
    for mode in ("A", "C"):
        found = list(morphemes(text, mode))
        assert "".join(m.surface() for _, m in found) == written
        assert all(written[base + m.begin() :].startswith(m.surface()) for base, m in found)
    assert tokens(text) and search_tokens(text) is not None


def test_a_long_text_has_the_words_of_its_sentences() -> None:
    sentence = "会議室の予約は、総務部に申請します。"
    assert [t.lemma for t in tokens(sentence * 3000)] == [t.lemma for t in tokens(sentence)] * 3000
    assert search_tokens(sentence * 3000) == search_tokens(sentence) * 3000
