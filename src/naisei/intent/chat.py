"""`naisei intent ask` and `naisei intent chat`: a conversation at the terminal.

In `chat`, numbers choose topics, and commands begin with a slash.
"""

from __future__ import annotations

import json as jsons
import sys
from datetime import datetime
from functools import partial
from pathlib import Path

import typer

from naisei.core import EffectFailed, InputError, fingerprint
from naisei.intent.config import AssistConfig
from naisei.intent.dialogue import NEW, Conversation, Dialogue
from naisei.intent.feedback import Sign, data_file, write_feedback
from naisei.intent.inquiry import Inquiry, Released, opened, reply_in_memory
from naisei.intent.lines import sources, terminal_text
from naisei.intent.schemas import Reply
from naisei.lang import say
from naisei.lengths import MESSAGE, bounded, too_long
from naisei.retrieval.index import Index
from naisei.system.config import Printed, flag
from naisei.system.declare import blocking
from naisei.system.execute import RunOptions
from naisei.terminal import visible


class ChatOptions(Printed):
    """Flags of `naisei intent chat`."""

    session: str | None = flag(
        None,
        "この名前の会話を続ける",
        "Go on with the conversation of this name.",
        metavar="NAME",
    )
    remember: str | None = flag(
        None,
        "この名前の人が何者か、何を尋ねたかを、次の会話のために覚える (memory で見る・消す)",
        "Remember for this person what they are and what they asked, from one conversation to "
        "the next; see `naisei intent memory`.",
        panel=("ユーザー", "Person"),
        metavar="NAME",
    )


class AskOptions(ChatOptions):
    """Flags of `naisei intent ask`."""

    text: str = flag(
        ...,
        "質問、または聞き返しへの答え",
        "A question, or the answer to one put back.",
        argument=True,
        metavar="TEXT",
    )
    new: bool = flag(False, "聞き返しに答えず、新しい用件にする", "A new request.")
    run_dir: Path | None = flag(
        None,
        "実行ディレクトリ (既定: runs/ の下で、名前は設定から決まる)",
        "Run directory; by default one under runs/ named by the configuration.",
        panel="run",
    )


def ask_command(config: AssistConfig, running: RunOptions, *, asked: AskOptions) -> None:
    """`naisei intent ask`: prints a question back or the answer.

    Raises:
        InputError: an empty question, invalid names or files, or an exhausted budget.
    """
    bounded(asked.text, MESSAGE, place="TEXT")
    if not asked.text.strip():
        raise InputError(
            say("質問が空です", "the question is empty"),
            place="TEXT",
            remedy=say("調べたいことを書いてください", "write what to look up"),
        )
    if asked.session is not None and asked.run_dir is not None:
        raise InputError(
            say("会話の置き場所が二つあります", "a conversation with a name has its own place"),
            place="--session",
            remedy=say("--run-dir と一緒に使わないでください", "give it without --run-dir"),
        )
    path = session_path(asked.session) if asked.session is not None else asked.run_dir
    if path is None and not config.models and asked.remember is None:
        with Index.open(config.index, groups=config.groups) as index:
            reply = reply_in_memory(config, index, Dialogue(utterance=asked.text.strip()))
        print(line(reply) if asked.as_json else terminal_text(reply), flush=True)
        return
    blocking(_ask)(config, running, asked, path)


async def _ask(
    config: AssistConfig, running: RunOptions, asked: AskOptions, path: Path | None
) -> None:
    alone = path is None and asked.remember is None
    if alone:  # a repeated question finds its reply or resumes
        named = fingerprint([config.model_dump(mode="json"), asked.text])[:12]
        path = Path("runs") / f"intent-ask-{named}"
    async with opened(config, running, path, asked.remember) as talk:
        reply = talk.conversation.last if alone else None
        if reply is None:
            if (spent := running.budget.reached(talk.log.ledger())) and path is not None:
                raise InputError(
                    say(f"返事の前に止まりました: {spent}", f"stopped before the reply: {spent}"),
                    place=str(path),
                    remedy=say(
                        "予算を上げて、同じことをもう一度聞いてください",
                        "raise the budget and ask the same again",
                    ),
                )
            reply = await talk.turn(f"{NEW}{asked.text}" if asked.new else asked.text)
        assert reply is not None, "something was said"
        where: dict[str, object] = {"run_dir": str(path)} if path is not None else {}
        told = line(reply, **where, tokens=talk.log.ledger().to_json())
    print(told if asked.as_json else terminal_text(reply), flush=True)


def session_path(name: str) -> Path:
    """A conversation's run directory. Raises `InputError` for an invalid name."""
    return data_file("conversations", name, option="--session")


