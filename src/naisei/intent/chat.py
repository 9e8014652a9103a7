"""`naisei intent ask` and `naisei intent chat`: a conversation at the terminal.

In `chat`, numbers choose topics, and commands begin with a slash.
"""

from __future__ import annotations

import json as jsons
import sys
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from naisei.core import InputError, InstrumentFailure
from naisei.files import write_atomically
from naisei.intent.config import AssistConfig
from naisei.intent.dialogue import Conversation, Dialogue
from naisei.intent.feedback import Sign, place, write_feedback
from naisei.intent.schemas import Citation, Reply
from naisei.intent.system import ASSIST
from naisei.intent.task import conversation_in, reply_in_memory, request_digest, take_step
from naisei.lang import say
from naisei.lengths import MESSAGE, bounded, too_long
from naisei.retrieval.index import Index
from naisei.runs.result import RunResult
from naisei.system.config import Printed, flag
from naisei.system.execute import RunOptions
from naisei.terminal import visible

__all__ = ["Chat", "ask", "ask_command", "chat_command", "line", "run_fields", "shown", "sources"]


class ChatOptions(Printed):
    """Flags of `naisei intent chat`."""

    session: str | None = flag(
        None,
        "この名前の会話を続ける",
        "Go on with the conversation of this name.",
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
        history=asked.history,
        new=asked.new,
        run_dir=asked.run_dir,
        json=asked.as_json,
    )


def chat_command(config: AssistConfig, running: RunOptions, *, chat: ChatOptions) -> None:
    """`naisei intent chat`."""
    Chat(config, running, name=chat.session, json=chat.as_json).serve()


