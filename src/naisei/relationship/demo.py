"""The demonstration: a short conversation with its readings and its plot."""

from __future__ import annotations

import json
from datetime import datetime
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

from rich.rule import Rule
from rich.text import Text

from naisei.cli.lang import language, say
from naisei.core import InputError
from naisei.files import write_atomically
from naisei.models.embedders.registry import resolve
from naisei.relationship.commands import carry_out
from naisei.relationship.config import ROLES, RelationshipConfig
from naisei.relationship.execute import Sitting
from naisei.relationship.rules import Rules
from naisei.runs.budget import Budget
from naisei.terminal import Console, Panel

if TYPE_CHECKING:
    from naisei.relationship.series import Series

__all__ = ["demo"]

#: The embedded model's part: so many utterances, and never longer than this.
_LLM_TURNS, _LLM_MINUTES = 4, 3.0


def demo(*, llm: bool, run_dir: Path | None, seed: int) -> int:
    """A conversation written for it, rated by speech as well; then one of the embedded model.
    Returns the exit code."""
    console = Console()
    root = run_dir or Path("runs") / f"relationship-demo-{datetime.now():%Y%m%d-%H%M%S}"
    console.print(
        Panel(
            say(
                "関係値内省: 先輩の倉田と後輩の三浦が、一週間をおいて二度話します。\n"
                "発話のたびに次の話者が相手との関係を内省し、"
                "その値 (-3〜3) が次の発話に伝わります。",
                "Relationship reflection: a senior and a junior engineer talk twice, a week "
                "apart.\nAfter each utterance the next speaker reflects on how they stand; the "
                "reading (-3 to 3) goes into their next prompt.",
            ),
            title="naisei 内省",
        )
    )
    code = _scripted(root, seed, console)
    if llm:
        _embedded(root, seed, console)
    return code


def _scripted(root: Path, seed: int, console: Console) -> int:
    console.print(
        Rule(say("台本の会話 (モデルの出力ではない)", "A scripted conversation, no model's"))
    )
    console.print(
        Text(
            say(
                "発話と値はこのデモのために書いたものです。記憶、根拠の選択、プロンプト、"
                "ファイルは本物の流れが作ります。",
                "Lines and readings were written for this demonstration; memories, evidence, "
                "prompts and files are made by the real flow.",
            ),
            style="yellow",
        )
    )
    with as_file(files("naisei.data") / "relationship_demo" / "script.jsonl") as script:
        config = _config(f"scripted:{script}", Rules(turns=6, reflection="turn"), seed)
        code = carry_out(config, Sitting(concurrency=1), run_dir=root / "scripted", json=False)
    console.print(
        Rule(say("言葉づかいからの推定 (モデル不要)", "Read from speech alone, no model"))
    )
    _by_speech(root, console)
    return code


def _by_speech(root: Path, console: Console) -> None:
    """The same lines, rated by the language estimator, and both courses in one picture."""
    from naisei.relationship.dialogues import read_dialogue
    from naisei.relationship.rate import rate_by_speech
    from naisei.relationship.rate_output import reasons, to_agent_json
    from naisei.relationship.series import read_series

    agent = root / "scripted" / "agent_a.json"
    rating = rate_by_speech(read_dialogue(agent))
    spoken = root / "speech.json"
    text = json.dumps(to_agent_json(rating), ensure_ascii=False, indent=2)
    write_atomically(spoken, text + "\n")
    for reason in reasons(rating):
        console.print(Text(reason, style="dim"))
    labels = (say("台本の値", "the script's"), say("言葉づかいから", "from speech"))
    pair = [read_series(p, name) for p, name in zip((agent, spoken), labels, strict=True)]
    _picture(pair, root / "relationship.png", console)


def _embedded(root: Path, seed: int, console: Console) -> None:
    """The embedded model speaks and reflects; says so if it cannot run."""
    console.print(Rule(say("組み込みの言語モデル", "The embedded language model")))
    from naisei.relationship.series import read_series

    rules = Rules(sessions=1, turns=_LLM_TURNS, reflection="turn", evidence_chars=600)
    try:
        from naisei.models.local.progress import Shown
        from naisei.models.local.pull import pull
        from naisei.models.local.weights import DEFAULT, catalogue

        with Shown(language=language()) as told:
            pull(catalogue()[DEFAULT], progress=told)
        sitting = Sitting(concurrency=1, budget=Budget(minutes=_LLM_MINUTES))
        carry_out(_config("local:", rules, seed), sitting, run_dir=root / "llm", json=False)
    except InputError as error:
        console.print(
            Text(
                say("組み込みモデルは動かせませんでした: ", "The embedded model could not be run: ")
                + str(error),
                style="red",
            )
        )
        return
    try:
        series = read_series(root / "llm" / "agent_a.json", say("組み込みモデル", "embedded model"))
    except InputError:
        missed = say(
            f"{_LLM_MINUTES:g} 分以内に値は一つも得られませんでした (図は描きません)。",
            f"No reading came about within {_LLM_MINUTES:g} minutes, so there is no picture.",
        )
        console.print(Text(missed, style="yellow"))
        return
    _picture([series], root / "relationship-llm.png", console)


def _picture(series: list[Series], to: Path, console: Console) -> None:
    """Draw; where matplotlib is not installed, say so."""
    from naisei.relationship.plot import draw

    try:
        draw(series, [to, to.with_suffix(".svg")])
    except InputError as error:
        console.print(Text(say("図は描けません: ", "No picture: ") + str(error), style="red"))
    else:
        console.print(say("図: ", "Picture: ") + str(to))


def _config(model: str, rules: Rules, seed: int) -> RelationshipConfig:
    config = RelationshipConfig(rules=rules, embedder=resolve("auto"), seed=seed)
    models = {role: model for role in ROLES if role in config.needed}
    return config.model_copy(update={"models": models})