def chat_command(config: AssistConfig, running: RunOptions, *, chat: ChatOptions) -> None:
    """`naisei intent chat`; ends with exit code 4 where no question could be answered."""
    path: Path | None = None
    if chat.session is not None:
        path = session_path(chat.session)
    elif config.models:
        path = Path("runs") / f"intent-chat-{datetime.now():%Y%m%d-%H%M%S-%f}"
    answered = blocking(_chat)(config, running, chat, path)
    if answered and not any(answered):
        raise typer.Exit(4)


async def _chat(
    config: AssistConfig, running: RunOptions, chat: ChatOptions, path: Path | None
) -> list[bool]:
    """Run until the person leaves. Returns whether each turn was answered."""
    answered: list[bool] = []

    async def turn(talk: Inquiry, said: str | None) -> None:
        if running.budget.reached(talk.log.ledger()):
            tell(say("予算に達しました。", "The budget is spent."))
        else:
            answered.append(await _turn(talk, said, as_json=chat.as_json))

    def tell(text: str) -> None:
        print(text, file=sys.stderr if chat.as_json else sys.stdout, flush=True)

    async with opened(config, running, path, chat.remember) as talk:
        tell(_HELLO)
        if talk.conversation.steps:
            tell(say("前回の続きです。", "Going on from last time."))
            if talk.conversation.pending:
                await turn(talk, None)
            elif (last := talk.conversation.last) is not None:
                print(line(last) if chat.as_json else terminal_text(last), flush=True)
        new = ""
        while (text := _hear()) is not None and text not in ("/quit", "/exit"):
            if text == NEW.strip():
                new = NEW
                tell(say("新しい用件をどうぞ。", "A new request, please."))
            elif text.startswith("/") and not text.startswith(NEW):
                tell(_obeyed(talk.conversation, text, user=config.user))
            elif told := too_long(text, MESSAGE):
                tell(told)
            elif text:
                await turn(talk, f"{new}{text.removeprefix(new)}")
                new = ""
    return answered


async def _turn(talk: Inquiry, said: str | None, *, as_json: bool) -> bool:
    """One turn; a model's answer is streamed by sentence. Returns whether it was answered."""
    released = Released(partial(print, end="", flush=True), visible)
    try:
        reply = await talk.turn(said, show=None if as_json else released.show)
    except EffectFailed as failure:
        failed = say(f"失敗しました: {failure}", f"Failed: {failure}")
        print(failed, file=sys.stderr if as_json else sys.stdout, flush=True)
        return False
    if reply is not None:
        print(line(reply) if as_json else released.rest(terminal_text(reply)), flush=True)
    return True


def _hear() -> str | None:
    """The person's input; `None` at Ctrl-D."""
    try:
        return input("> " if sys.stdin.isatty() else "").strip()
    except EOFError:
        return None


_SIGNS: dict[str, Sign] = {
    "/good": "good",
    "/bad": "bad",
    "/asked-too-much": "too-much",
    "/asked-too-little": "too-little",
    "/undo": "undo",
}
_HELLO = say(
    "資料について、知りたいことを書いてください（/help で使い方、Ctrl-D で終わり）。",
    "What would you like to know from the documents? (/help for help, Ctrl-D to leave)",
)
_HELP = say(
    "番号: 選択肢を選ぶ  /sources: 出典を読む  /new: 次の文を新しい用件にする\n"
    "/good /bad /asked-too-much /asked-too-little: 評価する  /undo: 最後の評価を取り消す  "
    "/quit: 終わる",
    "A number chooses a topic. /sources: read the sources. /new: the next line is a new request.\n"
    "/good /bad /asked-too-much /asked-too-little: feedback. /undo: take the last back. "
    "/quit: leave.",
)


def _obeyed(conversation: Conversation, command: str, *, user: str) -> str:
    """The response to a command."""
    if command == "/sources":
        return sources(conversation.last)
    if command not in _SIGNS:
        return _HELP
    path = data_file("feedback", user, option="--user", suffix=".jsonl")
    last = conversation.steps[-1] if conversation.steps else Dialogue(utterance="")
    write_feedback(path, _SIGNS[command], about=last.utterance, asked=len(last.exchanges))
    return say(
        "記録しました（naisei intent feedback --show で見られます）。",
        "Noted; `naisei intent feedback --show` shows it.",
    )


def line(reply: Reply, **more: object) -> str:
    """The reply as one line of JSON, with additional fields."""
    return jsons.dumps({**reply.model_dump(mode="json"), **more}, ensure_ascii=False)
