"""A script checked as a whole: counts by character and check, worst lines, HTML and CSV.

Memory is bounded: long scripts are summed over a fixed number of sections.
"""

from __future__ import annotations

import heapq
import json
import sys
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from naisei.core import InputError, Status
from naisei.director.check import rules_of
from naisei.director.prepare import quoted
from naisei.director.scripts import ScriptLine, Speakers, read_lines
from naisei.director.verdict import CHECK_NAMES, LineVerdict, RuleSet
from naisei.files import write_atomically
from naisei.lang import language, say
from naisei.runs.charts import Point, line_chart, table_chart
from naisei.runs.report import templates
from naisei.runs.statistics import wilson_interval
from naisei.runs.tables import to_csv
from naisei.runs.task import Table
from naisei.text_files import read_text, text_of

#: Number of earlier lines given to the checks; they read five.
_HISTORY = 8

Judged = tuple[ScriptLine, LineVerdict]


def script_lines(path: str, speakers: Speakers, *, form: str = "") -> tuple[list[ScriptLine], str]:
    """The lines of a file, `-` for standard input, and its name in messages.

    Raises:
        InputError: it cannot be read, is of no form that is known, or has a row that cannot be
            used.
    """
    if path == "-":
        text = text_of(sys.stdin.buffer.read(), "stdin")
        return read_lines(text, "stdin", speakers, form=form), "stdin"
    remedy = say(
        "ファイル名か、標準入力なら - を指定してください",
        "name a file, or - for standard input",
    )
    return read_lines(read_text(path, remedy=remedy), path, speakers, form=form), path


def judged_lines(
    lines: Iterable[ScriptLine], *, one_talk: bool = False, rules: RuleSet = "calibrated"
) -> Iterator[Judged]:
    """Each line with its verdict by the rules alone; see `with_history`."""
    for line, history in with_history(lines, one_talk=one_talk):
        yield line, rules_of(line.who, rules).check(line.text, [text for _, text in history])


def with_history(
    lines: Iterable[ScriptLine], *, one_talk: bool = False
) -> Iterator[tuple[ScriptLine, tuple[tuple[str, str], ...]]]:
    """Each line of a known character with the lines before it (speaker, text), oldest first.

    one_talk: use the earlier lines as the history of a line without its own; in a conversation
    always.
    """
    before: deque[tuple[str, str]] = deque(maxlen=_HISTORY)
    talk: int | None = None
    for line in lines:
        if line.talk != talk and line.talk is not None:
            before.clear()
            talk = line.talk
        history = tuple(before) if one_talk or line.talk is not None else ()
        if line.history is not None:
            history = tuple(("", text) for text in line.history)
        if line.character is not None:
            yield line, history
        before.append((line.speaker, line.text))


#: Number of listed lines, and points of a curve (longer scripts are averaged).
_WORST, _POINTS = 25, 120


@dataclass(frozen=True, slots=True)
class Worst:
    """One of the worst lines. checks: name, status, reason, suggestion and spans of each."""

    number: int
    speaker: str
    text: str
    status: Status
    checks: tuple[tuple[str, Status, str, str, tuple[str, ...]], ...]


@dataclass
class _Curve:
    """Tone scores in order; when there are too many points, neighbours are averaged."""

    width: int = 1
    sums: list[tuple[float, int]] = field(default_factory=list)

    def add(self, score: int) -> None:
        if self.sums and self.sums[-1][1] < self.width:
            total, n = self.sums[-1]
            self.sums[-1] = (total + score, n + 1)
        else:
            self.sums.append((float(score), 1))
        if len(self.sums) > _POINTS:
            pairs = zip(self.sums[::2], [*self.sums[1::2], (0.0, 0)], strict=False)
            self.sums = [(a[0] + b[0], a[1] + b[1]) for a, b in pairs]
            self.width *= 2

    @property
    def points(self) -> list[float]:
        return [total / n for total, n in self.sums]


@dataclass
class Tally:
    """Counts over a script. status, checks: by character, in the order of their first line."""

    names: dict[str, str] = field(default_factory=dict)
    status: dict[str, Counter[Status]] = field(default_factory=dict)
    checks: dict[str, Counter[tuple[str, Status]]] = field(default_factory=dict)
    curves: dict[str, _Curve] = field(default_factory=dict)
    worst: list[Worst] = field(default_factory=list)

    @property
    def total(self) -> int:
        return sum(sum(counts.values()) for counts in self.status.values())


def tally(lines: Iterable[Judged]) -> Tally:
    """Count as the lines come."""
    out = Tally()
    heap: list[tuple[tuple[int, int, int], Worst]] = []
    for line, verdict in lines:
        assert line.character is not None
        who = line.character.id
        if who not in out.names:
            out.names[who] = line.character.name
            out.status[who], out.checks[who] = Counter(), Counter()
            out.curves[who] = _Curve()
        out.status[who][verdict.status] += 1
        bad = [c for c in verdict.checks if c.status is not Status.PASS]
        for check in bad:
            out.checks[who][check.name, check.status] += 1
        out.curves[who].add(verdict.tone.score)
        if not bad:
            continue
        rank = (sum(c.status is Status.RETRY for c in bad), len(bad), -line.number)
        if len(heap) < _WORST or rank > heap[0][0]:
            found = Worst(
                line.number,
                line.character.name,
                line.text[:400],
                verdict.status,
                tuple((c.name, c.status, c.reason, c.suggestion, c.evidence) for c in bad),
            )
            (heapq.heappush if len(heap) < _WORST else heapq.heapreplace)(heap, (rank, found))
    out.worst = [worst for _, worst in sorted(heap, key=lambda entry: entry[0], reverse=True)]
    return out


