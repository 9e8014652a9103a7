"""The director as a system: checks before a character speaks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from naisei.director.config import TalkConfig
from naisei.system.config import Parameters
from naisei.system.declare import Experiment, LiveLines, RawOptions, Role, System, Verb
from naisei.system.registry import BUILT_IN

if TYPE_CHECKING:
    from naisei.core import Event
    from naisei.director.task import TalkTask
    from naisei.runs.task import Digest
    from naisei.terminal import Console


def _settle(given: RawOptions) -> dict[str, Any]:
    """Without `--talk`, a talk is in Japanese if a character or the topic is, else in English."""
    from naisei.director.character import load_character
    from naisei.japanese.morph import is_japanese

    cast = given.values.get("cast", TalkConfig.model_fields["cast"].default)
    japanese = is_japanese(given.values.get("topic", "")) or any(
        load_character(name).language == "ja" for name in cast
    )
    rules = {"language": "ja" if japanese else "en", **given.values.get("rules", {})}
    return {**given.values, "rules": rules}


def _load(config: TalkConfig) -> TalkTask:
    from naisei.director.task import TalkTask

    return TalkTask(config)


def _live(task: TalkTask, console: Console, earlier: Sequence[Event]) -> LiveLines:
    from naisei.director.lines import Live

    return Live(task, earlier)


def _judging(config: TalkConfig) -> Parameters:
    """Several judgements of one draft need a temperature above 0 to differ."""
    return {"temperature": 0.0 if config.rules.judging.repeats == 1 else 0.7}


def _digest(result: Any) -> Digest:
    from naisei.director.lines import digest

    return digest(result)


TALK: Experiment[TalkConfig] = Experiment(
    verb="talk",
    about=(
        "二人に話題を与えて話させる。案ごとに判定を見せる",
        "Let two characters talk about a topic; every draft is shown with its verdict.",
    ),
    config=TalkConfig,
    load=_load,
    settle=_settle,
    offered=("topic", "turns", "talks"),
    headline=("pass_rate",),
    digest=_digest,
    roles=(
        Role("speaker"),
        Role(
            "judge",
            needed=lambda config: config.rules.judge,
            sampled=False,
            sampling=_judging,
            resends=0,  # a malformed judgement is repaired once; then the rules decide alone (§7)
            without=("--no-judge でも動きます", "use --no-judge"),
        ),
    ),
    live=_live,
)

SYSTEM = System(
    name="director",
    about=BUILT_IN["director"],
    experiments=(TALK,),
    verbs=(
        Verb(
            "check",
            (
                "発言を 1 行ずつ検査する (モデル不要)",
                "Check lines by the rules that need no model, one verdict each.",
            ),
            "naisei.director.commands:check",
        ),
        Verb(
            "report",
            (
                "台本全体の報告を HTML と CSV で書く (モデル不要)",
                "Report on a whole script as HTML and CSV; needs no model.",
            ),
            "naisei.director.commands:report",
        ),
        Verb(
            "bias",
            (
                "採点役のモデルに偏りがないか調べる (順序・長さ・繰り返し)",
                "Look for biases of a judge: order, length, repeated text.",
            ),
            "naisei.director.commands:bias",
        ),
        Verb(
            "characters",
            ("人物のプロファイルを見る・検査する", "List, show and check characters' profiles."),
            "naisei.director.commands:characters",
        ),
    ),
    demo="naisei.director.demo:PART",
    page="naisei.web.pages.duo:PAGE",
    replay="naisei.web.replays.director:REPLAY",
)
