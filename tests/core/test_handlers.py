"""All handlers have one signature: what is told besides would be lost in a wrapper."""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Iterator
from pathlib import Path

import naisei
from naisei.core import Chat, Handler, HandlerWrapper, Where, World, arun, user

FILES = sorted(Path(naisei.__file__).parent.rglob("*.py"))


def handlers(tree: ast.Module) -> Iterator[ast.ClassDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and any(
            isinstance(base, ast.Name) and base.id.endswith(("Handler", "HandlerWrapper"))
            for base in node.bases
        ):
            yield node


def faults(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Handlers whose `perform` takes more than (effect, where), calls that give more, and inner
    handlers whose type is unknown to mypy."""
    for kind in handlers(tree):
        for made in (n for n in kind.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)):
            plain = made.args.args[1:]
            if made.name == "perform" and (
                [arg.arg for arg in plain[1:]] != ["where"]
                or made.args.kwonlyargs
                or made.args.vararg
                or made.args.kwarg
            ):
                yield made.lineno, "perform(self, effect, where)"
            if made.name == "__init__":
                for arg in plain:
                    if arg.arg in ("inner", "handler", "gateway", "model", "game") and (
                        isinstance(arg.annotation, ast.Name) and arg.annotation.id == "Any"
                    ):
                        yield arg.lineno, f"{arg.arg}: Handler"
        for call in ast.walk(kind):
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and call.func.attr == "perform"
                and (len(call.args) != 2 or call.keywords)
            ):
                yield call.lineno, "perform(effect, where)"


def test_every_handler_takes_an_effect_and_a_place_and_nothing_else() -> None:
    texts = {path: path.read_text("utf-8") for path in FILES}
    found = {path: ast.parse(text) for path, text in texts.items() if "Handler" in text}
    assert sum(1 for tree in found.values() for _ in handlers(tree)) > 40
    wrong = [(path.name, *fault) for path, tree in found.items() for fault in faults(tree)]
    assert wrong == []


def test_a_wrapper_hands_on_all_that_the_effect_carries() -> None:
    class Telling(Handler):
        async def perform(self, effect: Chat[str], where: Where) -> str:
            assert effect.on_text is not None
            effect.on_text("途中")
            return "終わり"

    told: list[str] = []
    chat = Chat("agent", [user("?")], on_text=told.append)
    wrapped = HandlerWrapper(HandlerWrapper(Telling()))
    assert asyncio.run(arun(iter(chat), World({Chat: wrapped}))) == "終わり"
    assert told == ["途中"]
