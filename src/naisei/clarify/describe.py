"""Text forms of scenes, trials and actions for prompts, and the refusal text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from naisei.clarify.schemas import (
    ActionSet,
    Facts,
    Language,
    Scene,
    TrialLog,
)

WORDS = {
    "ja": {
        "utterance": "ユーザの発話",
        "name": "名前",
        "place": "いる場所",
        "posture": "様子",
        "holding": "手に持っている物",
        "reach": "手の届く物",
        "time": "時間帯",
        "company": "一緒にいる人",
        "user": "ユーザの状況",
        "surroundings": "周囲に見える物",
        "comma": "、",
        "trial": "{n}回目の試行",
        "thought": "考え",
        "question": "質問",
        "answer": "回答",
        "execute": "実行",
        "nothing": "なし",
        "right": "正解",
        "wrong": "不正解",
        "unequal": "不正解（足りないか、余計なものがある）",
        "memo": "内省メモ",
        "gold": "本当の望み",
        "colon": "：",
    },
    "en": {
        "utterance": "The user says",
        "name": "name",
        "place": "place",
        "posture": "posture",
        "holding": "holding",
        "reach": "within reach",
        "time": "time of day",
        "company": "with",
        "user": "The user",
        "surroundings": "What can be seen around",
        "comma": "; ",
        "trial": "Trial {n}",
        "thought": "thought",
        "question": "question",
        "answer": "answer",
        "execute": "executed",
        "nothing": "nothing",
        "right": "right",
        "wrong": "wrong",
        "unequal": "wrong (something missing or needless)",
        "memo": "Reflection memo",
        "gold": "What was wanted",
        "colon": ": ",
    },
}


def scene_text(scene: Scene) -> str:
    """A scene as text, one line per fact."""
    w = WORDS[scene.language]
    opening, closing = ("「", "」") if scene.language == "ja" else ('"', '"')
    lines = [f"{w['utterance']}{w['colon']}{opening}{scene.utterance}{closing}"]
    user = scene.user
    facts = {
        "name": user.name,
        "place": user.place,
        "posture": user.posture,
        "holding": w["comma"].join(user.holding),
        "reach": w["comma"].join(user.reach),
        "time": user.time,
        "company": w["comma"].join(user.company),
    }
    known = [f"- {w[name]}{w['colon']}{value}" for name, value in facts.items() if value]
    if known:
        lines += [w["user"], *known]
    if scene.surroundings:
        lines.append(w["surroundings"])
        lines += [
            f"- {area}{w['colon']}{w['comma'].join(things)}"
            for area, things in scene.surroundings.items()
        ]
    return "\n".join(lines)


_FACTS = {
    "ja": {
        "first": "まず言うこと",
        "why": "きっかけ",
        "what_for": "目的",
        "state": "いまの様子",
        "whom": "誰のためか",
        "name": "物の呼び方",
        "true": "当てはまること",
        "false": "当てはまらないこと",
        "no": "「{action}」ではない理由",
        "comma": "、",
        "colon": "：",
    },
    "en": {
        "first": "what you say first",
        "why": "how it came up",
        "what_for": "what for",
        "state": "how things are",
        "whom": "for whom",
        "name": "how you call the thing",
        "true": "what is so",
        "false": "what is not so",
        "no": 'why not "{action}"',
        "comma": "; ",
        "colon": ": ",
    },
}


def facts_text(facts: Facts, actions: ActionSet, language: Language) -> str:
    """The facts of a wish, one per line."""
    w = _FACTS[language]
    rows = [(w[k], getattr(facts, k)) for k in ("first", "why", "what_for", "state", "whom")]
    rows += [(w["name"], facts.name)]
    rows += [(w[k], w["comma"].join(getattr(facts, k))) for k in ("true", "false")]
    rows += [(w["no"].format(action=actions.text(a)), why) for a, why in facts.no.items()]
    return "\n".join(f"- {what}{w['colon']}{said}" for what, said in rows if said)


def action_list(actions: ActionSet) -> str:
    """One line per action: its id and its text."""
    return "\n".join(f"{a.id}. {a.text}" for a in actions)


#: How many actions are wanted: one, perhaps several, perhaps none.
_WANTED = {
    "ja": (
        "望まれている行動は、一覧のうちただ一つです。ほかの行動がもっともらしく見えても、"
        "この人が今望んでいるのはその一つだけです。",
        "望まれている行動は、ふつう一覧のうちただ一つです。"
        "まれに、二つか三つをまとめて望んでいることがあります。",
        "望まれている行動は、ふつう一覧のうち一つです。どれでもないこともあります。",
    ),
    "en": (
        "Exactly one of them is wanted. Others may look sensible too, but this person wants "
        "that one, now.",
        "As a rule exactly one of them is wanted; rarely two or three are wanted together.",
        "As a rule one of them is wanted; it may be none.",
    ),
}


def wanted_text(language: Language, *, several: bool, declines: bool = False) -> str:
    """A prompt text on how many actions may be wanted."""
    return _WANTED[language][2 if declines else several]


_TRIED = {
    "ja": ("すでに実行して違っていた行動{barred}：{sets}", "（もう選べません）", "、"),
    "en": ("Already executed and wrong{barred}: {sets}", " (no longer allowed)", ", "),
}
#: A failed set may contain a wanted action.
_OF_SEVERAL = {
    "ja": "（足りないか、余計なものがありました。違う組み合わせなら選べます）",
    "en": " (something was missing or needless; other combinations may be chosen)",
}


def set_text(acts: Iterable[int], actions: ActionSet) -> str:
    """Actions executed together, as text with their numbers."""
    return " + ".join(f"{a}. {actions.text(a)}" for a in sorted(acts))


def tried_text(
    tried: Sequence[frozenset[int]],
    actions: ActionSet,
    language: Language,
    *,
    masked: bool,
    several: bool,
) -> str:
    """The failed actions by trial. masked: whether they are now forbidden."""
    line, barred, comma = _TRIED[language]
    note = _OF_SEVERAL[language] if several else barred if masked else ""
    return line.format(barred=note, sets=comma.join(set_text(acts, actions) for acts in tried))


def trial_text(
    log: TrialLog, actions: ActionSet, language: Language, *, several: bool = False
) -> str:
    """One trial, step by step, with its outcome but without the right answer. several: more than
    one action may be wanted, so a wrong set may contain a right one."""
    w = WORDS[language]
    lines = [w["trial"].format(n=log.trial)]
    for turn in log.turns:
        if turn.thought:
            lines.append(f"{w['thought']}{w['colon']}{turn.thought}")
        lines.append(f"{w['question']}{w['colon']}{turn.question}")
        lines.append(f"{w['answer']}{w['colon']}{turn.answer}")
    if log.thought:
        lines.append(f"{w['thought']}{w['colon']}{log.thought}")
    outcome = w["right"] if log.success else w["unequal" if several and log.acts else "wrong"]
    done = w["comma"].join(map(actions.text, log.acts)) or w["nothing"]
    lines.append(f"{w['execute']}{w['colon']}{done} → {outcome}")
    return "\n".join(lines)


#: A user simulator's reply to a useless question (paper, Figure 6, rule 4).
REFUSAL = "【回答できません】"

_REFUSAL = re.compile(
    r"[\[【「(]?\s*(回答できません|cannot answer)\s*[\]】」)]?[。.]?", re.IGNORECASE
)


def is_refusal(answer: str) -> bool:
    """Whether an answer consists only of the refusal, in any brackets."""
    return _REFUSAL.fullmatch(unicodedata.normalize("NFKC", answer).strip()) is not None
