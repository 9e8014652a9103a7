"""Display names of metrics, tables and their columns on pages.

Commands and machine-readable files (JSON, CSV, Markdown) always use the English names;
only displayed text is translated.
"""

from __future__ import annotations

import re

from naisei.lang import language

_QUESTIONS = {
    "clear": "はっきりした質問",
    "vague": "あいまいな質問",
    "consultation": "相談",
    "unanswerable": "答えのない質問",
    "empty-title": "題なし",
}
_TIMES = {"after": "聞き返し後", "before": "聞き返し前", "gain": "聞き返しによる差"}
_METRICS = {
    "score": "得点",
    "pass": "成功率",
    "dpass": "割引付き成功率",
    "coverage": "条件の網羅率",
    "recall": "再現率",
    "mrr": "MRR",
    "aligned": "本文の一致",
    "answer_support": "答えの裏付け",
    "answered": "答えた割合",
    "asked": "聞き返した割合",
    "calibration_error": "確率のずれ",
    "calls_per_turn": "発話あたりの呼び出し",
    "cited_gold": "正解を引用",
    "emphasis_rate": "強調率",
    "fell_back": "諦めて言わせた割合",
    "first_pass_rate": "一度で通った割合",
    "gave_up": "断念",
    "injected_rate": "関係を伝えた割合",
    "judge_mean": "採点の平均",
    "judge_spread": "採点のばらつき",
    "latency_mean": "待ち時間の平均",
    "latency_median": "待ち時間の中央値",
    "latency_p95": "待ち時間の 95 パーセンタイル",
    "line_length": "一行の長さ",
    "lost": "失敗",
    "mean_steps": "平均手数",
    "normalized_score": "得点率",
    "over_asking": "聞きすぎ",
    "under_asking": "聞き足りない",
    "pass_rate": "通った割合",
    "questions": "質問の数",
    "questions_first_trial": "最初の試行での質問の数",
    "leaked": "知らないはずの語を言った対話",
    "reading_failures": "読み取りの失敗",
    "refusals_right": "正しく断った割合",
    "refusals_wrong": "誤って断った割合",
    "repaired_readings": "直した読み取り",
    "repairs": "聞き直し",
    "repeated_actions": "同じ行動の繰り返し",
    "retries_per_turn": "発話あたりの書き直し",
    "routing_agreement": "最初の判断の一致",
    "silent_rate": "何も言わなかった割合",
    "span_f1": "区間の F1",
    "span_f1_article": "区間の F1（文書平均）",
    "span_precision": "区間の適合率",
    "span_recall": "区間の再現率",
    "timed_out": "時間切れ",
    "token_f1": "語の F1",
    "token_f1_article": "語の F1（文書平均）",
    "token_precision": "語の適合率",
    "token_recall": "語の再現率",
    "tokens_per_second": "毎秒の語数",
    "tokens_per_turn": "発話あたりのトークン",
    "tokens_reflection_all": "内省のトークン",
    "tokens_reflection_success": "内省のトークン（成功のみ）",
    "tokens_total_all": "全体のトークン",
    "tokens_total_success": "全体のトークン（成功のみ）",
    "training_seconds": "学習の秒数",
    "walkthrough_steps": "付属の解答の手数",
    "warn_rate": "注意つきの割合",
    "won": "達成",
    "wrong_acts": "誤った行動",
}
_PAPERS = re.compile(r"\bd?pass(?=[@^])")
_AT_K = re.compile(r"([a-z]+)([@^])(\d{1,3})(?:_(after|before|gain))?")


def metric_name(name: str) -> str:
    """Return the display name of a metric, as in the papers; empty if it has none."""
    if language() != "ja":
        told = _PAPERS.sub(lambda m: m[0][:-4].upper() + "Pass", name).replace("_", " ")
        return told if told != name else ""
    kind, _, rest = name.rpartition("/")
    if kind and kind not in _QUESTIONS:
        return ""
    if m := _AT_K.fullmatch(rest):
        word, sign, k, when = m.groups()
        if word not in _METRICS:
            return ""
        tries = f"{k} 回とも" if sign == "^" else f"@{k}"
        told = f"{_METRICS[word]} {tries}" + (f"（{_TIMES[when]}）" if when else "")
    else:
        told = _METRICS.get(rest, "")
    return f"{_QUESTIONS[kind]}: {told}" if kind and told else told


_HEADINGS = {
    # Titles.
    "By kind of question": "質問の種類別",
    "Conditions": "条件",
    "Differences (second − first)": "差（後 − 前）",
    "First example of each fault": "各欠陥の最初の例",
    "Drafts by check": "検査別の案",
    "Learning curve": "学習曲線",
    "Metrics": "指標",
    "Readings": "関係値",
    "Turns by character": "キャラクター別のターン",
    "The judge's scores, means of 1 to 5": "採点役の点（1〜5 の平均）",
    "Tokens by role": "役割別のトークン",
    "by kind of ambiguity": "曖昧さの種類別",
    "games": "ゲーム",
    "items": "件",
    "tokens per instance by role": "一件あたりのトークン（役割別）",
    "solved within so many questions": "質問の数と成功率",
    "plausible-set oracle": "もっともらしい行動だけを選ぶ上限",
    "Questions at equal success": "同じ成功率に要る質問の数",
    "Robustness: the user it fares worst with": "いちばん苦手なユーザー",
    "Results": "結果",
    # Columns.
    "alpha": "α",
    "answer": "答え",
    "Agreement": "読む人どうしの一致",
    "reader 1": "読む人 1",
    "reader 2": "読む人 2",
    "equal": "同じ答え",
    # Kinds of ambiguity.
    "indirect_wish": "遠回しな望み",
    "missing_object": "物を言わない",
    "missing_purpose": "目的を言わない",
    "reference": "指すものが不明",
    "several_needs": "望みが複数",
    "situation_only": "状況だけを言う",
    # Fields of a scene.
    "utterance": "発話",
    "speaker": "話し手",
    "user": "ユーザー",
    "surroundings": "まわりの物",
    "place": "場所",
    "posture": "様子",
    "holding": "持っている物",
    "reach": "手の届く物",
    "time": "時刻",
    "company": "一緒にいる人",
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
    "fewer than two clusters: no interval": "まとまりが 1 つしかないので区間なし",
    "nothing varies between clusters: no interval": "まとまりの間に違いがないので区間なし",
    "the agent never asks": "質問しないエージェント",
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
#: A heading that contains the name of a row.
_ABOUT = (
    (re.compile(r"^Difference from (.+) \(row − .*\)$"), r"\1 との差（各行 − \1）"),
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
    """Translate a title or column name to the reader's language; metric names are unchanged."""
    if language() != "ja":
        return heading
    if heading in _HEADINGS:
        return _HEADINGS[heading]
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
