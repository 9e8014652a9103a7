"""A language model that is asked to emphasise, driven by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emphasis.corpus_by_hand import article
from naisei.core import Chat, InstrumentFailure, play
from naisei.emphasis.flow import emphasise, examine, messages, passages, token_labels
from naisei.emphasis.schemas import Article, Sentence, Token


def one(*sentences: str, blocks: tuple[int, ...] | None = None) -> Article:
    """An article whose tokens are characters."""
    made = []
    for i, text in enumerate(sentences):
        tokens = tuple(Token(c, j, j + 1, "名詞", c, False) for j, c in enumerate(text))
        made.append(Sentence(text, tokens, blocks[i] if blocks else 0, i))
    return Article("a", "題", tuple(made))


def test_passages_hold_all_of_the_text_once() -> None:
    whole = article(3)
    for longest in (10, 40, 100, 1200):
        found = passages(whole, longest=longest)
        assert [s for p in found for s, _ in p.sentences] == list(whole.sentences)
        for p in found:
            for sentence, at in p.sentences:
                assert p.text[at : at + len(sentence.text)] == sentence.text
            assert len(p.text) <= longest or len(p.sentences) == 1
    assert len(passages(whole, longest=1200)) == 1


def test_paragraphs_are_lines_and_english_sentences_keep_their_space() -> None:
    found = passages(one("はい。", "次。", "One.", "Two.", blocks=(0, 0, 1, 1)))
    assert [p.text for p in found] == ["はい。次。\nOne. Two."]


def test_an_article_without_sentences_has_no_passage() -> None:
    assert passages(Article("a", "", ())) == []


def test_a_word_is_emphasised_if_half_of_it_is() -> None:
    sentence = Sentence("雨です。", (
        Token("雨", 5, 6, "名詞", "雨", False), Token("です", 6, 8, "助動詞", "です", False),
        Token("。", 8, 9, "補助記号", "。", None),
    ), 0, 0)  # fmt: skip
    (passage,) = passages(Article("a", "", (sentence,)))
    assert token_labels(passage, [True, True, False, True]) == [[True, True, False]]


def test_the_model_is_shown_title_and_text_and_its_marks_are_kept() -> None:
    whole = one("今日は雨。", "傘を持つ。")
    told = messages("題", passages(whole)[0], "ja")
    assert "《題》" in told[1].content and "今日は雨。傘を持つ。" in told[1].content
    played = play(examine(whole, language="ja"), ["今日は雨。**傘**を持つ。"])
    assert played.result is not None
    assert played.result.documents[0].spans == ((1, 0, 1),)
    assert played.result.aligned == 1.0


def test_the_model_is_shown_the_writers_marks_and_share() -> None:
    shown = one("昨日は雪。")
    tokens = tuple(t._replace(label=t.surface == "雪") for t in shown.sentences[0].tokens)
    shown = replace(shown, sentences=(replace(shown.sentences[0], tokens=tokens),))
    for language in ("ja", "en"):
        told = messages("題", passages(one("雨。"))[0], language, [shown])
        assert "昨日は**雪**。" in told[0].content and "20 %" in told[0].content


def test_a_reply_that_is_another_text_is_asked_for_once_more() -> None:
    whole = one("今日は雨。", "傘を持つ。")
    played = play(examine(whole, language="en"), ["Sure!", "今日は**雨**。傘を持つ。"])
    assert played.result is not None
    assert played.result.documents[0].spans == ((0, 3, 4),)
    second = played.effects[1]
    assert isinstance(second, Chat)
    assert [m.role for m in second.messages] == ["system", "user", "assistant", "user"]
    assert second.messages[2].content == "Sure!"


def test_twice_another_text_is_an_instrument_failure() -> None:
    passage = passages(one("今日は雨。"))[0]
    flow = emphasise("題", passage, language="ja")
    next(flow)
    flow.send("no")
    with pytest.raises(InstrumentFailure, match="repeats 0%"):
        flow.send("no")


def test_a_long_article_is_asked_for_in_pieces() -> None:
    whole = replace(article(1), sentences=article(1).sentences * 30)
    parts = passages(whole)
    assert len(parts) > 1
    played = play(examine(whole, language="ja"), [p.text for p in parts])
    assert played.result is not None
    assert played.result.documents[0].spans == ()
