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
from pydantic import ValidationError

from naisei.core import EffectFailed, InputError
from naisei.files import write_atomically
from naisei.intent.config import AssistConfig
from naisei.intent.dialogue import NEW, Conversation
from naisei.intent.feedback import Sign, place, write_feedback
from naisei.intent.inquiry import Released, Session
from naisei.intent.lines import shown, sources
from naisei.intent.schemas import Reply
from naisei.intent.system import ASSIST
from naisei.intent.task import reply_in_memory, request_digest, take_step
from naisei.lang import say
from naisei.lengths import MESSAGE, bounded, too_long
from naisei.retrieval.index import Index
from naisei.system.config import Printed, flag
from naisei.system.declare import blocking
from naisei.system.execute import RunOptions
from naisei.terminal import visible
from naisei.text_files import read_text


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
    history: Path | None = flag(
        None,
        "会話をこの JSON ファイルに置き、そこから続ける",
        "Keep the conversation in this JSON file, and go on from it.",
        metavar="FILE",
    )
    new: bool = flag(False, "聞き返しに答えず、新しい用件にする", "A new request.")
    run_dir: Path | None = flag(
        None,
        "実行ディレクトリ (既定: runs/ の下で、名前は設定から決まる)",
        "Run directory; by default one under runs/ named by the configuration.",
        panel="run",
    )


def ask_command(config: AssistConfig, running: RunOptions, *, asked: AskOptions) -> None:
    """`naisei intent ask`."""
    bounded(asked.text, MESSAGE, place="TEXT")
    ask(
        asked.text,
        config,
        running,
        name=asked.session,
        remember=asked.remember,
        history=asked.history,
        new=asked.new,
        run_dir=asked.run_dir,
        json=asked.as_json,
    )


def chat_command(config: AssistConfig, running: RunOptions, *, chat: ChatOptions) -> None:
    """`naisei intent chat`; ends with exit code 4 where no question could be answered."""
    here = Chat(config, running, name=chat.session, remember=chat.remember, json=chat.as_json)
    here.serve()
    if here.failed and not here.answered:
        raise typer.Exit(4)


def ask(
    text: str,
    config: AssistConfig,
    running: RunOptions,
    *,
    name: str | None = None,
    remember: str | None = None,
    history: Path | None = None,
    new: bool = False,
    run_dir: Path | None = None,
    json: bool = False,
) -> None:
    """One step: prints the question back or the answer.

    Raises:
        InputError: an empty question, names or files that cannot be, a budget that is spent.
    """
    if not text.strip():
        raise InputError(
            say("質問が空です", "the question is empty"),
            place="TEXT",
            remedy=say("調べたいことを書いてください", "write what to look up"),
        )
    if (name or remember) is not None and (history is not None or run_dir is not None):
        raise InputError(
            say(
                "--session や --remember の会話には決まった置き場所があります",
                "a conversation with a name has a place of its own",
            ),
            place="--session" if name is not None else "--remember",
            remedy=say(
                "--history や --run-dir と一緒に使わないでください",
                "give it without --history and --run-dir",
            ),
        )
    if (name or remember) is not None:
        path = session_path(name) if name is not None else None
        said = f"{NEW}{text}" if new else text
        _ask_in_session(said, config, running, path, remember=remember, json=json)
        return
    with Index.open(config.index, groups=config.groups) as index:
        conversation = read_history(history) if history else Conversation()
        dialogue = conversation.next(text, new=new)
        where: dict[str, object] = {}
        if config.models or run_dir is not None:
            config = config.model_copy(update={"request": request_digest(dialogue)})
            after, result = take_step(ASSIST, config, index, dialogue, running, run_dir=run_dir)
            where = {"run_dir": str(result.run_dir), "tokens": result.outcome.ledger.to_json()}
            if after.pending:
                raise _spent(result.outcome.stopped, result.run_dir)
            reply = after.replies[-1]
        else:
            reply = reply_in_memory(config, index, dialogue)
        if history is not None:
            replies = [*conversation.replies, reply]
            _keep(history, conversation.with_step(dialogue).with_replies(replies))
    print(line(reply, **where) if json else shown(reply), flush=True)


def _ask_in_session(
    text: str,
    config: AssistConfig,
    options: RunOptions,
    path: Path | None,
    *,
    remember: str | None,
    json: bool,
) -> None:
    async def go() -> None:
        async with Session.open(config, options, path, remember) as session:
            if (spent := session.spent) and path is not None:
                raise _spent(spent, path)
            reply = await session.turn(text)
            assert reply is not None, "something was said"
            where: dict[str, object] = {"tokens": session.ledger.to_json()}
            if path is not None:
                where = {"run_dir": str(path), **where}
        print(line(reply, **where) if json else shown(reply), flush=True)

    blocking(go)()


