"""Model names: `provider:name` to a chat model, by the entry points `naisei.providers`."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from typing import cast

from naisei.core import InputError
from naisei.lang import say
from naisei.models.base import ChatModel
from naisei.models.settings import ModelSettings

__all__ = ["GROUP", "Builder", "open_model", "providers"]

#: Entry-point group of providers. An entry is a `Builder`.
GROUP = "naisei.providers"

#: From the part of the name after the colon, and settings, to a model. It raises
#: `InputError` where a key, an extra or a file is missing, and sends nothing.
Builder = Callable[[str, ModelSettings], ChatModel]


def providers() -> dict[str, EntryPoint]:
    """Installed providers by name, other packages' among them; the first of a name counts."""
    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=GROUP):
        found.setdefault(entry.name, entry)
    return dict(sorted(found.items()))


def open_model(spec: str, settings: ModelSettings | None = None) -> ChatModel:
    """The model called `provider:name`, e.g. `openai:gpt-4.1-mini` or `scripted:rules.toml`.

    Raises:
        InputError: an unknown provider, a missing extra or key, or an unusable name.
    """
    provider, colon, name = spec.partition(":")
    known = providers()
    if not colon or provider not in known:
        raise InputError(
            say(
                f"{provider!r} というプロバイダーはありません"
                if colon
                else "モデルは PROVIDER:NAME の形で指定します",
                f"unknown provider {provider!r}" if colon else "a model is named PROVIDER:NAME",
            ),
            place=f"model {spec!r}",
            remedy=say(
                f"使えるもの: {', '.join(known)}。パッケージからは、グループ {GROUP} の"
                "エントリポイントに関数 (name, settings) -> ChatModel を登録すると足せます",
                f"known providers: {', '.join(known)}; a package adds one by an entry point "
                f"of the group {GROUP}: a function (name, settings) -> ChatModel",
            ),
        )
    try:
        build = cast(Builder, known[provider].load())
    except ImportError as error:
        raise InputError(
            say(
                f"プロバイダー {provider!r} を読み込めません: {error}",
                f"the provider {provider!r} cannot be loaded: {error}",
            ),
            place=f"model {spec!r}",
            remedy=say(
                f"これを提供するパッケージを入れ直してください: {known[provider].value}",
                f"reinstall the package that brings it: {known[provider].value}",
            ),
        ) from error
    return build(name, settings or ModelSettings())
