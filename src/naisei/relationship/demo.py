"""Relationship reflection's part of `naisei demo`: a conversation and its readings."""

from __future__ import annotations

from importlib.resources import as_file, files
from importlib.util import find_spec
from math import isnan
from pathlib import Path

from naisei.cli.demo import Part, Stage
from naisei.cli.printing import print_tables
from naisei.core import InputError
from naisei.lang import say
from naisei.models.embedders import resolve
from naisei.relationship.config import RelationshipConfig, Rules
from naisei.relationship.dialogues import read_dialogue
from naisei.relationship.plot import draw
from naisei.relationship.rating import Rating, rate_by_speech
from naisei.relationship.schemas import WAYS
from naisei.relationship.series import Series, read_series
from naisei.relationship.system import RUN
from naisei.relationship.task import ConversationTask
from naisei.relationship.vector import DIMENSIONS, dimension_name, signed
from naisei.runs.lines import print_lines
from naisei.runs.task import Table
from naisei.system.execute import RunOptions

#: Number of conversation rows to print.
_ROWS = 14
#: With a model: number of utterances and time limit.
_LLM_TURNS, _LLM_MINUTES = 4, 3.0


def _show(stage: Stage) -> None:
    folder = stage.root / "relationship"
    if stage.model is not None:
        rules = Rules(sessions=1, turns=_LLM_TURNS, reflection="turn", evidence_chars=600)
        _run(stage, stage.model, rules, _LLM_MINUTES, folder)
    else:
        stage.note(
            "発話と値は、このデモのために用意した台本です。",
            "Lines and readings are from a script written for this demonstration.",
        )
        with as_file(files("naisei.data") / "relationship_demo" / "script.jsonl") as script:
            rules = Rules(turns=6, reflection="turn")
            _run(stage, f"scripted:{script}", rules, None, folder)
    agent = folder / "agent_a.json"
    try:
        series = read_series(agent, say("内省", "reflection"))
    except InputError:  # the budget was exhausted before the first reading
        stage.print(say("値はまだ得られていません。", "No reading yet."), "yellow")
        return
    _table(series, rate_by_speech(read_dialogue(agent)), stage)
    if find_spec("matplotlib") is not None:
        picture = folder / "relationship.png"
        draw([series], [picture])
        stage.print(say(f"推移の図: {picture}", f"Chart of all readings: {picture}"))


def _run(stage: Stage, model: str, rules: Rules, minutes: float | None, folder: Path) -> None:
    config = RelationshipConfig(rules=rules, embedder=resolve("auto"), seed=stage.seed)
    config = config.model_copy(update={"models": dict.fromkeys(RUN.needed(config), model)})
    options = RunOptions(concurrency=1, max_minutes=minutes, quiet=True)
    with stage.busy("二人が話しています…", "The two are talking …"):
        result = RUN.run(config, options, run_dir=folder)
    stage.finished(result)
    task = ConversationTask(config)
    for row in result.outcome.rows:
        if row.scored:
            print_lines(task.render_episode(row.where, row.result), stage.console, most=_ROWS)
    stage.report(say("関係値内省", "Relationship"), result.report)


def _table(series: Series, speech: Rating, stage: Stage) -> None:
    """First and last reading of each direction, and the estimate from speech."""
    names = list(map(dimension_name, DIMENSIONS))
    marks = speech.turns[-1].marks
    rows = []
    for way in WAYS:
        reads = [p.reads[way].values for p in series.points if way in p.reads]
        cells = [[_whole(read[d]) for read in (reads[0], reads[-1])] for d in DIMENSIONS]
        spoken = [_whole(marks[way][d].value) for d in DIMENSIONS]
        rows.append((series.way(way), *(f"{a} → {b}" for a, b in cells)))
        rows.append((say("  話し方だけから推定", "  from speech alone"), *spoken))
    stage.console.print()
    title = say("相手との関係（最初 → 最後）", "Relationship (first → last)")
    print_tables([Table(title, (say("向き", "direction"), *names), tuple(rows))], stage.console)


def _whole(value: float) -> str:
    return "-" if isnan(value) else signed(round(value))


PART = Part(
    title=("関係値内省：間柄を省みる", "Relationship reflection"),
    about=(
        "先輩と後輩が、日をおいて二度話します。発話のたびに、次に話す側が相手との\n"
        "関係（力関係・親密度・タスク指向、-3〜+3）を省み、それを踏まえて話します。",
        "A senior and a junior talk twice. After each utterance the next speaker\n"
        "reflects on the relationship (-3 to +3) and speaks accordingly.",
    ),
    show=_show,
    hint=("naisei relationship rate 会話.txt", "naisei relationship rate TALK.txt"),
    data="ja",
)
