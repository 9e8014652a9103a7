"""Bytes to text."""

import os
import threading
from pathlib import Path

import pytest

from naisei.core import InputError
from naisei.text_files import Undecodable, decode, read_text

TEXT = "第1条（目的）\n経費の精算は、毎月25日までに申請する。ﾃﾚﾜｰｸも含む。\n"
ENCODINGS = ["utf-8", "utf-8-sig", "cp932", "euc_jp", "utf-16", "iso2022_jp_ext"]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_encoding_gives_the_same_text(encoding: str) -> None:
    assert decode(TEXT.replace("ﾃﾚﾜｰｸ", "テレワーク").encode(encoding)) == TEXT.replace(
        "ﾃﾚﾜｰｸ", "テレワーク"
    )


@pytest.mark.parametrize(
    ("encoding", "texts"),
    [("cp932", "経費 休暇 規程 ア ①髙﨑の申請"), ("euc_jp", "経費精算 規程について テスト")],
)
def test_short_texts(encoding: str, texts: str) -> None:
    assert all(decode(text.encode(encoding)) == text for text in texts.split())


def test_line_ends_and_decomposed_kana_are_made_one() -> None:
    assert decode("か\u3099い\r\nあ\rう".encode()) == "がい\nあ\nう"


@pytest.mark.parametrize(
    "data",
    [b"\x89PNG\r\n\x1a\n" + os.urandom(400), bytes(range(256)) * 4, b"\xff\xfe\x00", b"\x00" * 50],
)
def test_binary_data_is_no_text(data: bytes) -> None:
    with pytest.raises(Undecodable):
        decode(data)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "cp932", "euc_jp"])
@pytest.mark.parametrize(
    "text", ["あいうえおを読む。", '{"text": "はい"}\n', "やな: うん、そうかも！\n"]
)
def test_without_a_mark(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize("text", ["It’s a naïve approach – really.", "café", "a 1-2 B~C\n"])
def test_western_texts_are_not_read_as_kanji(text: str) -> None:
    assert decode(text.encode("cp1252")) == text


def test_pipes_are_read_unless_nobody_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text("やあ\n" * 30_000, "utf-8"))
    writer.start()
    assert read_text(pipe) == "やあ\n" * 30_000
    writer.join()
    monkeypatch.setattr("naisei.text_files._PIPE_SECONDS", 0.1)
    with pytest.raises(InputError, match="nobody writes"):
        read_text(pipe)


def test_a_file_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("naisei.text_files.TEXT_FILE", 1_000_000)
    with pytest.raises(InputError, match="1 MB"):
        read_text("/dev/zero")


def test_a_file_that_is_none_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0")
    with pytest.raises(InputError, match="no text file"):
        read_text(tmp_path / "a.txt")
    (tmp_path / "b.txt").write_bytes("一行目\n二行目".encode() + b"\xe3\x81")
    with pytest.raises(InputError, match=r"b.txt:2: .*0xe3"):
        read_text(tmp_path / "b.txt")
    with pytest.raises(InputError, match="a folder"):
        read_text(tmp_path)
