"""A frozen configuration as a command line, a Python program or a title."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pprint import pformat
from typing import Any

from pydantic import ValidationError

from naisei.system.config import Flag, Options, flags_of
from naisei.system.registry import declared

#: Omitted keys: the experiment and the models have their own flags.
_APART = ("task", "models", "sampling")


def as_command(system: str, config: dict[str, Any]) -> str:
    """Return `naisei SYSTEM VERB …` with the flags that differ from their defaults; empty for a
    run without a command.

    File paths are those used when the run began.
    """
    experiment = declared(system, config)
    if experiment is None or not experiment.verb:
        return ""
    words = ["naisei", system, experiment.verb]
    for flag, value in _changed(experiment.config, config):
        words += _spelled(flag, value)
    models = {role: str(model) for role, model in (config.get("models") or {}).items()}
    if len(set(models.values())) == 1 and len(models) > 1:
        words += ["--model", next(iter(models.values()))]
    else:
        words += [word for role, model in models.items() for word in (f"--{role}-model", model)]
    for role, kept in (config.get("sampling") or {}).items():
        words += [w for key, v in kept.items() for w in ("--sampling", f"{role}.{key}={_text(v)}")]
    return shlex.join(words)


def _changed(declared: type[Options], config: dict[str, Any]) -> Iterator[tuple[Flag, Any]]:
    """Yield the flags whose values differ from their defaults."""
    for flag in flags_of(declared):
        value = flag.of(config)
        if flag.path[0] not in _APART and value is not None and value != _plain(flag.default):
            yield flag, value


def as_title(system: str, config: dict[str, Any]) -> str:
    """Return a short title of a run: the values of form fields that differ from their defaults.

    Empty if no system declares the configuration, or all values are defaults.
    """
    experiment = declared(system, config)
    flags = _changed(experiment.config, config) if experiment else ()
    return " · ".join(
        " ".join(_spelled(flag, value)).removeprefix("--")
        for flag, value in flags
        if flag.in_forms and flag.path != ("agent",)
    )


def option_words(options: Options) -> list[str]:
    """Return the flags of options that differ from their defaults."""
    changed = _changed(type(options), options.model_dump(mode="json"))
    return [word for flag, value in changed for word in _spelled(flag, value)]


def _spelled(flag: Flag, value: Any) -> list[str]:
    if flag.argument:
        return [_text(each) for each in (value if isinstance(value, list) else [value])]
    on, _, off = flag.option.partition("/")
    if flag.kind is bool and not flag.many:
        return [on] if value else [off or f"--no-{on[2:]}"]
    if flag.pairs:
        pairs = value.items() if isinstance(value, dict) else ()
        return [word for k, v in pairs for word in (on, f"{k}={_text(v)}")]
    if isinstance(value, list):
        return [word for each in value for word in (on, _text(each))]
    return [on, _text(value)]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def as_python(system: str, config: dict[str, Any]) -> str:
    """Return a Python program that runs the configuration; empty if no system declares it."""
    experiment = declared(system, config)
    if experiment is None:
        return ""
    try:
        made = experiment.config.model_validate(config)
    except ValidationError:
        return ""  # from another version
    fields = pformat(made.model_dump(mode="json", exclude_defaults=True), sort_dicts=False)
    return (
        "from naisei.system.registry import find_system\n\n"
        f"experiment = find_system({system!r}).experiment({experiment.task!r})\n"
        f"config = experiment.config.model_validate({fields})\n"
        "print(experiment.run(config).summary.metrics)\n"
    )
