"""Headings of tables as a Japanese reader reads them.

Files for machines (JSON, CSV, Markdown) keep the English names, whatever the language; only what
is looked at is worded.
"""

from __future__ import annotations

import re

from naisei.lang import language

__all__ = ["worded"]

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
