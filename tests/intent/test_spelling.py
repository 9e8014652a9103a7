"""Questions as people type them: by sound, with a wrong letter, without kana, in dialect."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from intent.corpus import write_index
from naisei.core import Where
from naisei.intent.dialogue import Dialogue
from naisei.intent.spelling import Respell, RespellHandler, standard
from naisei.retrieval.index import Index

DOCUMENTS = {
    "park.md": "# 市営駐車場の案内\n\n## 料金\n\n1時間100円。\n\n"
    "## 健康診断の日\n\n申請で北浜へ来た人は無料。\n",
    "books.md": "# 図書館の利用\n\n## 開館時間\n\n9時から17時まで。プロジェクターを貸す。\n",
}


@pytest.fixture(scope="module")
def handler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RespellHandler]:
    with Index.open(write_index(tmp_path_factory.mktemp("spelling"), DOCUMENTS)) as index:
        yield RespellHandler(index)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("駐車城の料金は", "駐車場の料金は"),
        ("健庫診断の料金", "健康診断の料金"),
        ("sinsei方法", "申請方法"),
        ("toshokann ha nannji made desuka", "図書館は何時までですか"),
        ("としょかんのりょうきんは", "図書館の料金は"),
        ("プロジュクターの料金", "プロジェクターの料金"),
        ("How do I get to Kitahama?", "How do I get to 北浜?"),
    ],
)
def test_words_are_put_as_the_documents_have_them(
    handler: RespellHandler, typed: str, meant: str
) -> None:
    assert handler.perform(Respell(typed), Where("s", 0)) == meant


@pytest.mark.parametrize(
    "text",
    [
        "図書館の開館時間を教えてください",
        "申請のしかた",
        "How do I get a visa?",
        "駐車場は借りられますか",
    ],
)
def test_what_is_right_stays(handler: RespellHandler, text: str) -> None:
    assert handler.perform(Respell(text), Where("s", 0)) == text


def test_dialect_is_read_as_standard_japanese() -> None:
    told = standard(
        Dialogue(utterance="カードなくしたんやけど再発行はなんぼ？ どないしたらええの")
    ).utterance
    assert told == "カードなくしたんだけど再発行はいくら？ どうしたらいいの"
