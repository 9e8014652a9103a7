"""Tables as Markdown and CSV; numbers and headings as people read them.

Files for machines (JSON, CSV, Markdown) keep the English headings, whatever the language; only
what is displayed is translated.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence
from pathlib import Path

from naisei.files import write_atomically
from naisei.lang import language
from naisei.runs.task import Table
from naisei.text_files import csv_cell


def number(value: str | float | int) -> str:
    """A cell: four significant digits at most after the point, thousands apart, – for NaN."""
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    if math.isnan(value):
        return "–"
    if math.isinf(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    text = f"{value:.4f}" if abs(value) >= 1e-4 or value == 0 else f"{value:.2e}"
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def short(value: str | float | int) -> str:
    """A number for a glance: three digits that count, thousands apart, – for NaN."""
    if not isinstance(value, float) or not math.isfinite(value) or abs(value) >= 100:
        return number(value)
    text = f"{value:.{3 if abs(value) < 1 else 2 if abs(value) < 10 else 1}f}"
    text = text.rstrip("0").rstrip(".")
    return number(value) if value and not float(text) else text


def to_markdown(table: Table) -> str:
    """A pipe table under its title; cells keep to their line."""

    def line(cells: list[str]) -> str:
        safe = [c.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ") for c in cells]
        return f"| {' | '.join(safe)} |"

    lines = [f"### {table.title}", "", line(list(table.columns))]
    lines.append(f"|{'---|' * len(table.columns)}")
    lines += [line([number(cell) for cell in row]) for row in table.rows]
    if table.note:
        lines += ["", table.note]
    return "\n".join(lines) + "\n"


def to_csv(table: Table) -> str:
    """Full precision, NaN as an empty cell, CRLF lines (RFC 4180)."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(map(csv_cell, table.columns))
    for row in table.rows:
        cells = ("" if isinstance(c, float) and math.isnan(c) else csv_cell(c) for c in row)
        writer.writerow(cells)
    return out.getvalue()


_WORDS = {
    # Titles.
    "By kind of question": "質問の種類別",
    "Conditions": "条件",
    "Configurations": "設定",
    "Differences (second − first)": "差（後 − 前）",
    "First example of each fault": "各欠陥の最初の例",
    "Drafts by check": "検査別の案",
    "Learning curve": "学習曲線",
    "Metrics": "指標",
    "Readings": "関係値",
    "Replies that named no command of the list, a game": "一覧にないコマンド（1 ゲームあたり）",
    "Success": "成功率",
    "Turns by character": "キャラクター別のターン",
    "The judge's scores, means of 1 to 5": "採点役の点（1〜5 の平均）",
    "Tokens by role": "役割別のトークン",
    "Tokens per instance": "一件あたりのトークン",
    "by kind of ambiguity": "曖昧さの種類別",
    "games": "ゲーム",
    "items": "件",
    "tokens per instance by role": "一件あたりのトークン（役割別）",
    "solved within so many questions": "質問の数と成功率",
    "plausible-set oracle": "もっともらしい行動だけを選ぶ上限",
    "Results": "結果",
    # Columns.
    "answer": "答え",
    "attempts": "要求",
    "calls": "呼び出し",
    "character": "キャラクター",
    "check": "検査",
    "ambiguity": "曖昧さ",
    "category": "種類",
    "configuration": "設定",
    "difference": "差",
    "dimension": "軸",
    "different answers": "違った答え",
    "drafts": "案",
    "fault": "欠陥",
    "first": "前",
    "from cache": "キャッシュから",
    "game": "ゲーム",
    "input": "入力",
    "input (all)": "入力（全体）",
    "input (success)": "入力（成功）",
    "judge failures": "採点の失敗",
    "judged drafts": "採点した案",
    "judgements": "採点数",
    "kind": "種類",
    "metric": "指標",
    "output": "出力",
    "output (all)": "出力（全体）",
    "output (success)": "出力（成功）",
    "question": "質問",
    "reason": "理由",
    "refused": "断った数",
    "repaired": "聞き直し",
    "repairs": "聞き直し",
    "retries": "やり直し",
    "role": "役割",
    "questions": "質問",
    "routing": "最初の判断の一致",
    "asked": "聞き返し",
    "answered": "答えた",
    "cites gold": "正解を引用",
    "gain": "差",
    "recall@5 before": "前の recall@5",
    "recall@5 after": "後の recall@5",
    "MRR after": "後の MRR",
    "solved without a wrong act": "誤りなしの成功率",
    "wrong acts": "誤った行動",
    "95 % low": "95 % 下限",
    "95 % high": "95 % 上限",
    "no scored instance": "採点した件がない",
    "no scored unit": "採点した件がない",
    "no model was called": "モデルを呼んでいない",
    "no instance succeeded": "成功した件がない",
    "no question was asked": "質問がなかった",
    "no instance wants several actions": "複数の行動を望む件がない",
    "no second trial": "2 回目の試行がない",
    "no first guess was right": "最初の見込みが当たった件がない",
    "no first guess was wrong": "最初の見込みが外れた件がない",
    "the agent may not ask": "質問できない設定",
    "no draft was rewritten": "書き直した案がない",
    "no probabilities": "確率がない",
    "no time": "時間が測れない",
    "no utterance": "発話がない",
    "no reading was usable": "使える読み取りがない",
    "no reflection: --relationship-reflection": "内省なしの設定 (--relationship-reflection)",
    "no words": "語がない",
    "undefined for some units": "一部の件で求まらない",
    "undefined": "求まらない",
    "no unit was scored in both runs": "両方の実行で採点した件がない",
    "no turn was read twice": "2 度読んだ発話がない",
    "one judgement a draft has no spread: --repeats": "採点が 1 回ではばらつきが出ない (--repeats)",
    "score": "得点",
    "second": "後",
    "seed": "乱数シード",
    "seeds": "乱数シード",
    "steps": "手数",
    "total": "計",
    "train games": "学習ゲーム",
    "turns": "ターン",
    "unmatched": "読めず",
    "value": "値",
    "wanted": "望み",
    "solved": "解けた率",
    "what": "内容",
}
_ENDS = {"low": "下限", "high": "上限"}
_FOLDED = " [95 %]"
#: A heading with the name of a row in it.
_ABOUT = (
    (re.compile(r"^Difference from (.+)$"), r"\1 との差"),
    (
        re.compile(r"^trials in sequence stop at the first success; .*$"),
        "順に試すと最初の成功で終わるため、pass^k には --independent が要る",
    ),
    (
        re.compile(r"^(DPass@k|score@k) is defined on trials in sequence; .*$"),
        r"\1 は順に試すときだけ求まる (--independent を外す)",
    ),
    (
        re.compile(r"^k = (\d+), but the run (?:allows|has) (\d+) trial\(s\)$"),
        r"k = \1 だが、試行は \2 回まで",
    ),
    (re.compile(r"^Audit of the simulator (.+)$"), r"ユーザー役 \1 の監査"),
)


