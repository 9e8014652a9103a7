"""Each hard rule at its bounds, to the letter of the retry-judgement specification, §§3 to 6."""

import pickle
from functools import partial

import pytest

from naisei.director import LineVerdict, check
from naisei.director.verdict import CHECK_NAMES

check = partial(check, rules="spec")


def status(text: str, name: str, character: str = "yana", **options: object) -> str:
    return check(text, character=character, **options).check(name).status.value  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [(1, "PASS"), (5, "PASS"), (6, "WARN"), (7, "WARN"), (8, "RETRY"), (80, "RETRY")],
)
def test_rows(rows: int, expected: str) -> None:
    assert status("\n".join(["えー"] * rows), "format") == expected
    assert status("\r\n".join(["えー"] * rows), "format") == expected
    assert status("\n \n" + "\n".join(["えー"] * rows) + "\n\n\n\n", "format") == expected


@pytest.mark.parametrize("empty", ["", " ", "\u3000\u3000", "\n\n", "\t \r\n"])
def test_nothing_to_say_is_rejected(empty: str) -> None:
    verdict = check(empty)
    assert verdict.check("format").status.value == "RETRY"
    assert verdict.check("format").reason
    assert (verdict.sentences, verdict.topics) == (0, 0)


@pytest.mark.parametrize(
    ("text", "sentences", "topics", "expected"),
    [
        ("行こう。", 1, 0, "PASS"),
        ("行こう。帰ろう", 2, 0, "PASS"),
        ("行こう！帰ろう！寝よう！", 3, 0, "WARN"),
        ("行こう！？！帰ろう。。", 2, 0, "PASS"),
        ("行こう\n帰ろう\n寝よう", 3, 0, "WARN"),
        ("行こう。\n帰ろう。", 2, 0, "PASS"),
        ("海の話をしよう。", 1, 1, "PASS"),
        ("海の話と山の話をしよう。", 1, 2, "WARN"),
        ("海について。山について。川について。", 3, 3, "WARN"),
        ("海について。山について。川について。以上。", 4, 3, "RETRY"),
        ("海について。山について。空だ。以上。", 4, 2, "WARN"),
        ("「海は青い。山は高い。川は長い。空は広い。」と読んだ。", 1, 0, "PASS"),
    ],
)
def test_scatter(text: str, sentences: int, topics: int, expected: str) -> None:
    verdict = check(text)
    assert (verdict.sentences, verdict.topics) == (sentences, topics)
    assert verdict.check("scatter").status.value == expected


@pytest.mark.parametrize(
    ("text", "parts", "expected"),
    [
        ("行くよ。", (0, 0, 0), "RETRY"),
        ("行くかも。", (1, 0, 0), "WARN"),
        ("ほんと。", (0, 1, 0), "WARN"),
        ("行くよ！", (0, 0, 1), "WARN"),
        ("ほんとかも。", (1, 1, 0), "PASS"),
        ("行くかも！", (1, 0, 1), "PASS"),
        ("ほんと？", (0, 1, 1), "PASS"),
        ("ほんとかも！", (1, 1, 1), "PASS"),
        ("行く！寝る！食べる！", (0, 0, 0), "RETRY"),
        ("行く!!寝る!!", (0, 0, 1), "WARN"),
    ],
)
def test_tone_of_yana(text: str, parts: tuple[int, int, int], expected: str) -> None:
    tone = check(text).tone
    assert (tone.marker, tone.vocab, tone.style) == parts
    assert tone.score == sum(parts)
    assert status(text, "tone") == expected


