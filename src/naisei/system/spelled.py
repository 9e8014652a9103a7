"""A frozen configuration as a command line or a Python program."""

from __future__ import annotations

import json
import shlex
from pprint import pformat
from typing import Any

from pydantic import ValidationError

from naisei.system.config import Flag, Options, flags_of
from naisei.system.registry import declared

#: Keys left out: the experiment and the models have flags of their own.
_APART = ("task", "models", "sampling")


def as_command(system: str, config: dict[str, Any]) -> str:
    """`naisei SYSTEM VERB …` with the flags that differ from their defaults; empty for a run
    without a command.

    Files stand in it as they did when the run began.
    """
    experiment = declared(system, config)
    if experiment is None or not experiment.verb:
        return ""
    words = ["naisei", system, experiment.verb]
    for flag in flags_of(experiment.config):
        value = flag.of(config)
        if flag.path[0] in _APART or value == _plain(flag.default) or value is None:
            continue
        words += _spelled(flag, value)
    models = {role: str(model) for role, model in (config.get("models") or {}).items()}
    if len(set(models.values())) == 1 and len(models) > 1:
        words += ["--model", next(iter(models.values()))]
    else:
        words += [word for role, model in models.items() for word in (f"--{role}-model", model)]
    for role, kept in (config.get("sampling") or {}).items():
        words += [w for key, v in kept.items() for w in ("--sampling", f"{role}.{key}={_text(v)}")]
    return shlex.join(words)


def option_words(options: Options) -> list[str]:
    """The flags of options that differ from their defaults."""
    given = options.model_dump(mode="json")
    values = ((flag, flag.of(given)) for flag in flags_of(type(options)))
    told = ((f, v) for f, v in values if v is not None and v != _plain(f.default))
    return [word for flag, value in told for word in _spelled(flag, value)]


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
    """A Python program that runs the configuration; empty if no system declares it."""
    experiment = declared(system, config)
    if experiment is None:
        return ""
    try:
        made = experiment.config.model_validate(config)
    except ValidationError:
        return ""  # of another version
    fields = pformat(made.model_dump(mode="json", exclude_defaults=True), sort_dicts=False)
    return (
        "from naisei.system.registry import find_system\n\n"
        f"experiment = find_system({system!r}).experiment({experiment.task!r})\n"
        f"config = experiment.config.model_validate({fields})\n"
        "print(experiment.run(config).summary.metrics)\n"
    )
