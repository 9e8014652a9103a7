"""Report on a whole script: counts by character and check, worst lines, HTML and CSV."""

from __future__ import annotations

import heapq
import json
import sys
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from naisei.core import Check, InputError, Status
from naisei.director.check import rules_of
from naisei.director.prepare import quoted
from naisei.director.scripts import ScriptLine, Speakers, lines_of
from naisei.director.verdict import CHECK_NAMES, LineVerdict, RuleSet
from naisei.files import write_atomically
from naisei.lang import language, say
from naisei.runs.charts import Point, line_chart, table_chart
from naisei.runs.report import templates
from naisei.runs.statistics import wilson_interval
from naisei.runs.tables import to_csv
from naisei.runs.task import Table
from naisei.text_files import text_of
from naisei.transcripts import parse_transcripts, preview, read_transcripts

#: Number of earlier lines passed to the checks; they read five.
_HISTORY = 8

Judged = tuple[ScriptLine, LineVerdict]


def script_lines(path: str, speakers: Speakers, *, form: str = "") -> tuple[list[ScriptLine], str]:
    """Return the lines of a file (`-` for standard input) and its name in messages.

    Raises:
        InputError: the file is unreadable, its format is unknown, or a row is unusable.
    """
    place = "stdin" if path == "-" else path
    if path == "-":
        text = text_of(sys.stdin.buffer.read(), place)
        found = parse_transcripts(text, place, form=form, nameless=True)
    else:
        found = read_transcripts(path, form=form, nameless=True)
    for one in found:
        if one.left_out:
            print(f"{place}: {preview(one)[0]}", file=sys.stderr)
    return lines_of(found, place, speakers), place


def judged_lines(
    lines: Iterable[ScriptLine], *, one_talk: bool = False, rules: RuleSet = "calibrated"
) -> Iterator[Judged]:
    """Yield each line with its verdict by the rules alone; see `with_history`."""
    for line, history in with_history(lines, one_talk=one_talk):
        yield line, rules_of(line.who, rules).check(line.text, [text for _, text in history])


def with_history(
    lines: Iterable[ScriptLine], *, one_talk: bool = False
) -> Iterator[tuple[ScriptLine, tuple[tuple[str, str], ...]]]:
    """Yield each line of a known character with the previous lines (speaker, text), oldest first.

    one_talk: treat all rows as one conversation. A line's own history takes precedence. Lines of a
    conversation always get its earlier lines.
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


#: Maximum number of listed lines, characters per line, and points per curve (longer scripts are
#: averaged).
_WORST, _SHOWN, _POINTS = 25, 400, 120
_HIGHEST_TONE = 3
#: Character's name → their lines, in the order of their first line.
Parts = dict[str, list[Judged]]


def by_character(lines: Iterable[Judged]) -> Parts:
    """Group the lines by character."""
    found: Parts = {}
    for line, verdict in lines:
        found.setdefault(line.who.name, []).append((line, verdict))
    return found


def failed(verdict: LineVerdict) -> list[Check]:
    """The checks that did not pass."""
    return [check for check in verdict.checks if check.status is not Status.PASS]


def worst(parts: Parts) -> list[Judged]:
    """The lines with the most rejecting checks, then the most failed checks."""

    def rank(judged: Judged) -> tuple[int, int, int]:
        line, verdict = judged
        bad = failed(verdict)
        return sum(c.status is Status.RETRY for c in bad), len(bad), -line.number

    bad = (judged for lines in parts.values() for judged in lines if failed(judged[1]))
    return heapq.nlargest(_WORST, bad, key=rank)


def tables(parts: Parts) -> tuple[Table, Table]:
    """Pass rates with Wilson's 95 % intervals: by character, and by character and check."""
    note = say(
        "PASS の割合: 何も指摘のない発言。区間は Wilson の 95 % (発言は独立とみなす)。",
        "PASS rate: lines without any remark. Intervals: Wilson, 95 %, lines as independent.",
    )
    whole: list[tuple[str | float, ...]]
    by_check: list[tuple[str | float, ...]]
    whole = [(name, *_rates([v.status for _, v in lines])) for name, lines in parts.items()]
    by_check = [
        (name, check, *_rates([v.check(check).status for _, v in lines]))
        for name, lines in parts.items()
        for check in CHECK_NAMES
    ]
    columns = ("n", "PASS rate", "PASS rate low", "PASS rate high", "WARN", "RETRY")
    return (
        Table("By character", ("character", *columns), tuple(whole), note),
        Table("By character and check", ("character", "check", *columns), tuple(by_check)),
    )