@pytest.mark.parametrize(
    ("text", "parts", "expected"),
    [
        ("行くよ。", (0, 0, 0), "RETRY"),
        ("行きます。", (0, 0, 0), "RETRY"),
        ("行きました。", (1, 0, 0), "WARN"),
        ("お茶です。", (0, 1, 0), "WARN"),
        ("行きます。帰ります。", (0, 0, 1), "WARN"),
        ("つまりお茶でしょう。", (1, 1, 0), "PASS"),
        ("お茶です。お菓子です。", (0, 1, 1), "PASS"),
        ("行きましたよ。帰りますね。", (1, 0, 1), "PASS"),
    ],
)
def test_tone_of_ayu(text: str, parts: tuple[int, int, int], expected: str) -> None:
    tone = check(text, character="ayu").tone
    assert (tone.marker, tone.vocab, tone.style) == parts
    assert status(text, "tone", "ayu") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("お茶です。", "PASS"),
        ("すごいですね。", "WARN"),
        ("すごく寒いです。", "PASS"),
        ("不正解です。", "PASS"),
        ("完璧主義です。", "PASS"),
        ("完璧ではありません。", "PASS"),
        ("「すごい」と書いてあります。", "PASS"),
        ("（すごい）はい。", "PASS"),
        ("その考えは正しいです。", "PASS"),
        ("すごいですね。その考えは正しいです。", "WARN"),
        ("すごいですね、その考えは正しいです。", "RETRY"),
        ("あなたは天才です。", "RETRY"),
        ("姉様の考えは完璧です。", "RETRY"),
        ("完璧じゃないですか、姉様。", "RETRY"),
        ("姉様、この映画は素晴らしいです。", "WARN"),
    ],
)
def test_praise(text: str, expected: str) -> None:
    assert status(text, "praise", "ayu") == expected
    assert status(text, "praise", "yana") == "PASS"


LOGIC_RETRY = [
    "じゃない",
    "ではない",
    "じゃありません",
    "ではありません",
    "じゃないです",
    "じゃないよ",
]
LOGIC_PASS = [
    "じゃない？",
    "じゃないか",
    "じゃないかな",
    "じゃないの",
    "じゃないですか",
    "じゃないよね",
]


@pytest.mark.parametrize("word", ["未成年", "未完成", "不完全", "非公開", "無責任"])
@pytest.mark.parametrize("tail", LOGIC_RETRY)
def test_a_double_negation_is_rejected_in_all_its_forms(word: str, tail: str) -> None:
    for text in (f"まだ{word}{tail}。", f"私、まだ{word}{tail}", f"いまだ{word}{tail}から平気。"):
        assert status(text, "logic") == "RETRY", text


@pytest.mark.parametrize("tail", [*LOGIC_PASS, "じゃないでしょうか", "ではないですよね"])
def test_tags_and_guesses_are_no_double_negation(tail: str) -> None:
    assert status(f"まだ未成年{tail}", "logic") == "PASS"
    assert status(f"まだ未成年{tail}。そうだ。", "logic") == "PASS"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("行かないことはなくない。", "RETRY"),
        ("行かないことはない。", "PASS"),
        ("行けなくはない。", "PASS"),
        ("行かないわけじゃない。", "PASS"),
        ("まだ子供じゃない。", "PASS"),
        ("未成年じゃない。", "PASS"),
        ("まだ動ける範囲じゃないかな。", "PASS"),
    ],
)
def test_litotes_and_chains(text: str, expected: str) -> None:
    assert status(text, "logic") == expected


#: Every kind of living apart; none is passed over by the profile's `only_with`.
APART = [
    "別居", "別々の町", "それぞれの家", "お互いのアパート", "ひとりぐらし", "独り暮し",
    "別の町に住む", "あゆのマンションまで遊びに行く", "あゆのお宅へお邪魔する",
    "うちへ泊まりに来る", "妹はもう家を出て", "妹は引っ越して行った", "一緒に住んでいない",
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *((text, "RETRY") for text in APART),
        ("別居してるからね。", "RETRY"),
        ("私は一人暮らしです。", "RETRY"),
        ("ひとり暮らしは楽だ。", "RETRY"),
        ("離れて暮らしてる。", "RETRY"),
        ("別々に住んでる。", "RETRY"),
        ("それぞれの家で食べよう。", "RETRY"),
        ("やなの家に遊びに行く。", "RETRY"),
        ("うちに泊まりに来る？", "RETRY"),
        ("一人暮らしじゃない？", "RETRY"),
        ("友達と違って私は一人暮らしだ。", "RETRY"),
        ("実家のごはん。", "PASS"),
        ("一人暮らしの友達に会った。", "PASS"),
        ("一人暮らしじゃない。", "PASS"),
        ("別居してるわけじゃない。", "PASS"),
        ("一人暮らししたら困る。", "PASS"),
        ("一人暮らししてみたい。", "PASS"),
        ("昔は一人暮らししてた。", "PASS"),
        ("「別居」という言葉。", "PASS"),
    ],
)
@pytest.mark.parametrize("character", ["yana", "ayu"])
def test_setting(text: str, expected: str, character: str) -> None:
    assert status(text, "setting", character) == expected


