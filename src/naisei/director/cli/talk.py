"""`naisei director talk`."""

from __future__ import annotations

import typer
from pydantic import ValidationError

from naisei.cli import options
from naisei.cli.grouped import grouped
from naisei.cli.groups import Endpoint, Sitting
from naisei.core import InputError
from naisei.director.cli import flags

__all__ = ["command"]


@grouped
def command(
    topic: flags.Topic = "",
    scene: flags.Scene = "",
    turns: flags.Turns = 8,
    talks: flags.Talks = 1,
    character: flags.Cast = None,
    retries: flags.Retries = 2,
    policy: flags.Policy = "best",
    judge: flags.Judge = True,
    repeats: flags.Repeats = 1,
    margin: flags.Margin = 0.1,
    talk: flags.Talk = "ja",
    model: flags.Model = None,
    speaker_model: flags.SpeakerModel = None,
    judge_model: flags.JudgeModel = None,
    temperature: flags.Temperature = None,
    max_output_tokens: flags.OutputTokens = None,
    seed: options.Seed = 0,
    *,
    endpoint: Endpoint,
    sitting: Sitting,
) -> None:
    # The other commands do not wait for what only a talk needs.
    from naisei.director.commands import carry_out
    from naisei.director.config import TalkConfig
    from naisei.director.execute import Session
    from naisei.director.judge import Judging
    from naisei.director.rules import TalkRules
    from naisei.lengths import FIELD, bounded

    for text, option in ((topic, "--topic"), (scene, "--scene")):
        bounded(text, FIELD, place=option)
    named = {
        "speaker": speaker_model or model,
        **({"judge": judge_model or model} if judge else {}),
    }
    given = {"temperature": temperature, "max_tokens": max_output_tokens}
    sampling = {name: value for name, value in given.items() if value is not None}
    try:
        config = TalkConfig(
            topic=topic,
            scene=scene,
            turns=turns,
            talks=talks,
            cast=tuple(character or ("yana", "ayu")),
            rules=TalkRules(
                retries=retries,
                policy=policy,
                judging=Judging(repeats=repeats, margin=margin) if judge else None,
                language=talk,
            ),
            models={role: name for role, name in named.items() if name},
            sampling={"speaker": sampling} if sampling else {},
            seed=seed,
        )
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(first["msg"], place=f"--{first['loc'][0]}") from error
    session = Session(
        settings=endpoint.settings(sitting.concurrency),
        concurrency=sitting.concurrency,
        budget=sitting.budget,
        cache=sitting.cache,
        quiet=sitting.quiet,
    )
    raise typer.Exit(carry_out(config, session, run_dir=sitting.run_dir, json=sitting.json))
