"""Worries that cannot wait: the hotline, desk or safety step of the documents is shown at once.

Told by words alone, with a model or without: nobody who is beaten is asked back first.
"""

# ruff: noqa: E501

from __future__ import annotations

import re
from typing import NamedTuple

from naisei.core import Evidence, Flow, Search
from naisei.intent.dialogue import Dialogue
from naisei.intent.effects import Weigh
from naisei.intent.evidence import Found, another_model, newest_first, place_of
from naisei.intent.extraction import quotes
from naisei.intent.messages import rests_on
from naisei.intent.rules import Setting
from naisei.intent.schemas import Evaluation, Reply, Urgent
from naisei.japanese.morph import normalise

__all__ = ["told_urgent", "urgent_reply"]


class _Kind(NamedTuple):
    """said: how it is told. sought: what the documents call it. call: the public numbers of Japan,
    where a life may depend on them."""

    name: Urgent
    said: re.Pattern[str]
    sought: str
    passage: re.Pattern[str]
    call: tuple[str, str] = ("", "")


_POLICE = (
    "身の危険があるときは、ためらわず 110 番（警察）に電話してください。",
    "If you are in danger, call 110 (police) without hesitating.",
)
_AMBULANCE = (
    "命にかかわるときや火が出ているときは、すぐに 119 番（救急・消防）に電話してください。",
    "If a life is at stake or there is fire, call 119 (ambulance, fire brigade) at once.",
)
_PHONE = r"[0-9]{2,5}[-ー－(（][0-9]{1,4}|[#＃][0-9]{3,4}|1[01]9|[0-9]{3,4}番|内線"
_STOP = "直ちに|ただちに|すぐに|すぐ|中止|抜[いくき]|切[りっ]て|離れ|換気|医療機関|受診|救急|避難|連絡|停止"
_KINDS = (
    _Kind(
        "life",
        re.compile(
            "死にたい|しにたい|消えたい|消えてしまいたい|いなくなりたい|生きて(?:いる|る)のが|生きてい(?:たく|けない)|自殺|自死|自傷|リスカ|"
            "リストカット|もう(?:限界|むり|無理)(?:です|だ|。|！|$)|kill myself|suicid",
            re.I,
        ),
        "自殺予防 こころの健康 いのちの電話 悩み 相談窓口 電話",
        re.compile(f"自殺|いのち|こころ|心の|メンタル|悩み|相談.*(?:{_PHONE})"),
        _AMBULANCE,
    ),
    _Kind(
        "violence",
        re.compile(
            "(?:夫|妻|旦那|主人|彼氏?|彼女|父|母|親|家族|パートナー|上司|先輩|同居|恋人|息子|娘|配偶者|交際相手|元カレ|元夫).{0,12}(?:殴|叩|たたか|蹴|暴力|"
            "怒鳴|首を絞|脅|暴れ|物を投げ|ぶた|なぐ)|DV(?!D)|(?:殴|蹴|叩|ぶた|なぐ|たたか)(?:られ|れ)|暴力(?:を|が|に)|虐待|ぎゃくたい|"
            "ストーカー|つきまと|性被害|性的|痴漢|レイプ|襲われ|いじめ(?:られ|にあ|に遭|を受け)|beat(?:s|en)? me|hits me|abus",
            re.I,
        ),
        "暴力 DV 配偶者 虐待 いじめ ハラスメント 被害 相談窓口 電話",
        re.compile(f"暴力|DV(?!D)|虐待|いじめ|ハラスメント|被害|相談.*(?:{_PHONE})"),
        _POLICE,
    ),
    _Kind(
        "fire",
        re.compile(
            "煙が?(?:出|で|もく|上が|あが)|発煙|火が?(?:出|つい|付い|噴)|発火|火花|燃え(?:て|た|そう|出)|焦げ(?:た|臭|くさ)|こげ(?:た|臭|くさ)|異臭|"
            "変な(?:臭|にお|匂)|ガス(?:臭|くさ|漏|もれ|のにお)|感電|(?:触|さわ)(?:る|っ|れ).{0,6}ビリ|ビリッと(?:し|き)|火事|爆発|熱くて(?:持て|触れ|さわれ)|破裂|smok(?:e|ing)|on fire",
            re.I,
        ),
        "煙 異臭 焦げ 発火 感電 使用を中止 電源プラグを抜く 緊急 連絡先 電話",
        re.compile("煙|異臭|焦げ|発火|火災|感電|ガス|使用を(?:中止|やめ)|電源プラグ"),
        _AMBULANCE,
    ),
    _Kind(
        "accident",
        re.compile(
            "(?:飲み込|のみこ|飲んじゃ|飲んでしま|誤飲|誤って飲|口に入れ|食べちゃ|食べてしまった).{0,20}|やけど|火傷|大けが|大怪我|はさまれ|挟まれ|"
            "溺れ|倒れ(?:た|て(?:い|し|る|ま))|意識が(?:な|もうろう)|けいれん|swallow",
            re.I,
        ),
        "誤飲 飲み込んだ やけど けが 直ちに 医師 受診 救急 緊急 連絡先 電話",
        re.compile(f"飲み込|誤飲|やけど|けが|怪我|救急|医師|医療機関|受診|緊急.*(?:{_PHONE})"),
        _AMBULANCE,
    ),
    _Kind(
        "illness",
        re.compile(
            "(?:急に|突然|夜中|夜間|夜に|休日|日曜|今すぐ|いま|今(?![年月週回後度])).{0,16}(?:(?<![光断加電余])熱(?![中湯い心帯])|発熱|腹痛|おなか|お腹|吐|嘔吐|痛く|痛み|苦し|息が|具合|体調|けいれん|発作)|"
            "熱が(?:あっ|出|で|下が|4|３|3|４)|息ができ|胸が(?:痛|苦し)|救急車|ぐったり|具合が(?:悪|わる)|発作|sudden(?:ly)? (?:ill|sick)",
            re.I,
        ),
        "急病 夜間 休日 救急 診療 医療機関 電話相談",
        re.compile("急病|救急|夜間|休日|診療|医療機関|医師|産業医"),
        _AMBULANCE,
    ),
    _Kind(
        "disaster",
        re.compile(
            "(?:地震|津波|洪水|大雨|台風|土砂|川が|浸水|避難|停電|噴火).{0,24}(?:きた|来た|起き|あった|あふれ|溢れ|増え|どこに|どこへ|どうすれ|どうしたら|逃げ|"
            "こわ|怖|揺れ|しそう|なった|してい|中|場所|始ま)|逃げ(?:る|た|れば|なきゃ|ないと)|水(?:漏れ|もれ)|水が(?:漏れ|もれ|あふれ|溢れ|止まら)|水浸し|earthquake|flood",
            re.I,
        ),
        "災害 避難所 警報 緊急 漏水 断水 止水栓 連絡先 電話",
        re.compile("避難|災害|警報|緊急|漏水|水漏れ|止水|給水|安否"),
        ("", ""),
    ),
    _Kind(
        "lost",
        re.compile(
            "(?:カード|財布|免許証|保険証|印鑑|実印|通帳|鍵|かぎ|カギ|スマホ|携帯|パソコン|PC|端末|社員証|身分証|マイナンバー|パスポート|USB|鞄|かばん|カバン).{0,14}"
            "(?:なく(?:し|なっ)|無く(?:し|なっ)|失くし|落と|紛失|盗まれ|盗られ|見つから|見当たら|忘れてき|すられ)|(?:盗難|置き引き)に|lost my|stolen",
            re.I,
        ),
        "紛失 盗難 落とした 一時停止 利用停止 届け出 連絡先 電話",
        re.compile("紛失|盗難|停止|落とし|遺失|無くし|なくし|失くし"),
        ("", ""),
    ),
    _Kind(
        "fraud",
        re.compile(
            "詐欺|だまされ|騙され|架空請求|(?:暗証番号|口座|カード番号|パスワード|個人情報).{0,12}(?:教えて?(?:しま|ちゃ)|入力して?(?:しま|ちゃ)|伝えて?(?:しま|ちゃ))|"
            "(?:怪し|あやし|不審な)(?:い)?(?:電話|メール|人|訪問|SMS)|(?:メール|リンク|URL|添付).{0,12}(?:開いて?(?:しま|ちゃ)|クリックして?(?:しま|ちゃ)|押して?(?:しま|ちゃ))|"
            "乗っ取られ|ウイルスに|scam",
            re.I,
        ),
        "詐欺 不審 消費生活 被害 相談窓口 連絡先 電話",
        re.compile("詐欺|不審|消費|被害|悪質|フィッシング|ウイルス|標的"),
        ("", ""),
    ),
)
#: What is no worry but a question about one: of money, of rules, of what would be.
_ASKED = re.compile(
    "いくら(?!で)|何円|料金|手数料|請求|減免|まけて|安く|補助|助成|弁償|ゴミ|ごみ|捨て|(?:な|無|失)くしたら|落としたら|(?:手続き?|制度|とは|について|研修|訓練|保険|予防接種|料金|申請)(?:を|は|の|に|って)?(?:教え|知り|いつ|何|どこ|いくら|ありますか)"
)