def worded(heading: str) -> str:
    """A title or a column's name in the reader's language; names of metrics stay as they are."""
    if language() != "ja":
        return heading
    if heading in _WORDS:
        return _WORDS[heading]
    if heading.endswith(_FOLDED):
        return worded(heading.removesuffix(_FOLDED)) + _FOLDED
    start, _, end = heading.rpartition(" ")
    if end in _ENDS:
        return f"{worded(start)} {_ENDS[end]}".strip()
    if heading in _ENDS:
        return _ENDS[heading]
    for pattern, text in _ABOUT:
        if pattern.match(heading):
            return pattern.sub(text, heading)
    return heading


_WIDTH, _HEIGHT, _MARGIN = 640, 360, 48


class Curve:
    """Rows of numbers in a CSV file; the first column only grows."""

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        self.path, self.columns = path, tuple(columns)
        self.rows: list[tuple[float, ...]] = []

    def resume(self, last: float) -> None:
        """Read what is there, up to a value of the first column."""
        if self.path.is_file():
            with self.path.open(encoding="utf-8", newline="") as file:
                rows = list(csv.reader(file))[1:]
            self.rows = [tuple(map(float, row)) for row in rows if float(row[0]) <= last]

    def add(self, *row: float) -> None:
        self.rows.append(tuple(float(value) for value in row))

    def write(self) -> None:
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(map(csv_cell, self.columns))
        writer.writerows([f"{value:.8g}" for value in row] for row in self.rows)
        write_atomically(self.path, out.getvalue())


def svg(lines: dict[str, Sequence[tuple[float, float]]], *, title: str) -> str:
    """Lines over a common axis, each named. Points are (x, y)."""
    points = [point for line in lines.values() for point in line]
    if not points:
        return f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}"/>'
    left, right = min(x for x, _ in points), max(x for x, _ in points)
    high = max(y for _, y in points) or 1.0

    def at(x: float, y: float) -> str:
        across = (x - left) / ((right - left) or 1) * (_WIDTH - 2 * _MARGIN) + _MARGIN
        return f"{across:.1f},{_HEIGHT - _MARGIN - y / high * (_HEIGHT - 2 * _MARGIN):.1f}"

    colours = ("#3b6ea8", "#c0563f", "#4c8a4a", "#7a5ca8")
    rows = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<text x="{_MARGIN}" y="24">{title}</text>',
        f'<path d="M{at(left, high)} L{at(left, 0)} L{at(right, 0)}" fill="none" stroke="#888"/>',
        f'<text x="4" y="{_MARGIN}">{high:.3g}</text>',
        f'<text x="4" y="{_HEIGHT - _MARGIN}">0</text>',
        f'<text x="{_WIDTH - _MARGIN}" y="{_HEIGHT - 16}" text-anchor="end">{right:g}</text>',
    ]
    for number, (name, line) in enumerate(lines.items()):
        colour = colours[number % len(colours)]
        path = " ".join(at(*point) for point in line)
        rows.append(f'<polyline points="{path}" fill="none" stroke="{colour}"/>')
        rows.append(
            f'<text x="{_WIDTH - 150}" y="{40 + 16 * number}" fill="{colour}">{name}</text>'
        )
    return "\n".join([*rows, "</svg>\n"])
