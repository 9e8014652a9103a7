"""The demonstration: a vague question, a clear one, and one that nobody can answer."""

from __future__ import annotations

import tempfile
from importlib.resources import as_file, files
from pathlib import Path

from rich.rule import Rule
from rich.text import Text

from naisei.cli.lang import language, say
from naisei.core import EffectFailed, InputError
from naisei.intent.cli.show import shown
from naisei.intent.config import AssistConfig
from naisei.intent.contacts import Contacts, load_contacts
from naisei.intent.dialogue import Dialogue
from naisei.intent.execute import Session, in_directory, in_memory
from naisei.intent.rules import Rules, Setting
from naisei.intent.schemas import Reply
from naisei.retrieval.build import build
from naisei.retrieval.index import Index
from naisei.runs.budget import Budget
from naisei.terminal import Console, Panel

__all__ = ["demo"]

_VAGUE, _CHOICE = "休暇について教えてください", "看護休暇の日数です"
_CLEAR = "国内出張の宿泊費の上限はいくらですか"
_UNKNOWN = "社長の好きな野球チームはどこですか"
_MINUTES = 3.0


def demo(*, llm: bool, run_dir: Path | None) -> int:
    """Three questions on the shipped handbook by rules, then one by the embedded model."""
    console = Console()
    console.print(
        Panel(
            say(
                "資料の案内役: 架空の会社の手引きに尋ねます。曖昧なら探す前に聞き返し、\n"
                "書かれていないことは、書かれていないと答えます。",
                "The document assistant: the handbook of a fictional company. What is vague is "
                "asked back\nbefore anything is searched; what is not there is said not to be.",
            ),
            title="naisei 内省",
        )
    )
    with (
        as_file(files("naisei.data") / "handbook") as documents,
        tempfile.TemporaryDirectory(prefix="naisei-demo-") as folder,
    ):
        # By words alone: vectors of the whole handbook would take a minute of the demonstration.
        report = build(Path(folder) / "index", documents, embedder=None)
        console.print(
            say(
                f"{report.documents} 件の資料を {report.seconds:.1f} 秒で索引にしました"
                "（語だけの索引）。",
                f"{report.documents} documents indexed in {report.seconds:.1f} s (words alone).",
            )
        )
        contacts = documents / "contacts.toml"
        setting = Setting(
            rules=Rules(language=language()),
            contacts=load_contacts(contacts) if contacts.is_file() else Contacts(),
        )
        with Index.open(Path(folder) / "index") as index:
            config = AssistConfig(index=str(Path(folder) / "index"), setting=setting, user="demo")
            _by_rules(config, index, console)
            if llm:
                _by_model(config, index, run_dir, console)
    return 0


def _by_rules(config: AssistConfig, index: Index, console: Console) -> None:
    console.print(Rule(say("規則だけ (モデルなし)", "By rules, without a model")))
    for utterance, answers in ((_VAGUE, [_CHOICE]), (_CLEAR, []), (_UNKNOWN, [])):
        dialogue = Dialogue(utterance=utterance)
        _said(utterance, console)
        reply = in_memory(config, index, dialogue, Session())
        _replied(reply, console)
        for answer in answers:
            if reply.route == "ask":
                _said(answer, console)
                dialogue = dialogue.answered(reply.message, answer, reply.options)
                reply = in_memory(config, index, dialogue, Session())
                _replied(reply, console)


def _by_model(config: AssistConfig, index: Index, run_dir: Path | None, console: Console) -> None:
    """The embedded model evaluates and answers; says so if it cannot run."""
    console.print(Rule(say("組み込みの言語モデル", "The embedded language model")))
    rules = config.setting.rules.model_copy(update={"roles": frozenset({"evaluator", "answerer"})})
    config = config.model_copy(
        update={
            "models": {"evaluator": "local:", "answerer": "local:"},
            "setting": config.setting.model_copy(update={"rules": rules}),
        }
    )
    _said(_CLEAR, console)
    try:
        from naisei.models.local.progress import Shown
        from naisei.models.local.pull import pull
        from naisei.models.local.weights import DEFAULT, catalogue

        with (
            Shown(language=language()) as told,
            tempfile.TemporaryDirectory(prefix="naisei-demo-") as folder,
        ):
            pull(catalogue()[DEFAULT], progress=told)
            after, _ = in_directory(
                config,
                index,
                Dialogue(utterance=_CLEAR),
                Session(budget=Budget(minutes=_MINUTES)),
                run_dir=(run_dir or Path(folder)) / "intent-llm",
            )
    except (InputError, EffectFailed) as error:
        text = say("組み込みモデルは動かせませんでした: ", "The embedded model could not be run: ")
        console.print(Text(text + str(error), style="red"))
        return
    if (reply := after.last) is None:
        console.print(say("時間切れです。", "Out of time."), style="red")
    else:
        _replied(reply, console)


def _said(text: str, console: Console) -> None:
    console.print(Text(f"> {text}", style="bold cyan"))


def _replied(reply: Reply, console: Console) -> None:
    mark = "①②③④⑤⑥"[reply.case - 1]
    verb = say("聞き返す", "ask") if reply.route == "ask" else say("探して答える", "search")
    console.print(Text(f"{mark} {verb}", style="dim"))
    console.print(Text(shown(reply)))
