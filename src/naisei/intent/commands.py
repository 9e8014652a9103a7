"""What `naisei intent ask` does, once the flags are read."""

from __future__ import annotations

import json as jsons
from pathlib import Path

from pydantic import ValidationError

from naisei.core import InputError, fingerprint
from naisei.files import write_atomically
from naisei.intent.cli.show import line, shown
from naisei.intent.config import AssistConfig
from naisei.intent.execute import Session, in_directory, in_memory, request_digest, standing_of
from naisei.intent.places import place
from naisei.intent.sitting import Standing
from naisei.lang import say
from naisei.retrieval.index import Index

__all__ = ["ask", "read_history", "session_path"]


def ask(
    text: str,
    config: AssistConfig,
    session: Session,
    *,
    name: str | None = None,
    history: Path | None = None,
    new: bool = False,
    run_dir: Path | None = None,
    json: bool = False,
) -> int:
    """One step: prints the question back or the answer; returns the exit code."""
    if not text.strip():
        raise InputError(
            say("質問が空です", "the question is empty"),
            place="TEXT",
            remedy=say("調べたいことを書いてください", "write what to look up"),
        )
    if name is not None and (history is not None or run_dir is not None):
        raise InputError(
            say(
                "--session の会話には決まった置き場所があります", "a sitting has a place of its own"
            ),
            place="--session",
            remedy=say(
                "--history や --run-dir と一緒に使わないでください",
                "give it without --history and --run-dir",
            ),
        )
    path = session_path(name) if name is not None else run_dir
    with Index.open(Path(config.index)) as index:
        standing = read_history(history) if history else Standing()
        if name is not None:
            standing = standing_of(session_path(name))
            if len(standing.steps) > len(standing.replies):
                standing, _ = in_directory(config, index, None, session, run_dir=path)
                # The same words again are the step that was cut off.
                if standing.steps[-1].said[-1] == text.strip() and standing.last is not None:
                    print(line(standing.last) if json else shown(standing.last), flush=True)
                    return 0
        dialogue = standing.next(text, new=new)
        where: dict[str, object] = {}
        if config.models or path is not None:
            digest = ""
            if name is None:
                config = config.model_copy(update={"request": request_digest(dialogue)})
                digest = fingerprint([config.index, index.generation])
            after, result = in_directory(
                config, index, dialogue, session, run_dir=path, data_hash=digest
            )
            where = {"run_dir": str(result.run_dir), "tokens": result.outcome.ledger.to_json()}
            if len(after.replies) < len(after.steps):
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
            reply = in_memory(config, index, dialogue, session)
        if history is not None:
            after = standing.with_step(dialogue).with_replies([*standing.replies, reply])
            _keep(history, after)
    print(line(reply, **where) if json else shown(reply), flush=True)
    return 0


def session_path(name: str) -> Path:
    """Where a sitting's run directory is. Raises `InputError` for a name that cannot be."""
    return place("sittings", name, option="--session")


def read_history(path: Path) -> Standing:
    """The sitting in a file; an empty one if there is no file.

    Raises:
        InputError: it cannot be read, or holds something else.
    """
    try:
        return Standing.model_validate_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Standing()
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        raise InputError(
            say("会話の記録ではありません", "no history of a sitting"),
            place=str(path),
            remedy=say(
                "新しいファイル名か、--history が書いたファイルを指定してください",
                "name a new file, or one that --history wrote",
            ),
        ) from error


def _keep(path: Path, standing: Standing) -> None:
    if not path.parent.is_dir():
        raise InputError(
            say("フォルダーがありません", "no such folder"),
            place=str(path.parent),
            remedy=say("先に作ってください", "make it first"),
        )
    data = standing.model_dump(mode="json")
    write_atomically(path, jsons.dumps(data, ensure_ascii=False, indent=1) + "\n")
