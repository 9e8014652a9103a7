"""What a reply emphasises is found in the text, or dropped."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from naisei.emphasis.flow import align


def bold(source: str, reply: str) -> str:
    """The source with what was found in brackets."""
    found = align(source, reply)
    out, inside = "", False
    for character, mark in zip(source, found.bold, strict=True):
        out += ("[" if mark and not inside else "]" if inside and not mark else "") + character
        inside = mark
    return out + ("]" if inside else "")


def test_white_space_and_other_marks_do_not_count() -> None:
    source = "一つ目の段落。\n二つ目 の段落。"
    assert bold(source, "一つ目の\n\n<b>段落</b>。 二つ目の<strong>段落</strong>。") == (
        "一つ目の[段落]。\n二つ目 の[段落]。"
    )
    assert bold(source, "```markdown\n一つ目の__段落__。\n二つ目 の段落。\n```") == (
        "一つ目の[段落]。\n二つ目 の段落。"
    )


def test_what_was_made_up_is_dropped() -> None:
    source = "水を入れて、一晩置きます。"
    assert bold(source, "水を入れて、**冷蔵庫で**一晩置きます。") == source


def test_a_reworded_stretch_is_dropped_and_the_others_stay() -> None:
    source = "豆は冷凍庫で保存します。挽くのは飲む直前です。"
    reply = "豆は**冷凍室で保存**します。挽くのは**飲む直前**です。"
    assert bold(source, reply) == "豆は冷凍庫で保存します。挽くのは[飲む直前]です。"


def test_a_preface_is_passed_over() -> None:
    source = "短い文です。"
    assert bold(source, "はい、太字にしました:\n\n短い**文**です。") == "短い[文]です。"


def test_a_mark_that_is_not_closed_marks_nothing() -> None:
    source = "一行目です。\n二行目です。"
    assert bold(source, "一行目**です。\n二**行目**です。") == "一行目です。\n二[行目]です。"


def test_asterisks_of_the_source_stay_its_own() -> None:
    assert align("2**3 は 8 です。", "2**3 は 8 です。").share == 1.0


def test_another_text_shares_little() -> None:
    assert align("猫は丸くなります。", "わかりました。要点をまとめます。").share < 0.5
    assert align("猫は丸くなります。", "").share == 0.0


def test_nothing_to_repeat() -> None:
    found = align("", "**何か**")
    assert (found.bold, found.share) == ((), 1.0)


@given(st.lists(st.tuples(st.text("あいう。「」 ab", min_size=1, max_size=6), st.booleans())))
def test_marks_that_were_put_are_found_again(parts: list[tuple[str, bool]]) -> None:
    source = "".join(text for text, _ in parts)
    reply = "".join(f"**{text}**" if mark and text.strip() else text for text, mark in parts)
    # Marks that touch are not what they were.
    if "****" in reply:
        return
    found = align(source, reply)
    assert found.share == 1.0
    wanted = [mark for text, mark in parts for _ in text]
    for character, mark, seen in zip(source, wanted, found.bold, strict=True):
        assert character == " " or mark == seen


@given(st.text(max_size=80), st.text(max_size=80))
def test_whatever_is_replied_never_breaks(source: str, reply: str) -> None:
    found = align(source, reply)
    assert len(found.bold) == len(source)
    assert 0 <= found.share <= 1