def _rates(found: Sequence[Status]) -> tuple[float, ...]:
    n, counts = len(found), Counter(found)
    passed = n - counts[Status.WARN] - counts[Status.RETRY]
    interval = wilson_interval(passed, n)
    return n, passed / n, *interval, counts[Status.WARN], counts[Status.RETRY]


def write_report(lines: Iterable[Judged], title: str, to: Path) -> list[Path]:
    """Write `report.html`, `characters.csv`, `checks.csv` and `worst.csv` into a folder.

    Raises:
        InputError: there are no lines, or the folder cannot be written.
    """
    parts = by_character(lines)
    if not parts:
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
    of_characters, of_checks = tables(parts)
    files = {
        "report.html": _page(parts, title, of_characters, of_checks),
        "characters.csv": to_csv(of_characters),
        "checks.csv": to_csv(of_checks),
        "worst.csv": to_csv(_worst_table(parts)),
    }
    for name, text in files.items():
        write_atomically(to / name, text)
    return [to / name for name in files]


def _page(parts: Parts, title: str, of_characters: Table, of_checks: Table) -> str:
    return (
        templates("naisei.director")
        .get_template("script.html")
        .render(
            title=Path(title).name,
            language=language(),
            notes=[],
            say=say,
            total=sum(map(len, parts.values())),
            tables=[_rates_joined(of_characters, say("人物ごと", "By character"))],
            checks=_rates_joined(of_checks, say("人物と検査ごと", "By character and check")),
            charts=[*(c.svg() for c in [table_chart(of_characters)] if c), _tone(parts)],
            worst=[(line, verdict, failed(verdict)) for line, verdict in worst(parts)],
            shown=_SHOWN,
        )
    )


def _tone(parts: Parts) -> str:
    """A chart of tone scores over the script, one curve per character."""
    curves = {}
    for name, lines in parts.items():
        scores = [verdict.tone.score for _, verdict in lines]
        width = -(-len(scores) // _POINTS)
        sections = [(at, scores[at : at + width]) for at in range(0, len(scores), width)]
        curves[name] = [Point(1 + at, sum(some) / len(some)) for at, some in sections]
    return line_chart(
        curves,
        title=say("口調スコアの推移", "Tone score over time"),
        x=say("発言", "line"),
        y=say("口調スコア", "tone score"),
        bounds=(0, _HIGHEST_TONE),
    )


def _rates_joined(table: Table, title: str) -> Table:
    """Merge the three columns of a rate into one."""
    at = table.columns.index("PASS rate")
    rows = tuple(
        (*row[:at], f"{row[at]:.1%} ({row[at + 1]:.1%} – {row[at + 2]:.1%})", *row[at + 3 :])
        for row in table.rows
    )
    head = (*table.columns[:at], "PASS rate (95 %)", *table.columns[at + 3 :])
    return Table(title, head, rows, table.note)


def _worst_table(parts: Parts) -> Table:
    columns = ("line", "character", "status", "text", "check", "check status", "reason", "spans")
    rows = tuple(
        (
            *(line.number, line.who.name, verdict.status.value, line.text[:_SHOWN]),
            *(check.name, check.status.value, check.reason, " / ".join(check.evidence)),
        )
        for line, verdict in worst(parts)
        for check in failed(verdict)
    )
    return Table("Worst lines", columns, rows)


def as_json_line(judged: Judged) -> str:
    """`LineVerdict.to_json`, preceded by line number and speaker."""
    line, verdict = judged
    head = {"line": line.number, "speaker": line.speaker or verdict.character}
    return json.dumps({**head, **verdict.to_json()}, ensure_ascii=False)


def as_text(judged: Judged) -> str:
    """A line with its verdict and failed checks."""
    line, verdict = judged
    shown = " ⏎ ".join(line.text.strip().splitlines())
    out = [
        f"{line.number:>4} {verdict.status.value:<5} {line.speaker or verdict.character}: {shown}"
    ]
    if verdict.mends:
        mended = " ⏎ ".join(verdict.text.strip().splitlines())
        out.append("     → " + mended)
    for check in failed(verdict):
        spans = quoted(check.evidence, spoken := language())
        reason = check.reason + ("" if spoken == "ja" or not spans else " ") + spans
        out.append(f"     {check.status} {check.name}: {reason} {check.suggestion}")
    return "\n".join(out)