def tables(found: Tally) -> tuple[Table, Table]:
    """Pass rates with Wilson's 95 % intervals: by character, and by character and check."""
    note = say(
        "PASS の割合: 何も指摘のない発言。区間は Wilson の 95 % (発言は独立とみなす)。",
        "PASS rate: lines without any remark. Intervals: Wilson, 95 %, lines as independent.",
    )
    whole: list[tuple[str | float | int, ...]] = []
    by_check: list[tuple[str | float | int, ...]] = []
    for who, name in found.names.items():
        counts = found.status[who]
        n = sum(counts.values())
        warned, rejected = counts[Status.WARN], counts[Status.RETRY]
        whole.append((name, n, *_share(n - warned - rejected, n), warned, rejected))
        for check in CHECK_NAMES:
            warned, rejected = (
                found.checks[who][check, status] for status in (Status.WARN, Status.RETRY)
            )
            by_check.append((name, check, n, *_share(n - warned - rejected, n), warned, rejected))
    rate = ("PASS rate", "PASS rate low", "PASS rate high")
    return (
        Table("By character", ("character", "lines", *rate, "WARN", "RETRY"), tuple(whole), note),
        Table(
            "By character and check",
            ("character", "check", "lines", *rate, "WARN", "RETRY"),
            tuple(by_check),
        ),
    )


def _share(hits: int, n: int) -> tuple[float, float, float]:
    return (hits / n, *wilson_interval(hits, n))


_HIGHEST_TONE = 3


def write_report(found: Tally, title: str, to: Path) -> list[Path]:
    """Write `report.html`, `characters.csv`, `checks.csv` and `worst.csv` into a folder.

    Raises:
        InputError: there is no line to report, or the folder cannot be written.
    """
    if not found.total:
        raise InputError(
            say(
                "登録されているキャラクターの発言がありません", "holds no line of a known character"
            ),
            place=title,
            remedy=say(
                '1 行ずつ `やな: …` か {"speaker": "yana", "text": "…"} の形で書いてください',
                'write `やな: …` or {"speaker": "yana", "text": "…"} a line',
            ),
        )
    by_character, by_check = tables(found)
    page = _page(found, title, by_character, by_check)
    files = {
        "report.html": page,
        "characters.csv": to_csv(by_character),
        "checks.csv": to_csv(by_check),
        "worst.csv": to_csv(_worst_table(found)),
    }
    for name, text in files.items():
        write_atomically(to / name, text)
    return [to / name for name in files]


def _page(found: Tally, title: str, by_character: Table, by_check: Table) -> str:
    return (
        templates("naisei.director")
        .get_template("script.html")
        .render(
            title=Path(title).name,
            language=language(),
            notes=[],
            say=say,
            total=found.total,
            tables=[_rates_joined(by_character, say("人物ごと", "By character"))],
            checks=_rates_joined(by_check, say("人物と検査ごと", "By character and check")),
            charts=[*(c.svg() for c in [table_chart(by_character)] if c), _tone(found)],
            worst=found.worst,
        )
    )


def _tone(found: Tally) -> str:
    """Tone scores over the script, a line each character."""
    lines = {
        name: [Point(1 + at * curve.width, score) for at, score in enumerate(curve.points)]
        for name, curve in ((name, found.curves[who]) for who, name in found.names.items())
    }
    return line_chart(
        lines,
        title=say("口調スコアの推移", "Tone score over time"),
        x=say("発言", "line"),
        y=say("口調スコア", "tone score"),
        bounds=(0, _HIGHEST_TONE),
    )


def _rates_joined(table: Table, title: str) -> Table:
    """The three columns of a rate as one."""
    at = table.columns.index("PASS rate")
    rows = tuple(
        (*row[:at], f"{row[at]:.1%} ({row[at + 1]:.1%} – {row[at + 2]:.1%})", *row[at + 3 :])
        for row in table.rows
    )
    head = (*table.columns[:at], "PASS rate (95 %)", *table.columns[at + 3 :])
    return Table(title, head, rows, table.note)


def _worst_table(found: Tally) -> Table:
    columns = ("line", "character", "status", "text", "check", "check status", "reason", "spans")
    rows = tuple(
        (w.number, w.speaker, w.status.value, w.text, name, status.value, reason, " / ".join(spans))
        for w in found.worst
        for name, status, reason, _, spans in w.checks
    )
    return Table("Worst lines", columns, rows)


def as_json_line(judged: Judged) -> str:
    """As `LineVerdict.to_json` gives it, with the line and the speaker before it."""
    line, verdict = judged
    head = {"line": line.number, "speaker": line.speaker or verdict.character}
    return json.dumps({**head, **verdict.to_json()}, ensure_ascii=False)


def as_text(judged: Judged) -> str:
    """A line with its verdict and faults."""
    line, verdict = judged
    shown = " ⏎ ".join(line.text.strip().splitlines())
    out = [
        f"{line.number:>4} {verdict.status.value:<5} {line.speaker or verdict.character}: {shown}"
    ]
    for check in verdict.checks:
        if check.status is not Status.PASS:
            spans = quoted(check.evidence, spoken := language())
            told = check.reason + ("" if spoken == "ja" or not spans else " ") + spans
            out.append(f"     {check.status} {check.name}: {told} {check.suggestion}")
    return "\n".join(out)