def told_urgent(text: str) -> _Kind | None:
    """The kind of worry that a message tells of; `None` for others."""
    folded = normalise(text)
    found = next((kind for kind in _KINDS if kind.said.search(folded)), None)
    grave = found is not None and found.name in ("life", "violence", "accident", "fire")
    return found if grave or not _ASKED.search(folded) else None


def urgent_reply(dialogue: Dialogue, setting: Setting) -> Flow[Reply | None]:
    """What the documents have for it; `None` for other messages, and where they have nothing."""
    kind = told_urgent(dialogue.said[-1])
    if kind is None:
        return None
    said = " ".join(dialogue.said)
    own = yield from Search(said, k=10, source="documents")
    desks = yield from Search(kind.sought, k=10, source="documents")
    weights = yield from Weigh(f"{said} {kind.sought}")
    named = {hit.id: hit for hit in (*desks, *own)}
    ranked = sorted(named.values(), key=lambda hit: -_fits(kind, hit, own, desks))
    fitting = [hit for hit in newest_first(said, ranked) if _fits(kind, hit, own, desks) > 1]
    fitting = sorted(fitting, key=lambda hit: another_model(said, hit))[:3]
    language = setting.rules.language
    call = kind.call[0 if language == "ja" else 1]
    if not fitting:
        return None
    from naisei.intent.answering import Grounded

    found = Found(hits=tuple(fitting), weights=weights)
    # Of a danger the step to take counts as much as the number to call.
    needs = f"{_PHONE}|{_STOP}" if kind.name in ("fire", "accident") else _PHONE
    parts = quotes(f"{said} {kind.sought}", found, needs=re.compile(needs))
    written = Grounded.of([(p.text, (p.hit + 1,)) for p in parts], found.hits, separator="\n")
    lines = [call, written.text, rests_on(written.citations, language)]
    return Reply(
        case=4,
        route="search",
        message="\n".join(line for line in lines if line),
        query=said,
        also=kind.sought,
        answer=written.text,
        citations=written.citations,
        evaluation=Evaluation(
            clarity=1, is_question=2, is_consultation=1, in_internal_docs=1, ask_person=1
        ),
        urgent=kind.name,
        dialogue=dialogue.exchanges,
        evidence=True,
        band="answer",
        hits=tuple(hit.id for hit in found.hits),
    )


def _fits(kind: _Kind, hit: Evidence, own: list[Evidence], desks: list[Evidence]) -> float:
    """How well a passage serves: it is about the worry, and has a number to call or a step to
    take; near the front of both searches."""
    text = f"{place_of(hit)}\n{hit.text}"
    if not kind.passage.search(text):
        return 0.0
    serves = bool(re.search(_PHONE, hit.text)) + 0.6 * bool(re.search(_STOP, hit.text))
    if not serves:
        return 0.0
    about = 0.5 * len({m[0] for m in kind.passage.finditer(text)})
    near = sum(1 - hits.index(hit) / 10 for hits in (own, desks) if hit in hits)
    return serves + min(1.0, about) + 1.5 * near
