"""Talk that gets something done, and talk for its own sake, by the classes of its words."""

from __future__ import annotations

import re

from naisei.japanese.spoken import Found, Sentence
from naisei.japanese.wordlists import WordList

__all__ = ["leisure", "work"]

_WORK, _DEAL, _STEPS = WordList("work"), WordList("deal"), WordList("steps")
_LEISURE = WordList("leisure")
#: A figure that somebody must act on: a clock time, a date, a quantity, money.
_FIGURE = re.compile(
    r"[0-9〇一二三四五六七八九十百千万]+(?:時(?:半|[0-9十]+分)?(?:まで|から|に|ごろ|頃|で)?|分(?:後|間|ほど|以内)?|日(?:まで|後|以内|に)|月[0-9一二三四五六七八九十]+日|円|部|枚|件|名|個|本|台|番|号|ページ|行目|通|パーセント|％|%|キロ|グラム|ミリ|センチ|階|泊|セット|箱|冊|社|点)"
)
_DEADLINE = re.compile(
    r"(?:今日|本日|明日|明後日|今週|来週|今月|来月|月曜|火曜|水曜|木曜|金曜|午前|午後|朝|昼|夕方|年内|月末|週末|定時|[0-9]時)(?:中に|までに?|いっぱい|締め)|先に|至急|早め|できるだけ早|間に合|どこまで(?:進|でき|やっ)|遅れ(?:て|そう)|済ん(?:だ|で)|終わ(?:った|り|って|らせ)"
)
#: A noun that becomes an act with する, the class that carries out: 確認, 提出, 修正.
_ACT = "サ変可能"


def work(sentence: Sentence) -> list[Found]:
    """`work`, `deal` (orders, bookings, payments), `steps`, `figure`, `deadline`, `act`.

    act: another noun of action (サ変) that is no leisure: the class stands for what a list
    cannot hold.
    """
    text = sentence.text
    found = [Found("work", w) for w in _WORK.find(sentence)]
    found += [Found("deal", w) for w in _DEAL.find(sentence)]
    found += [Found("steps", w) for w in _STEPS.find(sentence)]
    found += [Found("figure", m[0]) for m in _FIGURE.finditer(text)]
    found += [Found("deadline", m[0]) for m in _DEADLINE.finditer(text)]
    known = {f.text for f in found} | set(_LEISURE.find(sentence))
    found += [
        Found("act", w.surface)
        for w in sentence.words
        if w.kind == _ACT
        and len(w.surface) >= 2
        and w.surface not in known
        and w.surface not in _IDLE
    ]
    return found


def leisure(sentence: Sentence) -> list[Found]:
    """`leisure`: hobbies, food, seasons, animals, love, memories."""
    return [Found("leisure", w) for w in _LEISURE.find(sentence)]


#: サ変 nouns of feeling and chance, which carry nothing out.
_IDLE = frozenset(
    "一緒 心配 感動 感激 緊張 失恋 恋愛 結婚 離婚 旅行 散歩 昼寝 寝坊 喧嘩 失敗 成功 苦労 我慢 安心 満足 納得 関係 影響 存在 経験 記憶 想像 "
    "びっくり どきどき わくわく のんびり 感謝 了解 失礼 勉強 無理 挨拶 世話 応援 期待 尊敬 卒業 入学 引退 成長 生活 話 お話 食事 料理 運動".split()
)
