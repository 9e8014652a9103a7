"""Scripts of game engines: who speaks, what is one utterance, and what is left out and counted."""

import pytest

from both_languages import refused
from naisei.transcripts import Transcript, parse_transcripts


def read(text: str, place: str) -> Transcript:
    (one,) = parse_transcripts(text, place, nameless=True)
    return one


def said(one: Transcript) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in one.turns]


RENPY = """\
#「題」
define s = Character("サラ", color="#ffc0c0")
define nobody = Character(None)
default p = "ケイ"
image bg room = "room.png"
screen hud():
    text "所持金" size 20
label S098:
    $ save_name = "題"
    scene bg room
    show char sara at left
    play music "a.ogg"
    queue music "b.ogg"
    voice "Sara_0684"
    s happy "「[p]ちゃん、{b}台本{/b}が来たよっ」"
    "部屋でのんびりしていた。"
    k "ノックぐらいしなさい" with dissolve
    extend "……ね？"
    menu:
        "読む":
            s "読んで\\n読んで"
    centered "第二章"
    nobody "夜になった。"
    "???" "だれ？"
    $ renpy.notify("セーブしました")
"""


def test_renpy() -> None:
    one = read(RENPY, "a.txt")
    assert said(one) == [
        ("サラ", "ケイちゃん、台本が来たよっ"),
        ("k", "ノックぐらいしなさい……ね？"),
        ("サラ", "読んで\n読んで"),
        ("???", "だれ？"),
    ]
    assert (one.form, one.left_out, one.turns[0].number) == ("renpy", 4, 15)


def test_names_in_brackets_after_an_at_sign_and_line_breaks_of_kirikiri() -> None:
    one = read(
        "@【甲】 name=\"f.name='???'\"\nおはよう\\nございます\n@ws canskip=true\n@endmessage\n*|\n"
        "朝だった。\n@endmessage\n@【乙】\n「うん」\n@endmessage\n",
        "a.ks",
    )
    assert said(one) == [("甲", "おはよう\nございます"), ("乙", "うん")] and one.left_out == 1


def test_a_translation_of_renpy() -> None:
    text = """\
# game/script.rpy:12
translate Japanese start_1:
    # s "Hello."
    s 4p "「やあ」"
translate Japanese start_2:
    # "He waves."
    "手を振る。"
translate Japanese strings:
    old "Yes"
    new "はい"
"""
    one = read(text, "tl.rpy")
    assert said(one) == [("s", "やあ")] and one.left_out == 1


KAG = {
    "@Talk": '@scene text=第一幕\n@char file=A no=1\n@Talk name=甲 乙 voice=MAY01\n「じぃっ…\n　ねえ」\n@Hitret id=1\n'
    "@face file=B\n@Talk name=心の声\n夕日が差す。\n@Hitret id=2\n@Talk name=丙\n「はい」\n@Hitret id=3\n",
    "[nm]": '*start|開始\n[iscript]\nf.a = "x";\n[endscript]\n[nm t="甲 乙" s=a]「じぃっ…[r]ねえ」[np]\n'
    "　夕日が差す。[p]\n【丙】「はい」[l][r]\n[p]\n",
    "[…Name…]": '[m_changeFrameName name="甲 乙" face="無"]\nじぃっ…[r]\nねえ[p]\n'
    '[m_changeFrameName]\n夕日が差す。[p]\n[m_changeFrameName name="丙"]\nはい[p]\n',
    "#": '[chara_new name="a" jname="甲 乙"]\n; 註\n#a:smile\nじぃっ…[r]\nねえ[p]\n#\n夕日が差す。[p]\n'
    "[link target=*x]選ぶ[endlink]\n#丙\nはい[p]\n",
}  # fmt: skip


@pytest.mark.parametrize("way", KAG)
def test_kag(way: str) -> None:
    one = read(KAG[way], "a.ks")
    assert one.form == "kirikiri" and one.left_out == 1
    assert [(a, b.replace("\n　", "\n")) for a, b in said(one)] == [("甲 乙", "じぃっ…\nねえ"), ("丙", "はい")]  # fmt: skip


def test_pages_of_tyrano_are_utterances_and_an_inserted_value_is_counted() -> None:
    one = read(
        "[cm]\n#甲\n一つめ。[p]\n二つ[emb exp=f.n]め。[l][cm]\n#\nＧＡＭＥ　ＯＶＥＲ[p]\n", "a.txt"
    )
    assert said(one) == [("甲", "一つめ。"), ("甲", "二つめ。")] and one.left_out == 2


def test_names_alone_above_quotations() -> None:
    assert said(read("#甲\n「やあ」\n\n#乙\n「うん」\n", "a.txt")) == [
        ("甲", "やあ"),
        ("乙", "うん"),
    ]


@pytest.mark.parametrize(
    ("place", "text"),
    [("a.ks", "[say_who 3]\nやあ[p]\nうん[p]\n"), ("a.rpy", 'label a:\n    "夜。"\n')],
)
def test_an_engine_in_which_nobody_speaks_is_named(place: str, text: str) -> None:
    error = refused(lambda: read(text, place))
    assert error.place == place and error.remedy
    assert "Ren'Py" in error.message or "KiriKiri" in error.message


def test_ink() -> None:
    one = read(
        "VAR love = 0\n-> start\n=== start ===\n甲: おはよう！ #happy\n乙: おはよう。\n* [行く]\n    甲: 行こう！\n"
        "    ~ love += 1\n    -> next\n=== next ===\n甲: またね // 註\n-> END\n",
        "a.ink",
    )
    assert one.form == "ink" and one.left_out == 1
    assert said(one) == [("甲", "おはよう！"), ("乙", "おはよう。"), ("甲", "行こう！"), ("甲", "またね")]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["甲: [image]\n乙: いいね\n甲: [image]\n乙: label A: と書いて\n", "甲: @all\n乙: a = 1\n"],
)
def test_a_chat_is_no_script_of_an_engine(text: str) -> None:
    assert read(text, "a.txt").form == "script"
