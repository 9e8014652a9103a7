"""What a declaration can say of its flags, from the command line to the configuration."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from naisei.cli.derived import command_of, group_of
from naisei.cli.flags import Flags
from naisei.core import InputError
from naisei.system.config import Config, Options, flag
from naisei.system.declare import Experiment, RawOptions, System, Verb


class Tea(Config):
    who: tuple[str, ...] = flag((), "誰が", "Who drinks.", more=True, metavar="NAME")
    since: datetime | None = flag(None, "いつから", "Since when.", formats=("%Y-%m-%d",))
    cups: int = flag(2, "杯数", "Cups.", ge=1)
    workers: int = flag(1, "並列数", "Processes.", ge=1, exclude=True)
    sweet: bool = flag(True, "砂糖を入れる", "With sugar.")
    lumps: int = flag(1, "砂糖の数", "Lumps.", needs="sweet", ge=1)


class Shop(Options):
    thrifty: bool = flag(False, "節約する", "One cup less.", name="--thrifty")


class Loaded(Exception):
    """The configuration that a command arrived at."""


def _settle(given: RawOptions) -> dict[str, Any]:
    values = dict(given.values)
    if values.pop("thrifty", False):
        values["cups"] = values.get("cups", 2) - 1
    return values


def _load(config: Tea) -> Any:
    raise Loaded(config)


POUR = Experiment(
    about=("注ぐ", "Pour."), config=Tea, load=_load, inputs=Shop, settle=_settle, roles=()
)
HIDDEN = Experiment(verb="", task="hidden", about=("なし", "None."), config=Tea, load=_load)
asked: list[Tea] = []


def ask(config: Tea, options: Any) -> None:
    asked.append(config)


TEA = System(
    name="tea",
    about=("お茶", "Tea."),
    experiments=(POUR, HIDDEN),
    verbs=(Verb("ask", ("聞く", "Ask."), f"{__name__}:ask", shares=HIDDEN, flags=("cups",)),),
)


def made(*words: str) -> Tea:
    with pytest.raises(Loaded) as stopped:
        command_of(TEA, "run").main(list(words), standalone_mode=False)
    config: Tea = stopped.value.args[0]
    return config


def test_arguments_are_more_values_of_a_flag_that_may_be_repeated() -> None:
    assert made().who == ()
    assert made("--who", "花", "太郎", "次郎").who == ("花", "太郎", "次郎")
    assert made("太郎").who == ("太郎",)


def test_a_date_is_taken_in_the_forms_declared_and_no_other() -> None:
    assert made("--since", "2026-04-01").since == datetime(2026, 4, 1)
    with pytest.raises(Exception, match="%Y-%m-%d"):
        command_of(TEA, "run").main(["--since", "1.4.2026"], standalone_mode=False)


def test_inputs_are_flags_of_which_settle_makes_fields() -> None:
    assert made("--thrifty").cups == 1
    assert made("--thrifty", "--cups", "5").cups == 4
    assert "thrifty" not in made("--thrifty").model_dump()
    with pytest.raises(InputError) as refused:  # at the flag whose field does not fit
        command_of(TEA, "run").main(["--thrifty", "--cups", "1"], standalone_mode=False)
    assert refused.value.place == "--cups"


def test_what_changes_no_result_is_a_flag_and_not_frozen() -> None:
    config = made("--workers", "4")
    assert config.workers == 4 and "workers" not in config.model_dump()
    assert config.model_dump() == made().model_dump()


def test_an_experiment_without_a_command_is_started_by_its_verb() -> None:
    assert TEA.experiment("hidden") is HIDDEN
    assert set(group_of(TEA).commands) == {"run", "ask"}
    command_of(TEA, "ask").main(["--cups", "3"], standalone_mode=False)
    assert asked[-1].cups == 3
    assert set(Flags(HIDDEN, only=("cups",)).fields) == {"cups"}


@pytest.mark.parametrize(("sweet", "told"), [(True, ""), (False, "--lumps has no effect here\n")])
def test_a_flag_without_what_it_needs_is_told(
    sweet: bool, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Flags(POUR).configs({"sweet": sweet, "lumps": 2})
    Flags(POUR).configs({"sweet": sweet})
    assert capsys.readouterr().err == told
