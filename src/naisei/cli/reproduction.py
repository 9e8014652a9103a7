"""The runs, tables, figures and caption of a source's reproduction."""

from __future__ import annotations

import io
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from math import nan
from pathlib import Path
from typing import Any

import typer

from naisei import __version__
from naisei.cli.derived import command_of
from naisei.cli.sources import Column, Reproduced, Row, Runs, Source
from naisei.core import InputError
from naisei.files import write_atomically
from naisei.lang import language, say
from naisei.runs.charts import table_chart
from naisei.runs.directory import RunDirectory
from naisei.runs.export import study_runs
from naisei.runs.frozen import Frozen, model_name
from naisei.runs.pictures import draw
from naisei.runs.pooling import Seeds, pooled_metric
from naisei.runs.report import stored_summary
from naisei.runs.statistics import mean_metric
from naisei.runs.tables import latex, number, to_csv, to_latex, to_markdown
from naisei.runs.task import Metric, Summary, Table
from naisei.system.registry import find_system
from naisei.system.studies import conditions, folder_of


@dataclass(slots=True)
class Reproduction:
    """A reproduction's plan and results. made: study → model → label → seed → summary. missing:
    study → why it was not run."""

    source: Source
    folder: Path
    models: Sequence[str]
    seeds: Sequence[int]
    inputs: Mapping[str, Any]
    more: Sequence[str]
    made: dict[str, dict[str, dict[str, dict[int, Summary]]]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    frozen: dict[str, Frozen] = field(default_factory=dict)

    def carry_out(self) -> None:
        """Run everything possible, resuming stopped runs.

        Raises:
            InputError: nothing can be run with these inputs, or a flag that no command has.
            typer.Exit: a run was stopped.
        """
        known: set[str] = set()
        for name, runs in self.source.studies.items():
            needs = [f"--input {key}=… ({how})" for key, how in runs.needs.items()]
            lacking = [
                n for n, key in zip(needs, runs.needs, strict=True) if key not in self.inputs
            ]
            if runs.models == "required" and not self.models:
                lacking.append("--model PROVIDER:NAME")
            if lacking:
                self.missing[name] = ", ".join(lacking)
        if len(self.missing) == len(self.source.studies):
            raise InputError(
                say("これだけでは何も実行できません", "nothing can be run with this alone"),
                place="naisei reproduce",
                remedy=say("どれかを付けてください: ", "give one of: ")
                + "; ".join(dict.fromkeys(self.missing.values())),
            )
        for name, runs in self.source.studies.items():
            if name not in self.missing:
                for model in self.models if runs.models != "none" and self.models else [""]:
                    for agent, inputs in enumerate(_agents(runs, self.inputs)):
                        for seed in self.seeds:
                            known |= self._run(name, runs, model, (agent, seed), inputs)
        if unknown := [w for w in self.more if w.startswith("-") and w.split("=")[0] not in known]:
            raise InputError(
                say("どの実行にもない設定です", "no run has this option"), place=unknown[0]
            )

    def _run(
        self, name: str, runs: Runs, model: str, of: tuple[int, int], inputs: Mapping[str, str]
    ) -> set[str]:
        """of: number of the agent, from 0, and seed."""
        agent, seed = of
        system, verb, *words = [word.format(**inputs) for word in shlex.split(runs.command)]
        command = command_of(find_system(system), verb)
        known = {option for p in command.params for option in (*p.opts, *p.secondary_opts)}
        folder = f"{folder_of(model) or 'run'}{f'-agent-{agent + 1}' if agent else ''}-seed-{seed}"
        path = self.folder / "runs" / name / folder
        words += ["--model", model] if model else []
        words += [*_known(self.more, known), "--seed", str(seed), "--run-dir", str(path)]
        with redirect_stdout(io.StringIO()):  # the study's own report has its tables
            code = command.main(words, prog_name=f"naisei {system} {verb}", standalone_mode=False)
        if code not in (None, 0, 4):
            raise typer.Exit(code)
        rows = self.made.setdefault(name, {}).setdefault(model, {})
        for label, place in study_runs(path).items():
            label = "run" if place == path else label
            with RunDirectory.look(place) as run:
                summary = stored_summary(run).summary
                at = agent * len(self.seeds) + self.seeds.index(seed)
                rows.setdefault(label, {})[at] = summary
                rows.setdefault(f"{label}@{agent + 1}", {})[seed] = summary
                called = [name, label, model, f"agent {agent + 1}" if agent else "", str(seed)]
                self.frozen[" ".join(filter(None, called))] = run.frozen
        return known

    def table(self, of: Reproduced) -> Table:
        """Return the source's rows and ours: name, origin, and each column with its interval."""
        heads = [h for c in of.columns for h in (c.head, f"{c.head} low", f"{c.head} high")]
        lines: list[tuple[str | float | int, ...]] = []
        for row in of.rows:
            if row.paper:
                values = [*row.paper, *[nan] * (len(of.columns) - len(row.paper))]
                cells = [cell for value in values for cell in (value, nan, nan)]
                lines.append((row.name, say("論文", "paper"), *cells, nan))
            made = self.made.get(row.study or of.study, {}) if row.ours else {}
            for model, rows in made.items():
                ours = row.model_copy(update={"ours": row.ours.format(**self.inputs)})
                found = [_cell_metric(rows, ours, column) for column in of.columns]
                cells = [
                    float(f"{v * c.scale:.{c.digits}f}")
                    for c, m in zip(of.columns, found, strict=True)
                    for v in (m.value, m.low, m.high)
                ]
                whose = say("本実装", "ours") + (f" ({model_name(model)})" if model else "")
                lines.append((row.name, whose, *cells, max((m.n for m in found), default=0)))
        studies = dict.fromkeys([of.study, *(row.study for row in of.rows if row.study)])
        left_out = [f"{s}: {self.missing[s]}" for s in studies if s in self.missing]
        note = say(
            "論文の行は論文の値。本実装の行は 95 % 区間付き。"
            "データとユーザー役が違えば比べられない。",
            "Rows of the paper are its own figures; ours have 95 % intervals; comparable only on "
            "the same data and user.",
        )
        if why := say(*of.why):
            note += f" {why}"
        if left_out:
            note += say(" 実行していないもの: ", " Not run: ") + "; ".join(left_out)
        columns = (say("行", "row"), say("出所", "whose"), *heads, "n")
        return Table(say(*of.title), columns, tuple(lines), note)


def _known(words: Sequence[str], known: set[str]) -> Iterable[str]:
    """Return those of the extra flags that a command has, with their values."""
    kept = True
    for word in words:
        if word.startswith("-"):
            kept = word.split("=")[0] in known
        if kept:
            yield word


def as_text(table: Table, of: Reproduced) -> Table:
    """Format a value as in the paper: fixed digits, interval beside the value."""
    rows = []
    for name, whose, *cells, n in table.rows:
        line = [str(name), str(whose)]
        for at, column in enumerate(of.columns):
            value, low, high = (float(v) for v in cells[3 * at : 3 * at + 3])
            text = f"{value:,.{column.digits}f}" if value == value else "–"
            if low == low:
                text += f" [{low:,.{column.digits}f}, {high:,.{column.digits}f}]"
            line.append(text)
        rows.append((*line, number(n)))
    heads = (*table.columns[:2], *(column.head for column in of.columns), "n")
    return Table(table.title, heads, tuple(rows), table.note)


def _figure_of(table: Table, of: Reproduced) -> Table:
    """Return the plotted column of a table, for the rows with a value."""
    at = 2 + 3 * [column.head for column in of.columns].index(of.figure)
    rows = tuple(
        (f"{row[0]}: {row[1]}", *row[at : at + 3], row[-1] if row[-1] == row[-1] else 0)
        for row in table.rows
        if row[at] == row[at]
    )
    columns = ("", of.figure, f"{of.figure} low", f"{of.figure} high", "n")
    return Table(table.title, columns, rows)


def caption(bench: Reproduction, command: str) -> str:
    """Return models, data, seeds, version, command and BibTeX, as Markdown."""
    told = conditions(bench.frozen)
    lines = [f"# {bench.source.title}", "", f"naisei {__version__}: `{command}`", ""]
    lines += [
        f"- {key}: {value}" for key, value in told.items() if not key.startswith("command of")
    ]
    lines += [
        f"- {say('実行していないもの', 'not run')}: {s}: {w}" for s, w in bench.missing.items()
    ]
    runs = [
        f"- {k.removeprefix('command of ')}: `{v}`" for k, v in told.items() if k[:8] == "command "
    ]
    bib = ["```bibtex", bench.source.bibtex.strip(), "```", ""]
    return "\n".join([*lines, "", f"## {say('実行', 'Runs')}", "", *runs, "", *bib])


def document(tables: Sequence[str], figures: Sequence[str], title: str) -> str:
    """Return a standalone LaTeX document of all tables and figures."""
    kind = "ltjsarticle" if language() == "ja" else "article"
    drawn = [
        rf"\begin{{figure}}[t]\centering\includegraphics[width=\linewidth]{{{name}}}\end{{figure}}"
        for name in figures
    ]
    return "\n".join(
        [
            rf"\documentclass{{{kind}}}",
            r"\usepackage{booktabs,graphicx}",
            r"\begin{document}",
            rf"\section*{{{latex(title)}}}",
            r"\footnotesize\setlength{\tabcolsep}{3pt}",
            *(rf"\input{{{name}}}" for name in tables),
            *drawn,
            r"\end{document}",
            "",
        ]
    )


def write_all(bench: Reproduction, command: str) -> list[Table]:
    """Write tables, figures and the caption; returns the tables in the format of the paper."""
    texts, written, figures = [], [], []
    for of in bench.source.tables:
        table = bench.table(of)
        text = as_text(table, of)
        texts.append(text)
        written.append(of.name)
        write_atomically(bench.folder / f"{of.name}.csv", to_csv(table))
        write_atomically(bench.folder / f"{of.name}.md", to_markdown(text))
        label = f"tab:{of.name}"
        made = to_latex(text, caption=text.title, label=label, left=2)
        write_atomically(bench.folder / f"{of.name}.tex", made)
        if of.figure and (drawn := table_chart(_figure_of(table, of))):
            write_atomically(bench.folder / f"{of.name}.svg", drawn.file())
            try:
                draw(drawn, bench.folder / f"{of.name}.pdf")
                figures.append(f"{of.name}.pdf")
            except InputError as error:  # without the extra `plots` there is only the SVG
                print(f"{error.message} ({error.remedy})", file=sys.stderr)
    write_atomically(bench.folder / "caption.md", caption(bench, command))
    write_atomically(bench.folder / "references.bib", bench.source.bibtex.lstrip())
    whole = document(written, figures, bench.source.title)
    write_atomically(bench.folder / "all.tex", whole)
    return texts


def _agents(runs: Runs, inputs: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the inputs of each run of a command: the n-th value of each comma-separated input."""
    own = {key: inputs[key].split(",") for key in runs.needs}
    count = max((len(values) for values in own.values()), default=1)
    return [
        {key: values[min(n, len(values) - 1)] for key, values in own.items()} for n in range(count)
    ]


def _of_table(seeds: Seeds, column: Column) -> Metric:
    """Return a cell of a report table, summed over the seeds, as a share of its column `per`."""
    title, row, head = column.cell.split("/")
    sums = dict.fromkeys((head, column.per), 0.0)
    for table in (t for summary in seeds.values() for t in summary.tables if t.title == title):
        for each in (r for r in table.rows if r[0] == row):
            for name in sums:
                sums[name] += float(each[table.columns.index(name)])
    whole = sums[column.per]
    return Metric(column.cell, sums[head] / whole if whole else nan, n=int(whole))


def _cell_metric(rows: Mapping[str, Seeds], row: Row, column: Column) -> Metric:
    """Return the value of a cell in our row; NaN if not run. rows: seeds by label."""
    if column.per:
        return _of_table(rows.get(row.ours, {}), column)
    *who, name = column.cell.split()
    kind, _, metric = name.rpartition(":")
    metric = row.prefix + metric
    first, *others = who[::2] or [row.ours]
    if not all(label in rows for label in (first, *others)):
        return Metric(metric, nan)
    of = {label: {s: _of_kind(x, kind, metric) for s, x in rows[label].items()} for label in rows}
    found = pooled_metric(metric, of[first], of[others[0]] if others else None)
    if found.n:
        return found
    # Means over different units, such as the solved ones: no pairs, hence no interval.
    means = [_mean(metric, of[label]) for label in (first, *others)]
    return replace(means[0], value=means[0].value - means[1].value) if others else means[0]


def _mean(name: str, seeds: Seeds) -> Metric:
    """Return the mean of a metric over all seeds."""
    found = [m for summary in seeds.values() for m in summary.metrics if m.name == name]
    value = sum(m.value for m in found) / len(found) if found else nan
    return Metric(name, value, n=min((m.n for m in found), default=0))


def _of_kind(summary: Summary, kind: str, name: str) -> Summary:
    """Return a metric over the units of one kind (such as a level of games)."""
    found = next((m for m in summary.metrics if m.name == name), None)
    kinds = summary.extra.get("kinds")
    if not kind or found is None or not kinds or not found.per_unit:
        return summary if not kind else replace(summary, metrics=())
    at = [n for n, each in enumerate(kinds) if each == kind]
    units, clusters = ([summary.extra[key][n] for n in at] for key in ("units", "clusters"))
    values = [found.per_unit[n] for n in at]
    least, most = found.bounds
    own = mean_metric(
        name, values, clusters=clusters, share=found.share, least=least, most=most, paired=True
    )
    return Summary((own,), extra={"units": units, "clusters": clusters})