def _spent(stopped: str, path: Path) -> InputError:
    return InputError(
        say(f"返事の前に止まりました: {stopped}", f"stopped before the reply: {stopped}"),
        place=str(path),
        remedy=say(
            "予算を上げて、同じことをもう一度聞いてください",
            "raise the budget and ask the same again",
        ),
    )


def session_path(name: str) -> Path:
    """Where a conversation's run directory is. Raises `InputError` for a name that cannot be."""
    return place("conversations", name, option="--session")


def read_history(path: Path) -> Conversation:
    """The conversation in a file; an empty one if there is no file.

    Raises:
        InputError: it cannot be read, or holds something else.
    """
    try:
        if not path.exists():
            return Conversation()
        return Conversation.model_validate_json(read_text(path))
    except (OSError, ValidationError) as error:
        raise InputError(
            say("会話の記録ではありません", "no history of a conversation"),
            place=str(path),
            remedy=say(
                "新しいファイル名か、--history が書いたファイルを指定してください",
                "name a new file, or one that --history wrote",
            ),
        ) from error


def _keep(path: Path, conversation: Conversation) -> None:
    if not path.parent.is_dir():
        raise InputError(
            say("フォルダーがありません", "no such folder"),
            place=str(path.parent),
            remedy=say("先に作ってください", "make it first"),
        )
    data = conversation.model_dump(mode="json")
    write_atomically(path, jsons.dumps(data, ensure_ascii=False, indent=1) + "\n")


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


class Chat:
    """One conversation. name: it is kept, and goes on where it was left.

    answered, failed: turns so far.
    """

    def __init__(
        self,
        config: AssistConfig,
        options: RunOptions,
        *,
        name: str | None,
        remember: str | None,
        json: bool,
    ) -> None:
        self._config, self._options, self._json = config, options, json
        self._remember = remember
        self._path: Path | None = None
        if name is not None:
            self._path = session_path(name)
        elif config.models:
            self._path = Path("runs") / f"intent-chat-{datetime.now():%Y%m%d-%H%M%S-%f}"
        self._new = False
        self.answered = self.failed = 0

    def serve(self) -> None:
        """Until the person leaves."""
        blocking(self._serve)()

    async def _serve(self) -> None:
        async with Session.open(self._config, self._options, self._path, self._remember) as session:
            self._tell(_HELLO)
            if session.conversation.steps:
                self._tell(say("前回の続きです。", "Going on from last time."))
                if session.conversation.pending:
                    await self._turn(session, None)
                elif (last := session.conversation.last) is not None:
                    print(line(last) if self._json else shown(last), flush=True)
            while (text := self._hear()) is not None:
                if text in ("/quit", "/exit"):
                    break
                if text.startswith("/") and not text.startswith(NEW):
                    self._obey(session.conversation, text)
                elif told := too_long(text, MESSAGE):
                    self._tell(told)
                elif text:
                    new = NEW if self._new and not text.startswith(NEW) else ""
                    self._new = False
                    await self._turn(session, f"{new}{text}")

    async def _turn(self, session: Session, said: str | None) -> None:
        """One turn; a model's answer is shown sentence by sentence."""
        if session.spent:
            self._tell(say("予算に達しました。", "The budget is spent."))
            return
        released = Released(partial(print, end="", flush=True), visible)
        try:
            reply = await session.turn(said, show=None if self._json else released.show)
        except EffectFailed as failure:
            self.failed += 1
            self._tell(say(f"失敗しました: {failure}", f"Failed: {failure}"))
            return
        self.answered += 1
        if reply is not None:
            print(line(reply) if self._json else released.rest(shown(reply)), flush=True)

    def _obey(self, conversation: Conversation, command: str) -> None:
        if command == "/sources":
            print(sources(conversation.last), flush=True)
        elif command == "/new":
            self._new = True
            self._tell(say("新しい用件をどうぞ。", "A new request, please."))
        elif command in _SIGNS:
            path = place("feedback", self._config.user, option="--user", suffix=".jsonl")
            last = conversation.steps[-1] if conversation.steps else None
            about = last.utterance if last is not None else ""
            asked = len(last.exchanges) if last is not None else 0
            write_feedback(path, _SIGNS[command], about=about, asked=asked)
            self._tell(
                say(
                    "記録しました（naisei intent feedback --show で見られます）。",
                    "Noted; `naisei intent feedback --show` shows it.",
                )
            )
        else:
            self._tell(_HELP)

    def _tell(self, text: str) -> None:
        print(text, file=sys.stderr if self._json else sys.stdout, flush=True)

    def _hear(self) -> str | None:
        """What the person types; `None` when they leave (Ctrl-D)."""
        try:
            if sys.stdin.isatty():
                return input("> ").strip()
            return input().strip()
        except EOFError:
            return None


def line(reply: Reply, **more: object) -> str:
    """The reply as one line of JSON, with more fields beside its own."""
    return jsons.dumps({**reply.model_dump(mode="json"), **more}, ensure_ascii=False)
