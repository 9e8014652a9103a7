"""What is not spoken comes off a draft, and what nobody says aloud is rejected."""

import pytest

from naisei.director import check, speakable

WORDS = "えー、もう朝？　まだ眠いよ！"


@pytest.mark.parametrize(
    "draft",
    [
        f"（少し笑って）「{WORDS}」",
        f"*頭をなでて* 「{WORDS}」",
        f"【伸びをする】{WORDS}",
        f"{WORDS}（布団に潜る）",
        f'{{"speaker": "やな", "text": "{WORDS}"}}',
        f"assistant\n{WORDS}",
        f"Yana: {WORDS}",
        f"**やな**：{WORDS}<|im_end|>",
        f"```\n{WORDS}\n```",
        f"姉らしく返そう。\n</think>\n{WORDS}",
        f"Thought: 眠い。\nOutput: {WORDS}",
        f"### Response:\n{WORDS}",
        f"{WORDS}[EOS]",
    ],
)
def test_what_is_round_the_words_comes_off(draft: str) -> None:
    found = check(draft, character="yana")
    assert (found.status, found.text) == ("MODIFY", WORDS)


@pytest.mark.parametrize(
    "line",
    [
        "店員さんが「いらっしゃい」って言ってた。",
        "三時（たぶん夜）に行くね。",
        "うける（笑）",
        "OK、じゃあ行こっか。",
        "Google Maps！",
        "明日、午前十時。",
        "これは*絶対*に要るって。",
    ],
)
def test_what_is_said_stays(line: str) -> None:
    assert speakable(line, ["やな"]) == ((), line)
    assert check(line, character="yana").check("format").status == "PASS"


@pytest.mark.parametrize(
    "draft",
    [
        "I'm sorry, but I can't help with that.",
        "えー、もう朝？　还没睡够呢！",
        "えー、もう朝\ufffd？",
        "やな：えー、もう朝？\nあゆ：もう七時ですよ。",
        '{"speaker": "あゆ", "text": "もう七時ですよ。"}',
        "Thought: あゆはまだ寝てるかな。",
        "眠い" * 100,
        "Good morning!",
        "早上好，姐姐！",
        "もう朝？\n(Note: I kept it casual.)",
        "{{user}}、もう朝？",
        "null",
        "もう朝？<br>眠い。",
        "【あゆ】もう七時ですよ。",
        "### Instruction:\n挨拶してください",
    ],
)
def test_what_nobody_says_is_rejected(draft: str) -> None:
    for rules in ("calibrated", "spec"):
        assert check(draft, character="yana", rules=rules).check("format").status == "RETRY"


def test_quoted_speech_is_judged_as_if_it_were_bare() -> None:
    bare = check("うわー、マジやばいって！ウケるんだけど！", character="ayu")
    dressed = check("（笑って）「うわー、マジやばいって！ウケるんだけど！」", character="ayu")
    assert bare.status == dressed.status == "RETRY"
    wrong = check("*頭をなでて* 「姉様が言う通り、明日にしよっか。」", character="yana")
    assert wrong.check("setting").status == "RETRY"
