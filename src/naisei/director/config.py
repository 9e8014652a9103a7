"""Frozen settings that change the results of talks: rules of a turn, and the run."""

from __future__ import annotations

from typing import Literal

from naisei.director.judge import Judging
from naisei.director.verdict import RuleSet
from naisei.lang import Language
from naisei.lengths import FIELD
from naisei.system.config import Config, Options, flag

#: Policies for exhausted retries. best: use the best draft, as WARN. refuse: say nothing. person: a
#: person writes the line.
Policy = Literal["best", "refuse", "person"]
POLICIES: tuple[Policy, ...] = ("best", "refuse", "person")


class TalkRules(Options):
    """Rules of a turn."""

    retries: int = flag(
        2, "不合格のときに書き直させる回数", "New drafts after a rejected one.", ge=0
    )
    policy: Policy = flag(
        "best",
        "書き直しの上限に達したとき: best は最良の案を WARN で出す、refuse は何も言わない、"
        "person は人が書く",
        "Out of retries: the best draft goes out as WARN (best), nothing is said (refuse), or a "
        "person writes the line (person).",
    )
    rules: RuleSet = flag(
        "calibrated",
        "検査の規則: calibrated は自然な会話で較正したもの、spec は仕様書の文字どおり",
        "Rules of the checks: calibrated on natural speech, or the specification to the letter.",
    )
    judge: bool = flag(
        True,
        "採点役のモデルにも採点させるか",
        "Whether a model judges, after the hard rules.",
    )
    judging: Judging = Judging()
    language: Language = flag(
        "ja",
        "会話の言語 (プロンプトと、書き手に伝える理由)",
        "Language of the talk: of the prompts, and of the reasons for the writer.",
        name="--talk",
        shown=(
            "人物か話題が日本語なら ja、でなければ en",
            "ja if a character or the topic is, else en",
        ),
    )


class TalkConfig(Config):
    """Talks of one cast about one topic; each is an episode. seed: of the intervals."""

    topic: str = flag(
        "",
        "話題 (なければ最初の発言が決める)",
        "What they talk about; else the first line sets it.",
        max_length=FIELD,
    )
    scene: str = flag("", "場面", "Where they are.", max_length=FIELD)
    turns: int = flag(8, "発言の回数", "Turns in a talk.", ge=1)
    talks: int = flag(1, "会話の本数", "Talks in all.", ge=1)
    cast: tuple[str, ...] = flag(
        ("yana", "ayu"),
        "話す人物、順に (複数可)。自作は TOML ファイル",
        "Who speaks, in order, repeatable; a TOML file is your own.",
        name="--character",
        metavar="ID|FILE",
        min_length=1,
    )
    rules: TalkRules = TalkRules()
