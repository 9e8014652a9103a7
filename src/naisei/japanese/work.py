"""Talk that gets something done, and talk for its own sake, by the classes of its words."""

from __future__ import annotations

import re

from naisei.japanese.spoken import Found, Sentence
from naisei.japanese.wordlists import WordList

__all__ = ["leisure", "work"]

_WORK, _DEAL, _STEPS = WordList("work"), WordList("deal"), WordList("steps")
_LEISURE = WordList("leisure")
#: サ変 nouns of feeling and chance, which carry nothing out.
_IDLE = WordList("idle")
#: A figure that somebody must act on: a clock time, a date, a quantity, money.
_FIGURE = re.compile(
    r"[0-9〇一二三四五六七八九十百千万]+(?:時(?:半|[0-9十]+分)?(?:まで|から|に|ごろ|頃|で)?|分(?:後|間|ほど|以内)?|日(?:まで|後|以内|に)|月[0-9一二三四五六七八九十]+日|円|部|枚|件|名|個|本|台|番|号|ページ|行目|通|パーセント|％|%|キロ|グラム|ミリ|センチ|階|泊|セット|箱|冊|社|点)"
)
_DEADLINE = re.compile(
    r"(?:今日|本日|明日|明後日|今週|来週|今月|来月|月曜|火曜|水曜|木曜|金曜|午前|午後|朝|昼|夕方|年内|月末|週末|定時|[0-9]時)(?:中に|までに?|いっぱい|締め)|先に|至急|早め|できるだけ早|間に合|どこまで(?:進|でき|やっ)|遅れ(?:て|そう)|済ん(?:だ|で)|終わ(?:った|り|って|らせ)"
)
#: Getting ready, settling, making sure: 〜ておく, これでいい？, which, how many, until when.
_SETTLING = re.compile(
    r"[てで](?:おき(?:ます|まし|ましょ)|おく(?:よ|ね|。|から|ので|$)|おいて(?:。|ね|よ|くだ|もら|いただ)|おい(?:た(?:よ|ので|から|。)))|(?:とき(?:ます|まし)|とく(?:よ|ね|わ|。|から|$)|といた(?:よ|から|。|ので))"
    r"|(?:これ|それ|この|その)[^。？]{0,6}(?:で(?:いい|合って|よろしい|大丈夫|いこう|行こう|いきましょう|お願い))|(?:いつ|何時|何日|いくつ|何個|何人|何枚|いくら|どこ|どちら)(?:まで|から|に(?:します|する|置|入れ|お)|で(?:す|しょ)|ほど|くらい|を)"
    r"|(?:では|じゃあ|それでは|なら)、?[^。？]{0,12}(?:ましょう|しよう|にします|お願い|いこう|頼む)|(?:し|り|き|み|べ|て|え|れ|せ)ましょうか"
)
#: A noun that becomes an act with する, the class that carries out: 確認, 提出, 修正.
_ACT = "サ変可能"


def work(sentence: Sentence) -> list[Found]:
    """`work`, `deal` (orders, bookings, payments), `steps`, `figure`, `deadline`, `settling`,
    `act`.

    act: another noun of action (サ変) that is no leisure: the class stands for what a list
    cannot hold.
    """
    text = sentence.text
    found = [Found("work", w) for w in _WORK.find(sentence)]
    found += [Found("deal", w) for w in _DEAL.find(sentence)]
    found += [Found("steps", w) for w in _STEPS.find(sentence)]
    found += [Found("figure", m[0]) for m in _FIGURE.finditer(text)]
    found += [Found("deadline", m[0]) for m in _DEADLINE.finditer(text)]
    idle = _IDLE.words
    found += [Found("settling", m[0]) for m in _SETTLING.finditer(text)]
    known = {f.text for f in found} | set(_LEISURE.find(sentence))
    found += [
        Found("act", w.surface)
        for w in sentence.words
        if w.kind == _ACT
        and len(w.surface) >= 2
        and w.surface not in known
        and w.surface not in idle
    ]
    return found


def leisure(sentence: Sentence) -> list[Found]:
    """`leisure`: hobbies, food, seasons, animals, love, memories."""
    return [Found("leisure", w) for w in _LEISURE.find(sentence)]