def ask(
    text: str,
    config: AssistConfig,
    running: RunOptions,
    *,
    name: str | None = None,
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
    if name is not None and (history is not None or run_dir is not None):
        raise InputError(
            say(
                "--session の会話には決まった置き場所があります",
                "a conversation with a name has a place of its own",
            ),
            place="--session",
            remedy=say(
                "--history や --run-dir と一緒に使わないでください",
                "give it without --history and --run-dir",
            ),
        )
    path = session_path(name) if name is not None else run_dir
    with Index.open(config.index) as index:
        conversation = read_history(history) if history else Conversation()
        if name is not None:
            conversation = conversation_in(session_path(name))
            if conversation.pending:
                conversation, _ = take_step(ASSIST, config, index, None, running, run_dir=path)
                # The same words again are the step that was cut off.
                last = conversation.last
                if conversation.steps[-1].said[-1] == text.strip() and last is not None:
                    print(line(last) if json else shown(last), flush=True)
                    return
        dialogue = conversation.next(text, new=new)
        where: dict[str, object] = {}
        if config.models or path is not None:
            if name is None:
                config = config.model_copy(update={"request": request_digest(dialogue)})
            after, result = take_step(ASSIST, config, index, dialogue, running, run_dir=path)
            where = run_fields(result)
            if after.pending:
                raise InputError(
                    say(
                        f"返事の前に止まりました: {result.outcome.stopped}",
                        f"stopped before the reply: {result.outcome.stopped}",
                    ),
                    place=str(result.run_dir),
                    remedy=say(
                        "予算を上げて、同じことをもう一度聞いてください",
                        "raise the budget and ask the same again",
                    ),
                )
            reply = after.replies[-1]
        else:
            reply = reply_in_memory(config, index, dialogue)
        if history is not None:
            replies = [*conversation.replies, reply]
            _keep(history, conversation.with_step(dialogue).with_replies(replies))
    print(line(reply, **where) if json else shown(reply), flush=True)


def session_path(name: str) -> Path:
    """Where a conversation's run directory is. Raises `InputError` for a name that cannot be."""
    path = place("conversations", name, option="--session")
    # Those of before version 0.1 are in a folder of another name.
    old = place("sittings", name, option="--session")
    return old if old.exists() and not path.exists() else path


def read_history(path: Path) -> Conversation:
    """The conversation in a file; an empty one if there is no file.

    Raises:
        InputError: it cannot be read, or holds something else.
    """
    try:
        return Conversation.model_validate_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Conversation()
    except (OSError, UnicodeDecodeError, ValidationError) as error:
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
    """One conversation. name: it is kept, and goes on where it was left."""

    def __init__(
        self, config: AssistConfig, options: RunOptions, *, name: str | None, json: bool
    ) -> None:
        self._config, self._options, self._json = config, options, json
        self._path: Path | None = session_path(name) if name is not None else None
        self._conversation = (
            conversation_in(self._path) if self._path is not None else Conversation()
        )
        self._new = False

    def serve(self) -> None:
        """Until the person leaves."""
        with Index.open(self._config.index) as index:
            self._tell(_HELLO)
            self._resume(index)
            while (text := self._hear()) is not None:
                if text.startswith("/"):
                    if text in ("/quit", "/exit"):
                        break
                    self._obey(text)
                elif told := too_long(text, MESSAGE):
                    self._tell(told)
                elif text:
                    self._step(index, text)

    def _resume(self, index: Index) -> None:
        """Finish a step that was cut off, and show where the conversation stands."""
        conversation = self._conversation
        if self._path is not None and conversation.pending:
            self._conversation, _ = take_step(
                ASSIST, self._config, index, None, self._options, run_dir=self._path
            )
        if (last := self._conversation.last) is not None:
            self._tell(say("前回の続きです。", "Going on from last time."))
            self._answer(last)

    def _step(self, index: Index, text: str) -> None:
        dialogue = self._conversation.next(text, new=self._new)
        self._new = False
        try:
            reply = self._reply(index, dialogue)
        except InstrumentFailure as failure:
            self._tell(say(f"失敗しました: {failure}", f"Failed: {failure}"))
            return
        if reply is None:
            self._tell(say("予算に達しました。", "The budget is spent."))
            return
        self._answer(reply)

    def _reply(self, index: Index, dialogue: Dialogue) -> Reply | None:
        if self._path is None and not self._config.models:
            reply = reply_in_memory(self._config, index, dialogue)
            replies = [*self._conversation.replies, reply]
            self._conversation = self._conversation.with_step(dialogue).with_replies(replies)
            return reply
        path = self._path or self._own()
        after, _ = take_step(ASSIST, self._config, index, dialogue, self._options, run_dir=path)
        self._path, self._conversation = path, after
        return None if after.pending else after.last

    def _own(self) -> Path:
        """A run directory for a conversation without a name."""
        return Path("runs") / f"intent-chat-{datetime.now():%Y%m%d-%H%M%S-%f}"

    def _obey(self, command: str) -> None:
        if command == "/sources":
            print(sources(self._conversation.last), flush=True)
        elif command == "/new":
            self._new = True
            self._tell(say("新しい用件をどうぞ。", "A new request, please."))
        elif command in _SIGNS:
            path = place("feedback", self._config.user, option="--user", suffix=".jsonl")
            last = self._conversation.steps[-1] if self._conversation.steps else None
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

    def _answer(self, reply: Reply) -> None:
        print(line(reply) if self._json else shown(reply), flush=True)

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


def run_fields(result: RunResult) -> dict[str, object]:
    """What the JSON of a reply tells of its run."""
    return {"run_dir": str(result.run_dir), "tokens": result.outcome.ledger.to_json()}


def shown(reply: Reply) -> str:
    """What a person reads: the message and its sources, safe for a terminal."""
    lines = [reply.message, *map(_source, reply.citations)]
    if reply.unsupported:
        count = len(reply.unsupported)
        lines.append(
            say(
                f"（出典で確認できない文が {count} つありました）",
                f"({count} sentences were not borne out by the sources.)",
            )
        )
    lines += [say(f"（失敗: {why}）", f"(Failed: {why})") for why in reply.failures]
    return visible("\n".join(lines))


def sources(reply: Reply | None) -> str:
    """The sources with what is quoted of them."""
    if reply is None or not reply.citations:
        return say("出典はありません。", "There are no sources.")
    return visible("\n".join(f"{_source(c)}\n{_indented(c.quote)}" for c in reply.citations))


def _source(c: Citation) -> str:
    where = " › ".join(h for h in c.headings if h != c.title)
    page = say(f" {c.page} ページ", f" p. {c.page}") if c.page is not None else ""
    date = f" ({c.date})" if c.date else ""
    return f"  [{c.n}] {c.path}{page}{date} {where}".rstrip()


def _indented(text: str) -> str:
    return "\n".join(f"      {row}" for row in text.split("\n"))
