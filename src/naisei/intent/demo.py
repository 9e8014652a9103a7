"""Intent's part of `naisei demo`: a vague question, a clear one, and an unanswerable one."""

from __future__ import annotations

from importlib.resources import as_file, files

from rich.text import Text

from naisei.cli.demo import Part, Stage
from naisei.files import cache_root
from naisei.intent.config import AssistConfig
from naisei.intent.dialogue import NEW
from naisei.intent.inquiry import Inquiry, opened
from naisei.intent.lines import terminal_line
from naisei.intent.rules import Rules, Setting, load_contacts
from naisei.intent.schemas import Reply
from naisei.intent.system import ASSIST
from naisei.lang import say
from naisei.retrieval.build import build
from naisei.runs.lines import print_lines
from naisei.system.declare import blocking
from naisei.system.execute import RunOptions

_VAGUE, _CHOICE = "休暇について教えてください", "子の看護休暇の日数です"
_CLEAR = "国内出張の宿泊費の上限はいくらですか"
_UNKNOWN = "社長の好きな野球チームはどこですか"
#: Timeout of one model request.
_SECONDS = 180.0
#: Number of rows shown of a reply.
_ROWS = 7


def _show(stage: Stage) -> None:
    with as_file(files("naisei.data") / "handbook") as documents:
        folder = cache_root() / "intent" / "demo-handbook"
        # Search by words only: embedding the whole handbook would take too long.
        with stage.busy("資料の索引を作っています…", "Indexing the documents …"):
            report = build(folder, documents, embedder=None)
        stage.print(
            say(
                f"架空の会社の手引き {report.documents} 件（語の一致だけで検索）",
                f"{report.documents} documents of a fictional company (searched by words alone)",
            )
        )
        setting = Setting(
            rules=Rules(language="ja"), contacts=load_contacts(documents / "contacts.toml")
        )
        config = AssistConfig(index=str(folder), setting=setting, user="demo")
        _talk(config, stage)


def _talk(config: AssistConfig, stage: Stage) -> None:
    asked, options = [_VAGUE, _CLEAR, _UNKNOWN], RunOptions(quiet=True)
    if stage.model is not None:
        roles = frozenset({"evaluator", "answerer"})
        rules = config.setting.rules.model_copy(update={"roles": roles})
        setting = config.setting.model_copy(update={"rules": rules})
        models = {"evaluator": stage.model, "answerer": stage.model}
        config = config.model_copy(update={"models": models, "setting": setting})
        asked, options = [_CLEAR], RunOptions(quiet=True, timeout=_SECONDS)
    path = stage.root / "intent"

    async def talk() -> None:
        async with opened(config, options, path) as inquiry:
            for utterance in asked:
                reply = await _turn(inquiry, utterance, stage)
                if reply.asks and utterance == _VAGUE:
                    await _turn(inquiry, _CHOICE, stage)

    blocking(talk)()
    result = ASSIST.run(config, options, run_dir=path)
    stage.report(say("意図の確認", "Intent"), result.report)


async def _turn(inquiry: Inquiry, said: str, stage: Stage) -> Reply:
    stage.print(Text(f"> {said}", style="bold cyan"))
    reply = await inquiry.turn(f"{NEW}{said}" if said != _CHOICE else said)
    assert reply is not None, "something was said"
    # Choices are shown in full.
    most = len(reply.options) + 2 if reply.asks else _ROWS
    print_lines([terminal_line(reply)], stage.console, most=most)
    return reply


PART = Part(
    title=("意図の確認：探す前に聞く", "Intent: ask before searching"),
    about=(
        "フォルダーの資料に答えるボットです。質問が曖昧なら、探す前に聞き返します。\n"
        "答えには出典を付け、資料で確かめられないことは、そう断ります。",
        "A bot that answers from a folder of documents. A vague question is asked back\n"
        "first; answers name their sources and say what the documents leave open.",
    ),
    show=_show,
    hint=(
        "naisei intent index 資料フォルダー --index 資料.index",
        "naisei intent index FOLDER --index my.index",
    ),
    data="ja",
)
