"""The director's part of `naisei demo`: a short talk, each draft with its verdict."""

from __future__ import annotations

from importlib.resources import as_file, files

from naisei.cli.demo import Part, Stage
from naisei.director.config import TalkConfig
from naisei.director.schemas import TalkResult
from naisei.director.system import TALK
from naisei.director.task import TalkTask
from naisei.lang import say
from naisei.runs.lines import print_lines
from naisei.system.execute import RunOptions

#: Turns that show each verdict. With a model: this many turns within this time.
_TURNS, _LLM_TURNS, _LLM_MINUTES = 5, 4, 3.0


def _show(stage: Stage) -> None:
    if stage.model is not None:
        _talk(stage, stage.model, _LLM_TURNS, _LLM_MINUTES)
        return
    stage.note(
        "案と採点は、判定の種類が見えるように用意した台本です。",
        "Drafts and scores are from a script in which the kinds of verdict occur.",
    )
    with as_file(files("naisei.data") / "director_demo" / "writer.jsonl") as script:
        _talk(stage, f"scripted:{script}", _TURNS, None)


def _talk(stage: Stage, model: str, turns: int, minutes: float | None) -> None:
    config = TalkConfig(
        topic="洗濯",
        scene="雨の日の居間",
        turns=turns,
        models={"speaker": model, "judge": model},
        seed=stage.seed,
    )
    with stage.busy("二人が話しています…", "The two are talking …"):
        result = TALK.run(
            config,
            RunOptions(concurrency=1, max_minutes=minutes, quiet=True),
            run_dir=stage.root / "director",
        )
    stage.finished(result)
    task = TalkTask(config)
    for row in result.outcome.rows:
        if row.scored:
            print_lines(task.render_episode(row.where, row.result), stage.console)
            talk = TalkResult.model_validate(row.result)
            drafts = sum(len(turn.drafts) for turn in talk.turns)
            said = sum(turn.text is not None for turn in talk.turns)
            stage.print(
                say(
                    f"発言 {said} つに、案は {drafts} つでした。",
                    f"{drafts} drafts for {said} lines.",
                )
            )
    stage.report(say("ディレクター", "Director"), result.report)


PART = Part(
    title=("ディレクター：話す前に確かめる", "The director: check before speaking"),
    about=(
        "姉やなと妹あゆの会話です。案は口に出す前に検査します。\n"
        "RETRY なら理由を添えて書き直させ、不合格の案は会話にも状態にも残しません。",
        "The sisters やな and あゆ talk. Each draft is checked before it is spoken.\n"
        "A RETRY is written again with the reasons; what is rejected leaves no trace.",
    ),
    show=_show,
    hint=("naisei director check 台本.txt", "naisei director check SCRIPT.txt"),
    data="ja",
)
