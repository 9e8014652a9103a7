"""`naisei.toml`: defaults of flags, and named sets of them.

    [defaults]                    # always
    model = "openai:gpt-5-nano"
    max-usd = 2.0

    [defaults.clarify.run]        # of one command; nested as the commands are
    agent = ["bayes", "llm"]

    [profiles.local]              # with `naisei --profile local …`, over the defaults
    model = "local:"

Precedence: command line, environment, file, built-in default. The file is `NAISEI_CONFIG`, else
`naisei.toml` in the working directory, else in the user's configuration folder. It never supplies
API keys, and no key is sent to an address from it.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from naisei.lang import say

if TYPE_CHECKING:
    from naisei.core import InputError

_NAME = "naisei.toml"
#: Flags shared by all commands; all others belong to a command's own table.
_COMMON = frozenset(
    {"base_url", "cache", "concurrency", "embedder", "index", "max_minutes", "max_output_tokens"}
    | {"max_tokens", "max_usd", "model", "quiet", "requests_per_minute", "run_dir", "seed"}
    | {"store", "structured", "temperature", "timeout", "tokens_per_minute"}
)
#: Flags of `naisei` itself and of its groups, as opposed to sub-commands.
_OF_GROUPS = frozenset(
    {"debug", "help", "install_completion", "language", "profile", "show_completion", "version"}
)
Table = Mapping[str, Any]


class Defaults(dict[str, Any]):
    """Flag (`max_usd`) → its default. `get` also gives the `Defaults` of a sub-command.

    layers: tables of the command; later ones override earlier ones. common: flags of all commands.
    place: location of the tables. level: 0 for `naisei`, 1 for `naisei clarify`, and so on. own:
    the flags in the tables of this command itself.
    """

    def __init__(
        self, layers: Sequence[Table], common: Table, place: str = "", level: int = 0
    ) -> None:
        flags = [{k: v for k, v in layer.items() if not _is_table(v)} for layer in layers]
        self.own = {k.replace("-", "_"): v for layer in flags for k, v in layer.items()}
        super().__init__({**common, **self.own} if level else {})
        self.place, self._layers, self._common, self._level = place, layers, common, level

    def get(self, name: str, default: Any = None) -> Any:
        """Called by click for both flags and sub-commands."""
        if name in self:
            return self[name]
        tables = [layer[name] for layer in self._layers if _is_table(layer.get(name))]
        group = self._level < 2  # `naisei` and `naisei clarify`
        if name in _OF_GROUPS or not (tables or group):
            return default
        return Defaults(tables, self._common, f"{self.place}.{name}", self._level + 1)


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)


def _config_file() -> Path | None:
    """Return the config file in effect, or `None`. A named file must exist."""
    if named := os.environ.get("NAISEI_CONFIG"):
        return Path(named)
    import platformdirs

    places = (Path(_NAME), platformdirs.user_config_path("naisei") / _NAME)
    return next((path for path in places if path.is_file()), None)


def defaults(profile: str | None) -> Defaults | None:
    """Return the defaults of a profile; without one, only `[defaults]`; `None` without a file.

    Raises:
        InputError: unknown file or profile, invalid TOML, or an unknown key.
    """
    path = _config_file()
    if path is None:
        if profile is None:
            return None
        raise _input_error(
            say(f"{_NAME} がありません", f"there is no {_NAME}"),
            f"--profile {profile}",
            say(
                f"[profiles.{profile}] のある {_NAME} をここに置くか、"
                "NAISEI_CONFIG で指定してください",
                f"put a {_NAME} with [profiles.{profile}] here, or name one in NAISEI_CONFIG",
            ),
        )
    from naisei.text_files import read_text, toml_of

    try:
        found = toml_of(read_text(path))
    except ValueError as error:
        raise _input_error(
            say(f"TOML として読めません: {error}", f"is no TOML: {error}"), str(path)
        ) from error
    profiles, layers = found.get("profiles", {}), [found.get("defaults", {})]
    if not all(map(_is_table, [profiles, *layers])):
        raise _input_error(
            say(
                "[defaults] と [profiles.名前] はテーブルです",
                "[defaults] and [profiles.NAME] are tables",
            ),
            str(path),
        )
    if unknown := set(found) - {"defaults", "profiles"}:
        raise _unknown(sorted(unknown)[0], str(path), ("defaults", "profiles"))
    if profile is not None:
        if profile not in profiles:
            raise _unknown(profile, f"{path} [profiles]", tuple(profiles))
        layers.append(profiles[profile] if _is_table(profiles[profile]) else {})
    common: dict[str, Any] = {}
    for layer in layers:
        for key, value in layer.items():
            name = key.replace("-", "_")
            if _is_table(value):
                continue
            if name not in _COMMON and not name.endswith("_model"):
                raise _unknown(key, str(path), sorted(_COMMON))
            common[name] = value
    tables = [{k: v for k, v in layer.items() if _is_table(v)} for layer in layers]
    return Defaults(tables, common, f"{path} {profile or 'defaults'}")


def fit(given: Any, name: str, repeatable: Collection[str]) -> None:
    """Pass a sub-command its defaults, wrapping a single value of a repeatable flag in a list."""
    if isinstance(given, Defaults):
        own = given[name] = given.get(name)
        own |= {k: [own[k]] for k in repeatable if k in own and not isinstance(own[k], list)}


def refuse_unknown(given: Any, flags: Collection[str]) -> None:
    """Raises `InputError` if the table of a command names a flag that the command does not have."""
    if isinstance(given, Defaults) and (unknown := sorted(set(given.own) - {*flags})):
        raise _unknown(unknown[0], given.place, sorted(flags))


def _unknown(key: str, place: str, known: Collection[str]) -> InputError:
    return _input_error(
        say(f"'{key}' は使えません", f"unknown: '{key}'"),
        place,
        say("使えるもの: ", "known: ") + (", ".join(known) or "–"),
    )


def _input_error(message: str, place: str, remedy: str = "") -> InputError:
    from naisei.core import InputError  # not needed for `naisei --help`

    return InputError(message, place=place, remedy=remedy)
