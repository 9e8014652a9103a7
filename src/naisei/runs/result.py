"""The result of a run: stores the summary, writes files, and makes one JSON object for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue, ValidationError

from naisei.core import InputError
from naisei.lang import say
from naisei.runs.budget import Ledger
from naisei.runs.directory import RunDirectory
from naisei.runs.engine import RunOutcome
from naisei.runs.frozen import Accepted
from naisei.runs.report import StoredSummary, plain_number, store_summary, write_report
from naisei.runs.task import EpisodeRow, Summary, Task

if TYPE_CHECKING:
    from naisei.runs.export import Frame, Library
    from naisei.runs.show import Episode

#: Maximum number of transcripts in a report, including unscored and failed episodes.
_SAMPLE = 30


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run command: `to_json` for machines, `exit_code` for the shell."""

    summary: Summary
    outcome: RunOutcome
    run_dir: Path
    report: Path

    @property
    def exit_code(self) -> int:
        return self.outcome.exit_code

    def to_json(self) -> dict[str, Any]:
        """The result object; see `result_json`."""
        out = self.outcome
        counts = (out.scored, out.failed, out.pending)
        return result_json(self.summary, counts, out.ledger, self.run_dir, out.stopped)

    def frame(self, *, each: str | None = None) -> Frame:
        """Return one row per trial; see `naisei.runs.export.frame`."""
        from naisei.runs.export import frame

        return frame(self.run_dir, each=each)

    def to_dataframe(self, library: Library = "pandas", *, each: str | None = None) -> Any:
        """Return `frame` as a `pandas.DataFrame` or a `polars.DataFrame` (extra `frames`)."""
        return self.frame(each=each).to_dataframe(library)

    def episode(self, name: str = "") -> Episode:
        """Return one episode. name: `instance#trial`, or an instance with only one trial.

        Raises:
            InputError: no episode matches, or several do.
        """
        from naisei.runs.show import Episode

        return Episode.of(self.run_dir, name)

    def _repr_html_(self) -> str:
        from naisei.runs.export import tables_html
        from naisei.runs.report import metric_table

        kept = StoredSummary(self.summary, self.outcome.scored)
        notes = [*([self.outcome.stopped] if self.outcome.stopped else []), *self.summary.notes]
        return tables_html([metric_table(kept), *self.summary.tables], notes)

    def line(self) -> str:
        """Return the result object on one line: the last line of stdout with `--json`."""
        return json.dumps(self.to_json(), ensure_ascii=False, allow_nan=False)


def result_json(
    summary: Summary,
    counts: tuple[int, int, int],
    ledger: Ledger,
    run_dir: Path,
    stopped: str = "",
) -> dict[str, Any]:
    """Return a JSON object that describes a run.

    metrics: name → value; `null` if undefined, and `reasons` says why. intervals: name →
    [low, high] of the 95 % interval, if there is one. n: scored episodes; n_unscored:
    left unscored by instrument failures; n_pending: unfinished. tokens: role →
    input, output, total, calls, attempts, …. usd: `null` if the price of any call is unknown.
    stopped: why the run is incomplete, else `null`.
    """
    scored, failed, pending = counts
    metrics: dict[str, JsonValue] = {}
    intervals: dict[str, JsonValue] = {}
    reasons: dict[str, JsonValue] = {}
    for m in summary.metrics:
        metrics[m.name] = plain_number(m.value)
        low, high = plain_number(m.low), plain_number(m.high)
        if low is not None and high is not None:
            intervals[m.name] = [low, high]
        if m.reason or metrics[m.name] is None:
            reasons[m.name] = m.reason or "undefined"
    if ledger.usd is None:
        reasons["usd"] = f"no price is known for {', '.join(sorted(ledger.unpriced))}"
    return {
        "metrics": metrics,
        "intervals": intervals,
        "reasons": reasons,
        "n": scored,
        "n_unscored": failed,
        "n_pending": pending,
        "tokens": ledger.to_json(),
        "usd": ledger.usd,
        "run_dir": str(run_dir),
        "stopped": stopped or None,
        "notes": list(summary.notes),
    }


def finish(task: Task[Any], directory: RunDirectory, outcome: RunOutcome) -> RunResult:
    """Summarise a run that ended or stopped; write `results.jsonl` and `report.html`.

    `task.summarise` receives the ended episodes, including unscored ones.

    Raises:
        InputError: a result in the log has an unexpected type.
    """
    try:
        return _finished(task, directory, outcome)
    except ValidationError as error:
        raise InputError(
            say(
                f"このシステムの結果として読めないものが記録にあります: {error.title}",
                f"the log holds a result of unexpected type: {error.title}",
            ),
            place=str(directory.path),
            remedy=say("新しい実行ディレクトリを使ってください", "use a new run directory"),
        ) from error


def _finished(task: Task[Any], directory: RunDirectory, outcome: RunOutcome) -> RunResult:
    ended = [row for row in outcome.rows if row.scored or row.failure]
    summary = task.summarise(ended)
    form = {"each": task.each, "names": dict(task.row_names)}
    summary = replace(
        summary,
        notes=(*summary.notes, *map(_accepted, directory.accepted), *_left_out(directory)),
        extra={**summary.extra, "long": form},
    )
    bare = StoredSummary(summary, outcome.scored, outcome.stopped, outcome.seconds)
    chosen = _sample(ended, bare)
    texts = tuple((row.where.episode, task.transcript(row)) for row in chosen)
    drawn = {r.where.episode: task.figure(r.where, r.result) for r in chosen if r.scored}
    figures = {episode: svg for episode, svg in drawn.items() if svg}
    store_summary(directory, replace(bare, transcripts=texts, figures=figures))
    directory.write_results(ended)
    return RunResult(summary, outcome, directory.path, write_report(directory))


def _accepted(change: Accepted) -> str:
    listed = say("、", ", ").join(change.changes)
    return say(
        f"途中で変わったものがあります ({change.at}): {listed}。{change.scored} 件の結果は"
        "その前のものです。",
        f"Something changed on the way ({change.at}): {listed}. {change.scored} results are of "
        "before.",
    )


def _left_out(directory: RunDirectory) -> list[str]:
    """Return a note for each model with unsupported parameters."""
    return [
        say(
            f"{model} は {names} を受け付けないので、指定せずに呼び出しました ({role})",
            f"{model} does not take {names}: it was called without ({role})",
        )
        for model, role, names in directory.log.left_out()
    ]


def _sample(rows: Sequence[EpisodeRow], kept: StoredSummary) -> list[EpisodeRow]:
    """Return unscored episodes, then evenly spaced scored ones, the agent's failures first."""
    unscored = [row for row in rows if not row.scored][: _SAMPLE // 3]
    scored = [row for row in rows if row.scored]
    step = max(1, -(-len(scored) // (_SAMPLE - len(unscored))))
    paired = kept.summary.paired()
    success = kept.summary.per_unit(paired[-1].name) if paired else {}
    return unscored + sorted(scored[::step], key=lambda r: success.get(r.where.instance, 0.0))
