"""Conditions for a text to be scored: without them, a learnt score would measure the topic.

Praise is scored if an evaluation word may describe the hearer: not if it describes another topic
(「この映画は素敵」), nor in a question, a wish or a concession (「確かに便利ですが、」). Separate
homes are scored if the text mentions somebody's own home, a visit, a call or a parcel.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

#: `home`: the two live apart. `younger`, `elder`: the speaker is the younger, the elder one.
Fault = Literal["home", "younger", "elder", "praise", "negation"]
FAULTS: tuple[Fault, ...] = ("home", "younger", "elder", "praise", "negation")
#: Placeholders for the partner and the speaker (private-use characters).
PARTNER, SELF = "\ue001", "\ue002"

#: A negation.
NOT = re.compile(
    r"な[いくきけ]|なかっ|ません|ませ[ずぬ]|ず(?:に|、)|ねえ|ねー|んで(?:ください|ね|よ)"
    r"|禁止|[不未無](?![理茶料駄事来線])[\u3400-\u9fff]"
)
#: Set phrases with negative words that do not negate: must, perhaps, no doubt, cannot help; and tag
#: questions.
_SET_PHRASES = re.compile(
    r"(?:ん|の)?(?:じゃ|では)(?:ない|ありません)(?:の|ん)?(?:(?:です|でしょう)?か(?![らも])|[?？])"
    r"|(?:なければ|なきゃ|なくては|なくちゃ|なけりゃ|ないと|ねば|ずには?|ないでは)(?:、)?(?:なら|いけ|だめ|駄目|ダメ|いられ|おか|済ま|すま|いい|よい|構わ|かまわ|大丈夫|平気|なん)(?:ない|ません|なかった|なく(?!な[いか]|は)|ぬ)?"
    r"|かもしれ(?:ない|ません|なく|ないと)|かも知れ(?:ない|ません)|に過ぎ(?:ない|ません)|にすぎ(?:ない|ません)|しかた(?:が)?(?:ない|ありません|なく)|仕方(?:が)?(?:ない|ありません|なく)|しょうがな[いく]"
    r"|たまらな[いく]|とんでもな[いく]|もったいな[いく]|つまらな[いく]|くだらな[いく]|申し訳(?:ない|ありません|なく)|間違い(?:ない|ありません|なく)|違い(?:ない|ありません)|思わず|必ず|まず(?:は|、)?|少なくとも|なるべく"
    r"|危な[いく]|少な[いく]|汚な[いく]|幼な[いく]|切な[いく]|儚な[いく]|なんでもな[いく]|さりげなく|なんとなく|何となく|まもなく|間もなく|問題(?:ない|ありません)|足らず|知らず|とりあえず|相変わらず|わず"
)

_PLACE = (
    r"お?家|お?うち|ち(?=[はがのにもでっじゃ、。！？])|[お自]?宅|部屋|新居|マンション|アパート|下宿|寮|"
    r"町|街|[市区県](?=[はがのにもで])|地域|地方|地区|住|ベランダ|近所|最寄|駅|"
    r"大家|冷蔵庫|玄関|台所|風呂|鍵|暮ら|生活|窓|隣|天気|雨|雪|とこ"
)
_HOME = (
    rf"(?:{PARTNER}(?:さん)?|あなた|あんた)[のん](?:ご|新しい)?(?:{_PLACE})|そっち(?:の(?!方|ほう)|[はもにへ、]|まで)|そちら"
    rf"|(?:私|{SELF}|自分|ひとり|一人|独り)の?(?:{_PLACE})|うち(?:の(?:町|とこ|お?風呂|ほう|マンション)|から|に帰)"
    r"|こっち(?:[はも]|の(?!方|ほう)|に来)|こちら(?:[のは].{0,6}(?:町|地[域区]|家|雨|雪|天|街|窓|電)|[へに][いお来]|の居間)"
    r"|遊びに(?:来|行|い|お|伺)|泊[まめりっ]|お邪魔|おじゃま|(?<!話を)伺[いうっわ]|訪[ねれ問]|上が(?:って(?:[く。！、]|って)|り込)"
    r"|寄[っらりる](?:て|ます|ね|よ|と)|会[うえいっお](?![社話議場員計費合])|お会い|ぶり(?![っ返])|再会"
    r"|電話|通話|回線|電波|切[るり]ね|切ります|(?<!ラ)ベル鳴|連絡(?:ちょ|くだ|くれ|して(?:ね|よ|くだ))|声(?:を|が)?聞|LINEし"
    r"|(?<!データ)(?<!データを)(?:送(?:る[ねよか]|ってあ|ったやつ|ってよ)|郵送)|宅配|荷物|手土産|お土産|差し入れ|持って(?:伺|[い行]く)|預[けか]"
    r"|引っ?越|転居|別居|離れて[暮住]|暮らし|独居|上京|下宿|寮|親元|合鍵|ルーム|同居|一緒に住|別々|出て(?:って|行って)"
    r"|帰省|大家|契約|アパート|マンション|管理会社|家を出|実家(?:に(?:帰|い|戻|住)|へ帰|を|暮|から)|うちに(?:は?来|お|い|招|泊|寄)"
    r"|[自家]宅?まで|自宅|家に(?:は?来|お|い|招|着)|[着つ]いたら|迎え(?:に|が)|終電|電車で|新幹線|バス[で二]|駅(?:まで|前|から|で)"
    r"|待ち合わせ|(?<!観光客が)いらっしゃ(?:いませ|って(?:くだ|ね)|った)|お越し|(?<!観光)客|お?帰りは|帰[りる](?:道|の?電車|ね|わ|よ)|帰っておいで"
    r"|気をつけて(?:帰|お)|また(?:今度|ね)|ご近所|お住|住め|家賃|(?:別|違う|遠く)の?(?:家|町|街)"
    r"|遠くから|顔(?:を|も|くらい)(?:出|見|合|忘)|誰も(?:い|お|作)|人がいない|一人(?:なん?だ|分しか)|ひとり(?:なん?だ|で(?:食|ご)|ご)|[^は]んち[はがのにもで]|お宅|客間"
    r"|留守|ここで失礼|お暇[いを]|長居|おかえりって"
)
_KIN = (
    r"[姉兄妹弟]|生まれ|産まれ|年上|年下|下の|上の|先に|歳|いとこ|双子|きょうだい|"
    r"長女|次女|末っ子|お下がり|おさがり|小さい|赤ちゃん|おむつ|子守|抱っこ|"
    r"学年|年生|幼稚園|義理|一人っ子|つ[上下]|長く生き|[上下]なん|昔の|"
    r"保育園|お腹|大きくなったら|中学|高校|小学|お守|あやし|若い|お先|先輩|"
    r"後輩|義|血の"
)
_VALUES = (
    r"さすが|流石|天才|素晴|すばらし|すご(?!く|そ)|スゴ|凄(?!く)|才能|センス|尊敬|感服|感心|"
    r"感動|感激|感嘆|見事|立派|完璧|最高|偉[いく大]|えら[いく]|上手|巧|達人|"
    r"名人|職人|プロ(?:だ|じゃ|み|級|並|顔負け|の(?:よう|腕|手))|一流|頼も|頼り|優し|やさし|賢|頭(?:が)?(?:い|よ|良)|"
    r"脱帽|憧れ|かなわ|敵わ|叶わ|勝て|世界一|世界で一番|一番(?:上手|すご|うま|賢|の[妹姉])|誇り|誇ら|自慢|輝|"
    r"美し|綺麗|きれい|かわいい|可愛|素敵|すてき|ステキ|神|鋭|洞察|発想|着眼点?|"
    r"観察[力眼]|慧眼|冴え|器用|まね|真似|敬服|拍手|ほれ|惚れ|お手の|優秀|秀|抜群|"
    r"特別な[人方子存力]|ない人|らしい(?:発|感|考)|努力|(?:頑張|がんば)(?!ろ|れ|りま|りす|り過)|よく(?:でき|気|ご|ぞ)|さえ|"
    r"[よい]い(?:ご?質問|ね|声)|良い(?:ご?質問|ご?意見|考え|案|ところ)|名(?:作|文|案|探偵|言)|魅力(?:的|です|だ|が|に)|まぶし|眩|"
    r"救われ|おかげ|お陰|ありがた|女神|天使|無敵|最強|理想|お手本|鑑|逸材|"
    r"記憶力|博識|物知り|詳し(?:い(?:ん|な|ね|よ|です|じゃ)|すぎ)|百点|満点|正解|"
    r"いたみ入|恐れ入|敵なし|独創|芸術|天性|驚かさ|敬意|誇|専門家(?:みたい|のよう|顔負け)|"
    r"惹きつけ|本質|頭の|賞賛|励み|完敗|見習|ずば抜け|間違いない|感性|豊か|人望|"
    r"似合|華が|意識の?高|卓越|丁寧|魔法|優れ(?!な|ま)|親身|誠実|正義感|下がり|人柄|"
    r"勇気|打たれ|知識の|引き出し|ほかにい|他にい|そうはい|なかなか(?:でき|い)|"
    r"腕前|手際|巧み|秀逸|眼力|知的|品の?ある|的確|的中|及び(?:ませ|もし)|及ばな|成長|目を見張|"
    r"鳥肌|花まる|優勝|ただ者|驚異|いい質問|ほどの?.{0,6}方|一人前|いらない(?:じゃん|ね)|店(?:が|を)?出せ|"
    r"さっすが|うますぎ|人材|表彰|目が肥|上品|育ちが|かっこい|強み|美点|見上げた|賢明|欠点が|勉強にな|料亭|なれ(?:る|ます)(?:って|よ|ね|。|！)|しっかりして|しびれ|冴|大好き|整って"
)


_NEEDED = re.compile(
    r"(?:ないと|なきゃ|なければ|なくちゃ)、?[^。！？]{0,10}?(?:でき|わか[らん]|分か[らん]|間に合[わい]|足り|意味が?"
    r"|[えけせてねめれべげ](?<!濡れ|遅れ|壊れ|怒れ|られ|冷め|枯れ|焦げ|忘れ|疲れ|倒れ|溶け)|続けられ)"
    r"(?:ない|ません|ありません)(?!ないで|なく)"
)


#: Traits and works of the hearer, whose praise is praise of the hearer.
_TRAITS = re.compile(
    r"(?:明るさ|優しさ|強さ|丁寧さ|賢さ|率直さ|前向きさ|豊かさ|鋭さ|速さ|器用さ|発想|[視観]点|着眼|考え|意見|質問|返[しす答]|話|説明|言葉|文章?|声|笑顔|才能|実力|腕|手|判断|勘|直感|記憶|頭|"
    r"心|心遣い|姿|努力|センス|感性|味付け|字|絵|歌|色|段取り|読み|分析|推理|観察|人柄|性格|目|耳|舌|足|行動|仕事|工夫|"
    r"準備|気|力|度胸|愛想|性|ユーモア|料理|出来|仕上|選|指摘|解説|まとめ|使い|それ|これ|そこ|[とど]ころ|こと|自体|[るくうつすむぶたぐ]の)(?:方|力|ぶり|の[^の]{1,4})?\Z"
)
#: The last topic before an evaluation word.
_TOPIC = re.compile(
    r"([^、。！？…\s]{1,20}?)(?:(?<!と)は(?![ずいっ])|って(?![るいたきくみしおも、])|が(?![らんり])|(?<![とつでらて])も(?![のうっら]))"
)
#: After an evaluation word: a concession, a question, a wish, hearsay.
_HELD_BACK = re.compile(
    r"[^。！？、]{0,12}?(?:(?:です|ます|だ|い|た|る)(?:が|けど|けれど)(?:、|\Z)|ですか|ますか|でしょうか|かな|んだろう|かも"
    r"|みたいだ|そう(?:だ|です|[！。]|じゃ)|てほし|てくださ|たい|ように|なら|たら|れば|のに|なきゃ|ないと|が好き)"
)
#: The noun that an evaluation word describes, and nouns for a person or a person's work.
_THING = re.compile(
    r"(?:しい|い|な|れる|ある|的な)?[おご]?([一-鿿ァ-ヶーA-Za-z]{1,8})(?:だ|です|じゃ|ね|よ|って|ばかり|を|[がはにでの。！]|\Z)"
)
_PERSON = re.compile(r"人|方|子|妹|姉|者|家|屋|先生|神|証|選択|計画|表現|答|名")
#: Evaluation words that describe things more often than people.
_OF_THINGS = re.compile(
    r"綺麗|きれい|美し|可愛|かわいい|素敵|すてき|ステキ|魅力|最高|いいね|大好|楽し|輝"
)
_HEARER = re.compile(rf"[{PARTNER}]|あなた|あんた|きみ|皆[様さ]|みなさ|みんな|お聞きの|リスナー")
#: Traits or actions that only a person has, so that their praise needs no name.
_QUALITIES = re.compile(
    r"質問|視点|着眼|指摘|発想|考え方|洞察|才能|文才|センス|腕前|手際|記憶力|判断[力！です]|人柄|心遣い|心配り|気遣い|"
    r"思いやり|努力(?:家|の成果|は)|行動力|要約力|度胸|知性|眼力|さすが|流石|尊敬|えら[いすく]|頭(?:の回転|い|がい|が下)|気が利|器用|"
    r"上手(?:だ|です|い|すぎ|じゃ|ね|[。！])|見習|脱帽|敬服|感服|自慢の|誇|どころが|意識.?高|気づく"
)
_NEAR = 24
_SENTENCE = re.compile(r"[^。！？…\n]*(?:[。！？…\n]+|\Z)")


def about(fault: Fault, text: str) -> str:
    """The part of a normalised text to score for the fault; empty if it does not concern it."""
    if fault == "negation":
        denies = NOT.search(text) is not None and NOT.search(without_phrases(text)) is not None
        return text if denies and _NEEDED.search(text) is None else ""
    if fault != "praise":
        return text if _SIGNS[fault].search(text) else ""
    return "".join(filter(_of_hearer, _SENTENCE.findall(text)))


@lru_cache(maxsize=4)
def without_phrases(text: str) -> str:
    """A text without set phrases (「なければならない」), which do not negate."""
    return _SET_PHRASES.sub("〓", text)


def _of_hearer(sentence: str) -> bool:
    """Whether an evaluation word in a sentence may describe the hearer."""
    return any(
        _bears(sentence, *found.span())
        for value in _EACH_VALUE
        for found in value.finditer(sentence)
    )


def _bears(sentence: str, start: int, end: int) -> bool:
    if _HELD_BACK.match(sentence, end) is not None:
        return False
    thing = _THING.match(sentence, end)
    of_thing = thing is not None and not (_TRAITS.search(thing[1]) or _PERSON.search(thing[1]))
    if of_thing and _OF_THINGS.match(sentence, start):
        return False
    if _HEARER.search(sentence, max(0, start - _NEAR), start) is not None:
        return True
    if _HEARER.search(sentence[end : end + _NEAR].split("、")[0]) is not None:
        return True
    if thing is not None and not of_thing:
        return True
    if _QUALITIES.search(sentence) is not None:
        return True
    topics = _TOPIC.findall(sentence, 0, start)
    if topics or _OF_THINGS.match(sentence, start):
        return bool(topics) and _TRAITS.search(topics[-1]) is not None
    return not of_thing


def names_hearer(text: str) -> bool:
    """Whether a normalised text mentions the hearer, or a trait that only a person has."""
    return _HEARER.search(text) is not None or _QUALITIES.search(text) is not None


#: Fault → an expression that must match the text.
SIGNS: dict[Fault, str] = {
    "home": _HOME,
    "younger": _KIN,
    "elder": _KIN,
    "praise": _VALUES,
    "negation": NOT.pattern,
}
_SIGNS = {fault: re.compile(sign) for fault, sign in SIGNS.items()}


def _branches(pattern: str) -> list[str]:
    """Split an expression into its alternatives: `家|(?:駅|街)まで` has two."""
    found, depth, listed = [""], 0, False
    for one in re.findall(r"\\.|.", pattern):
        listed = one != "]" if listed else one == "["
        depth += 0 if listed else (one == "(") - (one == ")")
        if one == "|" and not depth and not listed:
            found.append("")
        else:
            found[-1] += one
    return found


#: Searched one by one, since evaluation words overlap.
_EACH_VALUE = [re.compile(value) for value in _branches(_VALUES)]
