"""Bytes to text."""

import os

import pytest

from naisei.retrieval.decode import Undecodable, decode

TEXT = "第1条（目的）\n経費の精算は、毎月25日までに申請する。ﾃﾚﾜｰｸも含む。\n"
ENCODINGS = ["utf-8", "utf-8-sig", "cp932", "euc_jp", "utf-16", "iso2022_jp_ext"]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_encoding_gives_the_same_text(encoding: str) -> None:
    assert decode(TEXT.replace("ﾃﾚﾜｰｸ", "テレワーク").encode(encoding)) == TEXT.replace(
        "ﾃﾚﾜｰｸ", "テレワーク"
    )


@pytest.mark.parametrize(
    "text", ["経費", "休暇", "規程", "申請する。", "会議室の予約", "ア", "①髙﨑の申請"]
)
def test_short_shift_jis(text: str) -> None:
    assert decode(text.encode("cp932")) == text


@pytest.mark.parametrize(
    "text", ["経費精算", "休暇の申請", "規程について", "会議室の予約", "テスト"]
)
def test_short_euc(text: str) -> None:
    assert decode(text.encode("euc_jp")) == text


def test_line_ends_and_decomposed_kana_are_made_one() -> None:
    assert decode("か\u3099い\r\nあ\rう".encode()) == "がい\nあ\nう"


@pytest.mark.parametrize(
    "data",
    [b"\x89PNG\r\n\x1a\n" + os.urandom(400), bytes(range(256)) * 4, b"\xff\xfe\x00", b"\x00" * 50],
)
def test_binary_data_is_no_text(data: bytes) -> None:
    with pytest.raises(Undecodable):
        decode(data)
