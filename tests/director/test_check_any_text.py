"""Any Unicode text of any length is judged, and masked text adds nothing."""

import time
from dataclasses import replace

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from director.long_lines import long_lines
from naisei.director import check, speakable
from naisei.director.verdict import CHECK_NAMES
from naisei.japanese.folding import Origin, fold

WORDS = (
    "すごい 姉様は 天才です まだ 未成年 じゃない 別居 一人暮らし の話 について は かな "
    "さかな です。 ました つまり 「 」 （ ） 『 』 ！ ？ "
    "!! 。 ｡ … ｶﾞ か\u3099 やな： \u200b \x00 \ud800 𠮷 🙂"
)
PIECES = st.sampled_from([*WORDS.split(" "), "\n", "\r\n", " ", "\u3000"])
TEXT = st.one_of(
    st.text(alphabet=st.characters(), max_size=80),
    st.lists(PIECES, max_size=30).map("".join),
)
CHARACTER = st.sampled_from(["yana", "ayu"])


@given(TEXT, CHARACTER, st.lists(TEXT, max_size=6))
@example("\ud800\udfff\x00", "ayu", ["\ud800"])
@example("\u202e別居\u202c", "yana", [])
@example("「" * 50 + "」" * 50, "yana", [])
@example("いすすすごい\nやな:す", "yana", [])
@example("やな：すごい！！別居だ\n" * 500, "ayu", [])
@example("別居して（笑って）から「すごい」（うなずく）ね", "ayu", [])
@example('{"text": "天才ですね。\\n別居してから楽になりました"}', "ayu", [])
def test_any_text_is_judged(text: str, character: str, history: list[str]) -> None:
    verdict = check(text, character=character, history=history)
    assert tuple(c.name for c in verdict.checks) == CHECK_NAMES
    worst = max((c.status for c in verdict.checks), key=lambda s: s.severity)
    # A line that passes with mends is MODIFY.
    assert verdict.status == worst or (verdict.status.value, worst.value) == ("MODIFY", "PASS")
    for found in verdict.checks:
        assert (found.status.value == "PASS") == (found.reason == "")
        if found.name not in ("scatter", "loop", "jump"):
            assert all(span in text for span in found.evidence), found
    assert verdict.to_json()


@given(TEXT, TEXT, CHARACTER)
def test_masked_text_never_adds_a_hit(outside: str, inside: str, character: str) -> None:
    """What stands in 「」 or （） after other words changes neither tone nor praise."""
    assume(any(c.isalpha() for c in outside))  # else what is in brackets is the speech
    brackets = str.maketrans(dict.fromkeys("「」『』（）()｢｣〝〟\n\r", ""))
    inside = fold(inside).translate(brackets).replace("\n", "") or "ん"
    if not fold(outside).strip() or set("「」『』（）()｢｣〝〟：:") & set(outside):
        return
    for opened, closed in ("「」", "（）"):
        empty = check(f"{outside}{opened}ん{closed}", character=character)
        filled = check(f"{outside}{opened}{inside}{closed}", character=character)
        # The voice is weighed over the words that are spoken, whichever they are.
        assert replace(filled.tone, weight=0.0) == replace(empty.tone, weight=0.0)
        assert filled.check("praise").status == empty.check("praise").status


@given(TEXT)
def test_mending_twice_changes_nothing_more(text: str) -> None:
    mends, mended = speakable(text)
    assert bool(mends) == (mended != text)
    if text.count("「") + text.count("『") + text.count("｢") <= 2:
        assert speakable(mended) == ((), mended)


@given(TEXT)
def test_folded_spans_lead_back(text: str) -> None:
    folded, origin = fold(text), Origin(text)
    assert origin.span(0, len(folded)) in (text, text.rstrip("\u200b"), text.lstrip("\u200b")) or (
        fold(origin.span(0, len(folded))) == folded
    )
    for at in range(len(folded)):
        assert origin.span(at, at + 1) in text


@pytest.mark.parametrize("size", [20_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_a_long_line_is_judged(size: int) -> None:
    """It ends, whatever is repeated; how soon is measured by `benchmarks/bounds.py`."""
    for line in long_lines(size):
        for character in ("yana", "ayu"):
            check(line, character=character, history=[line] * 2)


NATURAL = "今日は姉様と商店街へ行きました。お土産のプリンは冷蔵庫にあります、すごくおいしそうです。"
HOSTILE = ("すごい", "姉様の", "ないこと", "そっちの家に", "私が姉の", "（「", "と言ったあゆが")


@pytest.mark.parametrize("unit", [NATURAL, *HOSTILE])
def test_time_grows_with_the_length_alone(unit: str) -> None:
    """Four times the text takes less than nine times as long (twice: three times, with room)."""

    def spent(size: int) -> float:
        line = (unit * size)[:size]
        best = 1e9
        for n in range(2):
            began = time.process_time()
            check(f"{n}{line}", character="ayu", history=[line])
            best = min(best, time.process_time() - began)
        return best

    check(unit, character="ayu")
    assert spent(20_000) < 9 * max(spent(5_000), 0.01)
