"""Character cards become characters of a talk."""

import base64
import json
import zlib
from pathlib import Path
from typing import Any

import pytest

from naisei.core import InputError
from naisei.director.character import load_character
from naisei.transcripts.cards import read_card

INNER = {
    "name": "ミナ",
    "description": "港町のパン屋の娘。{{char}}は朝が早い。",
    "personality": "世話好き",
    "first_mes": "「いらっしゃい！」",
    "mes_example": "<START>\n{{user}}: おすすめは？\n{{char}}: クリームパン！",
}


def chunk(kind: bytes, data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")


def png(card: Any) -> bytes:
    text = b"chara\0" + base64.b64encode(json.dumps(card).encode())
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", bytes(13))
        + chunk(b"tEXt", text)
        + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("card", [INNER, {"spec": "chara_card_v2", "data": INNER}])
@pytest.mark.parametrize("suffix", [".json", ".png"])
def test_a_card_is_read_from_json_and_png(tmp_path: Path, card: Any, suffix: str) -> None:
    path = tmp_path / f"card{suffix}"
    path.write_bytes(png(card) if suffix == ".png" else json.dumps(card).encode())
    found = read_card(path)
    assert found.name == "ミナ" and "ミナは朝が早い" in found.about and "世話好き" in found.about
    assert found.samples == ("「いらっしゃい！」", "クリームパン！")
    character = load_character(path)
    assert character.names == ("ミナ",) and "クリームパン" in character.persona


@pytest.mark.parametrize("raw", [b"{}", b"[1]", b"\x89PNG", b"{", png(3)])
@pytest.mark.parametrize("suffix", [".json", ".png"])
def test_what_is_no_card_is_refused(tmp_path: Path, raw: bytes, suffix: str) -> None:
    path = tmp_path / f"card{suffix}"
    path.write_bytes(raw)
    with pytest.raises(InputError) as caught:
        read_card(path)
    assert str(path) in (caught.value.place or "") and caught.value.message
