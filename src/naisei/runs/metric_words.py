"""What metrics are called in Japanese, beside the names by which commands and files know them."""

from __future__ import annotations

import re

from naisei.lang import language

_KINDS = {
    "clear": "はっきりした質問",
    "vague": "あいまいな質問",
    "consultation": "相談",
    "unanswerable": "答えのない質問",
    "empty-title": "題なし",
}
_TIMES = {"after": "聞き返し後", "before": "聞き返し前", "gain": "聞き返しによる差"}
_WORDS = {
    "score": "得点",
    "pass": "成功率",
    "dpass": "違う行動を試した成功率",
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
    "quotes_verbatim": "引用が原文どおり",
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
_AT = re.compile(r"([a-z]+)([@^])(\d{1,3})(?:_(after|before|gain))?")


def called(name: str) -> str:
    """The Japanese name of a metric, where Japanese is spoken and it has one; else empty."""
    if language() != "ja":
        return ""
    kind, _, rest = name.rpartition("/")
    if kind and kind not in _KINDS:
        return ""
    if m := _AT.fullmatch(rest):
        word, sign, k, when = m.groups()
        if word not in _WORDS:
            return ""
        tries = f"{k} 回とも" if sign == "^" else f"@{k}"
        told = f"{_WORDS[word]} {tries}" + (f"（{_TIMES[when]}）" if when else "")
    else:
        told = _WORDS.get(rest, "")
    return f"{_KINDS[kind]}: {told}" if kind and told else told
