"""--pseudonyms: what is stored and sent has no name, place, number or address of the chat."""

import json
from pathlib import Path

from commandline import Naisei
from naisei.relationship.dialogues import read_dialogue
from naisei.relationship.pseudonyms import Pseudonyms

CHAT = """田中 ケンタ: 佐藤さん、昨日は鈴木くんと渋谷で飲んだよ。電話は090-1234-5678です。
佐藤: ケンちゃん、メールは sato.y@example.com に送って。住所は〒150-0002 渋谷区渋谷2丁目21-1だよ。
田中 ケンタ: 了解、鈴木にも言っとく。15時でいい？
佐藤: うん、田中に任せる。@satochan と https://example.com/sato も見て。
"""
SECRET = ["田中", "ケンタ", "ケン", "佐藤", "鈴木", "渋谷", "1234", "5678", "0002", "21-1"]
SECRET += ["sato", "example.com"]


def test_names_numbers_and_addresses_are_replaced_and_the_rest_stays(tmp_path: Path) -> None:
    path = tmp_path / "佐藤とのトーク.txt"
    path.write_text(CHAT, "utf-8")
    pseudonyms = Pseudonyms("ja")
    masked = pseudonyms.masked(read_dialogue(path))
    text = "\n".join([masked.name, *masked.speakers, *(line.text for line in masked.lines)])
    assert not [word for word in SECRET if word in text]
    assert "さん、昨日は" in text and "15時でいい？" in text and "ちゃん、" in text
    first, second = (line.text for line in masked.lines[::2])
    (friend,) = [label for label, original in pseudonyms.originals.items() if original == "鈴木"]
    assert friend in first and friend in second, "one person, one label"
    assert {"田中 ケンタ", "佐藤", "sato.y@example.com"} <= set(pseudonyms.originals.values())


def test_an_english_chat(tmp_path: Path) -> None:
    path = tmp_path / "chat.txt"
    path.write_text("Ann Lee: Hi Bob! Call +1 555 010 9999.\nBob: Sure Ann! Lee at 5?\n", "utf-8")
    text = " ".join(line.text for line in Pseudonyms("en").masked(read_dialogue(path)).lines)
    assert not [word for word in ("Ann", "Lee", "Bob", "555") if word in text] and "at 5?" in text


def test_the_screen_alone_has_the_true_names(naisei: Naisei, english: Path) -> None:
    (english / "chat.txt").write_text(CHAT, "utf-8")
    asked = ["chat.txt", "--pseudonyms", "--out", "o.json", "--csv", "o.csv"]
    done = naisei("relationship", "rate", *asked)
    assert done.code == 0 and "田中" in done.out and "佐藤" in done.out
    for name in ("o.json", "o.csv"):
        assert not [word for word in SECRET if word in Path(name).read_text("utf-8")]
    rules = [
        {"schema": "Questions", "reply": ["敬意は？", "親しい？", "用件？"]},
        {"schema": "VectorReply", "reply": {"Power": 0, "Intimacy": 2, "TaskOriented": -1}},
    ]
    rows = "".join(json.dumps(rule, ensure_ascii=False) + "\n" for rule in rules)
    (english / "model.jsonl").write_text(rows, "utf-8")
    model = ["--model", "scripted:model.jsonl", "--embedder", "ngram", "--run-dir", "run"]
    done = naisei("relationship", "rate", "chat.txt", "--pseudonyms", *model)
    assert done.code == 0, done.err
    assert "田中" in done.out
    for file in Path("run").rglob("*"):
        if file.is_file():
            kept = file.read_bytes()
            assert not [word for word in ("田中", "佐藤", "1234-5678") if word.encode() in kept], (
                file
            )
