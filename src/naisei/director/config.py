"""What a run of talks is: everything that changes its results, frozen."""

from __future__ import annotations

from naisei.director.rules import TalkRules
from naisei.lengths import FIELD
from naisei.system.config import Config, flag

__all__ = ["TalkConfig"]


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