def test_a_wrapper_alone_changes_nothing() -> None:
    bare = check("えー！それ、ほんと？")
    for text in (
        "「えー！それ、ほんと？」",
        " 「えー！それ、ほんと？」\n",
        "『えー！それ、ほんと？』",
    ):
        wrapped = check(text)
        assert [c.status for c in wrapped.checks] == [c.status for c in bare.checks]
        assert wrapped.tone == bare.tone
        assert wrapped.mends and wrapped.text == "えー！それ、ほんと？"


def test_a_script_is_mended() -> None:
    for text in ("やな「えー！ほんと？」", "やな：えー！ほんと？", "「えー！」\n「ほんと？」"):
        verdict = check(text)
        assert verdict.status.value == "MODIFY"
        assert "やな" not in verdict.text and "「" not in verdict.text


def test_evidence_is_cut_from_the_given_text() -> None:
    given = "すっごい!!  別居ｶﾓ!! まだ未成年じゃない｡｡"
    verdict = check(given)
    for found in verdict.checks:
        assert all(span in given for span in found.evidence)
    assert verdict.check("setting").evidence == ("別居",)
    assert verdict.check("logic").evidence == ("まだ未成年じゃない",)


def complete(verdict: LineVerdict) -> bool:
    return all(
        not (c.reason or c.suggestion or c.evidence)
        if c.status.value == "PASS"
        else bool(c.reason and c.suggestion and c.evidence)
        for c in verdict.checks
    )


@pytest.mark.parametrize("language", ["ja", "en"])
def test_what_does_not_pass_says_why(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAISEI_LANG", language)
    verdict = check(
        "あなたは天才です\n別居\nまだ未成年じゃない\n海の話\n山の話\n川の話\n以上\n以上",
        character="ayu",
    )
    assert [c.name for c in verdict.checks] == list(CHECK_NAMES)
    assert {c.name for c in verdict.checks if c.status.value == "RETRY"} == {
        "format", "setting", "praise", "scatter", "logic", "tone",
    }  # fmt: skip
    assert complete(verdict)
    assert any("ぁ" <= c <= "ん" for c in verdict.check("format").reason) is (language == "ja")


def test_the_language_is_that_of_the_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NAISEI_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    english = check("別居").check("setting").reason
    monkeypatch.setenv("LANG", "ja_JP.UTF-8")
    japanese = check("別居").check("setting").reason
    assert (english.isascii(), japanese.isascii()) == (True, False)
    monkeypatch.setenv("NAISEI_LANG", "en")
    assert check("別居").check("setting").reason == english


def test_a_verdict_is_a_value() -> None:
    verdict = check("行くよ。別居。")
    assert verdict == check("行くよ。別居。") != check("行くよ。")
    assert pickle.loads(pickle.dumps(verdict)) == verdict
    with pytest.raises(AttributeError):
        verdict.topics = 3  # type: ignore[misc]


def test_loop_needs_the_word_again_and_again() -> None:
    history = ["電車が来た。", "電車、混んでる？", "電車で座れた。", "電車を降りた。"]
    assert status("電車かも！", "loop", history=history) == "WARN"
    assert status("電車かも！", "loop", history=history[1:]) == "PASS"
    assert status("電車、電車、電車！", "loop") == "PASS"
    assert status("電車、電車、電車、電車！", "loop") == "WARN"


def test_jump_needs_a_young_topic_and_a_turn() -> None:
    young = ["今夜は花火かな？"]
    old = ["花火を見た。", "花火がきれい。", "花火が大きい。"]
    assert status("ところで、宿題は？", "jump", history=young) == "WARN"
    assert status("ところで、花火の時間は？", "jump", history=young) == "PASS"
    assert status("宿題の話をしよう。", "jump", history=young) == "WARN"
    assert status("ところで、宿題は？", "jump", history=old) == "PASS"
    assert status("ところで、宿題は？", "jump") == "PASS"
