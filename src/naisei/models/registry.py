"""Models by name, one for each role, and the world that performs Chat, Embed and Now."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from naisei import entries
from naisei.core import Chat, Embed, InputError, Now, Sampling, World
from naisei.lang import say
from naisei.models.base import ChatModel, ModelSettings

if TYPE_CHECKING:
    from naisei.models.pacing import Throttle

#: Entry-point group of providers. An entry is a `_Builder`.
GROUP = "naisei.providers"

#: From the part of the name after the colon, and settings, to a model. It raises
#: `InputError` where a key, an extra or a file is missing, and sends nothing.
_Builder = Callable[[str, ModelSettings], ChatModel]


def providers() -> dict[str, EntryPoint]:
    """Installed providers by name, other packages' among them (`naisei.entries.entries`)."""
    return entries.entries(GROUP)


def open_model(spec: str, settings: ModelSettings | None = None) -> ChatModel:
    """The model called `provider:name`, e.g. `openai:gpt-4.1-mini` or `scripted:rules.jsonl`.

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
        build = cast(_Builder, known[provider].load())
        return build(name, settings or ModelSettings())
    except ImportError as error:
        origin = known[provider].value
        extra = f"pip install 'naisei[{provider}]'"
        again = say(
            f"これを提供するパッケージを入れ直してください: {origin}",
            f"reinstall the package that brings it: {origin}",
        )
        raise InputError(
            say(
                f"プロバイダー {provider!r} を読み込めません: {error}",
                f"the provider {provider!r} cannot be loaded: {error}",
            ),
            place=f"model {spec!r}",
            remedy=extra if origin.startswith("naisei.") else again,
        ) from error


@dataclass(frozen=True)
class Roles:
    """A default model, and others for some roles; sampling parameters likewise.

    default may be `None` where nothing but the named roles calls a model. sampling_of: laid
    over `sampling`, role by role.
    """

    default: ChatModel | None = None
    models: Mapping[str, ChatModel] = field(default_factory=dict)
    sampling: Sampling = Sampling()
    sampling_of: Mapping[str, Sampling] = field(default_factory=dict)

    def model(self, role: str) -> ChatModel:
        """Raises `InputError` if nobody plays `role`."""
        found = self.models.get(role, self.default)
        if found is None:
            raise _no_model(role)
        return found

    def sampling_for(self, role: str, asked: Sampling) -> Sampling:
        """What the effect asks for, over the role's, over everyone's."""
        return asked.over(self.sampling_of.get(role, Sampling()).over(self.sampling))

    def all(self) -> list[ChatModel]:
        """Each model once."""
        every = [m for m in (self.default, *self.models.values()) if m is not None]
        return list({id(m): m for m in every}.values())


def open_roles(
    default: str | None,
    per_role: Mapping[str, str] | None = None,
    *,
    settings: ModelSettings | None = None,
    sampling: Sampling = Sampling(),
    sampling_of: Mapping[str, Sampling] | None = None,
) -> Roles:
    """Open the models by name; roles that name the same model share it, and its limits.

    Raises:
        InputError: as `open_model`.
    """
    opened: dict[str, ChatModel] = {}
    for spec in [default, *(per_role or {}).values()]:
        if spec is not None and spec not in opened:
            opened[spec] = open_model(spec, settings)
    return Roles(
        opened[default] if default is not None else None,
        {role: opened[spec] for role, spec in (per_role or {}).items()},
        sampling,
        sampling_of or {},
    )


@asynccontextmanager
async def base_world(
    models: Mapping[str, str],
    *,
    settings: ModelSettings | None = None,
    sampling_of: Mapping[str, Sampling] | None = None,
    embedder: str = "auto",
    cache: Path | None = None,
    resends_of: Mapping[str, int] | None = None,
    throttle: Callable[[str, ModelSettings], Throttle] | None = None,
) -> AsyncIterator[World]:
    """A world that performs Chat, Embed and Now, closed on leaving.

    Args:
        models: role → `provider:name`. A role that is not named has no model.
        sampling_of: role → sampling parameters.
        embedder: opened when first needed.
        resends_of: role → identical requests after a reply that is no answer; see `Gateway`.
        throttle: see `Gateway`.

    Raises:
        InputError: a model cannot be opened, or (later) a role without a model is called.
    """
    from naisei.models.embedders import EmbedHandler, open_embedder  # it brings numpy

    embed = EmbedHandler(lambda: open_embedder(embedder))
    if not models:
        yield World({Chat: _refused, Embed: embed, Now: _now})
        return
    # The model stack takes a second to import; agents without a model do without it.
    from naisei.models.cache import ReplyCache
    from naisei.models.gateway import Gateway

    roles = open_roles(None, models, settings=settings, sampling_of=sampling_of)
    gateway = Gateway(
        roles,
        settings=settings,
        cache=ReplyCache(cache) if cache is not None else None,
        resends_of=resends_of,
        throttle=throttle,
    )
    try:
        yield World({Chat: gateway, Embed: embed, Now: _now})
    finally:
        await gateway.aclose()


def _no_model(role: str) -> InputError:
    return InputError(
        say(f"役割 {role!r} のモデルが指定されていません", f"no model for the role {role!r}"),
        remedy=say(
            f"--model PROVIDER:NAME か --{role}-model PROVIDER:NAME を付けてください",
            f"give --model PROVIDER:NAME or --{role}-model PROVIDER:NAME",
        ),
    )


def _refused(effect: Chat[Any]) -> Any:
    raise _no_model(effect.role)


def _now(effect: Now) -> datetime:
    return datetime.now(UTC)
