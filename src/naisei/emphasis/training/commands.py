"""What `naisei emphasis train` does, once the flags are read."""

from __future__ import annotations

import json as jsonlib
from pathlib import Path
from time import monotonic
from typing import Any

from naisei.core import InputError
from naisei.emphasis.corpus.store import load_corpus
from naisei.emphasis.evaluation.recipes import recipe
from naisei.emphasis.evaluation.specs import parsed
from naisei.emphasis.schemas import Article
from naisei.emphasis.taggers import stack
from naisei.emphasis.taggers.learning import train as train_crf
from naisei.emphasis.taggers.neural.course import Point
from naisei.emphasis.taggers.neural.plan import NeuralPlan
from naisei.emphasis.taggers.plan import CrfPlan
from naisei.emphasis.taggers.stack import StackPlan
from naisei.emphasis.taggers.store import save as save_crf
from naisei.emphasis.training.parts import set_aside
from naisei.emphasis.training.small import small as made_small
from naisei.lang import say
from naisei.terminal import Console

__all__ = ["train_command"]


def train_command(
    corpus: Path,
    spec: str,
    out: Path,
    *,
    dev: int,
    seed: int,
    device: str,
    small: bool | None,
    quiet: bool,
    json: bool,
) -> int:
    """Train a tagger and print where it is.

    small: settings for a processor; `None` for where there is no GPU. What `spec` sets itself
    stays as it says.
    """
    name, options = parsed(spec)
    plan = getattr(recipe(name, options), "plan", None)
    if not isinstance(plan, CrfPlan | NeuralPlan | StackPlan):
        raise InputError(
            say(f"'{name}' は学習しません", f"'{name}' does not learn"),
            place="--tagger",
            remedy=say("crf、crf-context、transformer-… などを指定", "crf, transformer-…, …"),
        )
    learn, aside = set_aside(load_corpus(corpus), dev, seed=seed)
    console = Console(stderr=True, quiet=quiet)
    began = monotonic()
    if isinstance(plan, NeuralPlan):
        plan = _sized(plan, set(options), small, device)
        result = _neural(plan, learn, aside, out, seed, device, console)
    elif isinstance(plan, StackPlan):
        made = stack.train(learn, aside, plan=plan, seed=seed, folder=out / "training")
        stack.save(made, out)
        result = {"model": str(out), "name": plan.name}
    else:
        path = out if out.suffix == ".npz" else out / "tagger.npz"
        save_crf(train_crf(learn, aside, plan=plan), path)
        result = {"model": str(path), "name": plan.name}
    result |= {
        "articles": len(learn),
        "dev_articles": len(aside),
        "seconds": round(monotonic() - began, 1),
    }
    if json:
        print(jsonlib.dumps(result, ensure_ascii=False))
    else:
        console.print(
            say(
                f"学習済み: {result['model']} ({result['name']}、{result['seconds']} 秒)",
                f"Trained: {result['model']} ({result['name']}, {result['seconds']} s)",
            ),
        )
    return 0


def _sized(plan: NeuralPlan, own: set[str], small: bool | None, device: str) -> NeuralPlan:
    from naisei.emphasis.encoders.opening import needs_torch
    from naisei.emphasis.taggers.neural.learner import device_of

    needs_torch("safetensors")
    if small is None:
        small = device_of(device) == "cpu"
    if not small:
        return plan
    less = made_small(plan).model_dump()
    return NeuralPlan.model_validate({**less, **plan.model_dump(include=own)})


def _neural(
    plan: NeuralPlan,
    learn: list[Article],
    aside: list[Article],
    out: Path,
    seed: int,
    device: str,
    console: Console,
) -> dict[str, Any]:
    from naisei.emphasis.taggers.neural.learning import train
    from naisei.emphasis.taggers.neural.store import save

    points: list[Point] = []

    def report(point: Point) -> None:
        points.append(point)
        console.print(
            say(
                f"{point.step:5}/{plan.steps}  損失 {point.loss:.4f}  dev の token F1 "
                f"{point.dev_f1:.3f}  {point.speed:,.0f} subword/s",
                f"{point.step:5}/{plan.steps}  loss {point.loss:.4f}  dev token F1 "
                f"{point.dev_f1:.3f}  {point.speed:,.0f} subwords/s",
            ),
            highlight=False,
        )

    tagger = train(
        learn, aside, plan=plan, seed=seed, folder=out / "training", device=device, report=report
    )
    save(tagger, out)
    return {
        "model": str(out),
        "name": plan.name,
        "steps": plan.steps,
        "dev_f1": max((p.dev_f1 for p in points if p.dev_f1 == p.dev_f1), default=None),
        "curve": str(out / "training" / "curve.svg"),
    }
