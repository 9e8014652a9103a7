"""`naisei emphasis train`: trains a tagger on a whole corpus and saves it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import Any

from naisei.core import InputError
from naisei.emphasis.corpus.build import build
from naisei.emphasis.corpus.store import load_corpus, set_aside
from naisei.emphasis.schemas import Tagger
from naisei.emphasis.taggers.crf import CrfTagger, train
from naisei.emphasis.taggers.plans import ADAPTED, CrfPlan, NeuralPlan
from naisei.emphasis.taggers.registry import Trainer, parsed, save_tagger, trainer
from naisei.lang import say
from naisei.system.config import Options, flag, seed_flag
from naisei.terminal import Console

_TRAINING = ("学習", "Training")


class TrainOptions(Options):
    """What to train, on which data, and the output."""

    corpus: Path = flag(
        ...,
        "強調つき文書のコーパス (JSON Lines)",
        "A corpus of emphasised documents (JSON lines).",
        metavar="CORPUS",
        argument=True,
    )
    out: Path = flag(
        ...,
        "書き込むフォルダー (中断した学習はここから続く)",
        "Folder to write; an interrupted training resumes from it.",
        metavar="DIR",
        panel="output",
    )
    tagger: str = flag(
        "transformer-title-crf",
        "タガーと設定 (eval と同じ名前。例: transformer-title-crf:layers=6)",
        "Tagger and settings, named as in eval: transformer-title-crf:layers=6.",
        metavar="NAME[:KEY=VALUE,…]",
        panel=_TRAINING,
    )
    dev: int = flag(
        500,
        "コーパスの末尾から開発用に取り分ける文の数 (多くても半分)",
        "Sentences set aside from the end of the corpus, at most half of them.",
        panel=_TRAINING,
        ge=0,
    )
    small: bool | None = flag(
        None,
        "CPU で数分の小さな設定か、論文の設定か (既定: GPU がなければ small)",
        "Settings for minutes on a CPU, or the thesis's; small by default without a GPU.",
        name="--small/--full",
        panel=_TRAINING,
    )
    device: str = flag("auto", "auto、cpu、cuda", "auto, cpu or cuda.", panel=_TRAINING)
    seed: int = seed_flag()
    quiet: bool = flag(False, "進捗を表示しない", "No progress.", short="-q", panel="output")
    as_json: bool = flag(
        False,
        "結果を JSON で標準出力の最後の行に出力する",
        "Print the result as JSON, the last line of stdout.",
        name="--json",
        panel="output",
    )


def command(options: TrainOptions) -> None:
    console = Console(stderr=True, quiet=options.quiet)
    result = train_tagger(options, console)
    if options.as_json:
        print(json.dumps(result, ensure_ascii=False))
        return
    console.print(
        say(
            f"学習済み: {result['model']} ({result['name']}、{result['seconds']} 秒)",
            f"Trained: {result['model']} ({result['name']}, {result['seconds']} s)",
        ),
    )


def train_tagger(options: TrainOptions, console: Console) -> dict[str, Any]:
    """Train a tagger on a corpus and save it.

    console: prints a line for each point of the learning curve.

    Returns:
        model (path), name, articles, dev_articles, seconds; for a neural tagger also steps,
        dev_f1, curve (path).

    Raises:
        InputError: an unusable corpus, or a tagger that cannot be trained.
    """
    name, settings = parsed(options.tagger)
    plan = trainer(name, settings).plan
    if plan is None:
        raise InputError(
            say(f"'{name}' は学習しません", f"'{name}' does not learn"),
            place="--tagger",
            remedy=say("crf、crf-context、transformer-… などを指定", "crf, transformer-…, …"),
        )
    learn, aside = set_aside(load_corpus(options.corpus), options.dev)
    began = monotonic()
    path = options.out
    if isinstance(plan, CrfPlan) and path.suffix != ".npz":
        path /= "tagger.npz"
    if isinstance(plan, NeuralPlan):
        plan = _sized(plan, set(settings), options)
    steps = getattr(plan, "steps", 0)
    best: list[float] = []

    def report(logs: Mapping[str, float]) -> None:
        best.extend(logs[name] for name in ("eval_f1",) if name in logs)
        names = {"loss": say("損失", "loss"), "eval_f1": say("dev の token F1", "dev token F1")}
        parts = [f"{text} {logs[name]:.4f}" for name, text in names.items() if name in logs]
        if parts:
            console.print(f"{logs['step']:5}/{steps}  {'  '.join(parts)}", highlight=False)

    folder = options.out / "training"
    tagger = Trainer(plan).train(
        learn, aside, seed=options.seed, folder=folder, device=options.device, report=report
    )
    save_tagger(tagger, path)
    result: dict[str, Any] = {"model": str(path), "name": plan.name}
    if isinstance(plan, NeuralPlan):
        result |= {
            "steps": plan.steps,
            "dev_f1": max(best, default=None),
            "curve": str(folder / "curve.svg"),
        }
    return result | {
        "articles": len(learn),
        "dev_articles": len(aside),
        "seconds": round(monotonic() - began, 1),
    }


def _sized(plan: NeuralPlan, own: set[str], options: TrainOptions) -> NeuralPlan:
    """The plan, or its version for a CPU. own: settings to leave unchanged."""
    from naisei.emphasis.taggers.neural.encoder import needs_torch

    needs_torch()
    from naisei.emphasis.taggers.neural.tagger import device_of

    small = options.small
    if small is None:
        small = device_of(options.device) == "cpu"
    if not small:
        return plan
    less = plan.for_cpu().model_dump()
    return NeuralPlan.model_validate({**less, **plan.model_dump(include=own)})


def adapted(tagger: Tagger, folder: Path, *, but: Path) -> CrfTagger:
    """Adapt a tagger to a writer's documents. but: the document to tag, which is excluded if it is
    in the folder too.

    Raises:
        InputError: no such folder, no document with emphasis, or a tagger that cannot be
            adapted.
    """
    if not isinstance(tagger, CrfTagger) or not tagger.plan.context:
        raise InputError(
            say(f"{tagger.name} は書き手に合わせられません", f"{tagger.name} cannot be adapted"),
            place="--tagger",
            remedy=say(
                "--tagger を外すか crf-context を渡す", "leave --tagger out, or crf-context"
            ),
        )
    if not folder.is_dir():
        raise InputError(say("フォルダーがありません", "no such folder"), place=str(folder))
    found = build("like", folder, any_language=True)
    own = but.resolve()
    stems = (a.id.removeprefix("like/") for a in found.articles)
    kept = [
        a for a, stem in zip(found.articles, stems, strict=True) if (folder / stem).resolve() != own
    ]
    if not kept:
        raise InputError(
            say("太字のある文書が一つもありません", "no document has any emphasis"),
            place=str(folder),
            remedy=say(
                "その書き手の太字つき文書を 3 件ほど置いてください",
                "put some three of the writer's emphasised documents there",
            ),
        )
    learnt = train(kept, plan=ADAPTED, base=tagger)
    print(
        say(
            f"{len(kept)} 記事の書き手に合わせました",
            f"adapted to the writer of {len(kept)} article{'s' * (len(kept) != 1)}",
        ),
        file=sys.stderr,
    )
    return learnt
