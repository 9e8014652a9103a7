"""Kinds of persons that rules distinguish (市内・市外, 常勤・非常勤, 会員・一般), and statements
about oneself.

A field is one attribute of a person; its kinds exclude one another. Ages are not a field here:
people in one group may differ in age.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from naisei.japanese.morph import normalise
from naisei.lengths import cached_text


class PersonKind(NamedTuple):
    """field: its name. kind: index among the field's kinds. written: as in the text."""

    field: str
    kind: int
    written: str


#: Field → its kinds, each a pattern. Longer ones match first: 非常勤 is not 常勤.
_FIELDS: dict[str, tuple[str, ...]] = {
    "residence": (
        "[市区町村県都道府]内(?:在住者?|居住者?|の方|の人)?(?!会|線|容|科|の(?:会社|学校|職場|大学|高校|企業|店|勤務|病院|業者)|業者|循環)|"
        "(?:市|区|町|村|県|都|道|府)民(?!以外|で(?:は)?ない|税|課|会館|センター|ホール|プール|体育|病院|農園|活動|生活|相談|文化|館|協働|"
        "カード|サービス|窓口|票|部|葬|局|の(?:皆|広場|森))|"
        "residents?(?! card| tax)",
        "[市区町村県都道府]外(?:在住者?|居住者?|の方|の人)?(?!科|の(?:会社|学校|職場|大学|高校|企業|店|勤務|病院|業者)|業者)|[市区町村県都道府]民(?:以外|で(?:は)?ない)|non-?residents?",
    ),
    "employment": (
        "正社員|正職員|正規(?:の)?(?:職員|社員|雇用)|常勤(?:職員|講師|の)?|専任|フルタイム|full-?time",
        "非常勤(?:職員|講師)?|非正規",
        "契約社員|有期(?:雇用|契約)",
        "嘱託(?:社員|職員)?|再雇用",
        "パート(?:タイム|タイマー)?(?!ナー)|アルバイト|短時間(?:勤務者|労働者|社員)|part-?time",
        "派遣(?:社員|労働者)",
        "臨時(?:職員|社員)|会計年度任用職員",
        "業務委託|フリーランス",
    ),
    "level": (
        "学部(?:生|の学生)?(?!長)|undergraduates?",
        "大学院(?:生|の学生)?|修士(?:課程)?|博士(?:課程)?|(?<!under)graduate students?",
        "研究生|聴講生|科目等履修生",
        "短大生?|短期大学",
    ),
    "year": (
        *(
            f"[{n}{w}{k}]年(?:生|次)"
            for n, w, k in zip("123456", "１２３４５６", "一二三四五六", strict=True)
        ),
    ),
    "belonging": (
        "(?:在学|在校)生|学生(?!部|課|証|寮|相談|支援|センター|食堂)|"
        "(?<!under)(?<!graduate )students?(?! id| card)",
        "教員|教職員|教授|faculty",
        "(?<!教)(?<!正)(?<!常勤)(?<!嘱託)(?<!臨時)(?<!任用)職員(?!課|室|証)|\\bstaff\\b",
        "卒業生|校友|OB|alumni",
        "学外(?:者|の方)?|外部の方",
    ),
    "membership": (
        "(?<!非)(?<!委)(?<!議)(?:正|家族|法人|個人|賛助)?会員(?!証|制|登録|以外|でない|規約)|(?<!non-)(?<!non)\\bmembers?\\b",
        "非会員|会員(?:以外|でない)(?:の方)?|ビジター|一般(?:の方|の人|利用者?|客)?(?!ごみ|廃棄|的|会計|職|に|質問|競争|用|社員|管理)|non-?members?",
    ),
    "party": (
        "個人(?!情報|番号|差|面談|事業)(?:の方|の場合)?|individuals?",
        "団体(?!交渉|割)|グループ(?!ウェア|会社|ホーム)|groups? of",
        "法人(?!税)|企業|会社(?=の場合|は|が)|corporat\\w+",
        "個人事業(?:主|者)|自営業者?",
    ),
}
_KIND = re.compile(
    "|".join(
        f"(?P<{field}_{n}>{pattern})"
        for field, n, pattern in sorted(
            ((f, n, p) for f, patterns in _FIELDS.items() for n, p in enumerate(patterns)),
            # Of two at one position the negated or longer one counts.
            key=lambda at: (
                not re.match("非|\\[市区町村県都道府\\]外|個人事業|大学院", at[2]),
                at[0],
                at[1],
            ),
        )
    ),
    re.I,
)


@cached_text(2048)
def person_kinds(text: str) -> tuple[PersonKind, ...]:
    """The kinds of persons that a text names, in text order."""
    found = []
    for m in _KIND.finditer(normalise(text)):
        field, _, kind = (m.lastgroup or "").rpartition("_")
        found.append(PersonKind(field, int(kind), m[0]))
    return tuple(found)


#: People other than the speaker.
_OTHERS = re.compile(
    "友(?:人|達|だち)|知人|知り合い|同僚|部下|後輩|先輩|上司|[父母夫妻子娘兄弟姉妹孫甥姪](?!会)|両親|息子|祖[父母]|家族|彼女?|主人|パパ|ママ|"
    r"\b(?:my (?!self)|friend|he|she|they)\b",
    re.I,
)
_TELLS = (
    # 市外在住です、非常勤なので
    "(?:です(?!か)|でして|なので|なんです|ですので|だ(?!っ|と|け)|だけど|ですが|ですけど|である|として働|として勤|に(?:住|在住|通|所属)|"
    "在住|在勤|在学|で働|をして(?:い|お)|の者)"
)
_SELF = re.compile(
    r"(?:^|[、。,.\s])((?:私|わたし|わたくし|僕|ぼく|俺|自分)は[^、。？?！!]{1,30}?(?:です|でして|なので|だ|をして(?:い|お)(?:ます|り)))|"
    r"([^、。はがもを？?！!\s]{2,14}(?:に住んで|に勤めて|で働いて|に通って|在住|在勤|在学)(?:い(?:て|ます|る)|おり(?:ます)?|です|で|の者)?)|"
    r"(\bI(?:'m| am) (?:an? )?[a-z][^,.;?!]{2,40})|"
    r"(\bI (?:live|work|study) (?:in|at|as|for|outside) [^,.;?!]{2,40})",
    re.I,
)
_ASKS = re.compile(r"[？?]\s*$|(?:です|ます|でしょう|ません)か[。？?]?\s*$")
_SUPPOSES = re.compile("なら|だったら|の場合|だとしたら|でも(?!、)|って|とは|^if ", re.I)
_LONGEST = 40


def self_told(text: str) -> tuple[str, ...]:
    """The speaker's statements about themselves, as short clauses.

    >>> self_told("市外在住ですが、図書館のCDは何枚まで借りられますか。")
    ('市外在住です',)
    >>> self_told("非常勤でも休めますか")
    ()
    """
    found: list[str] = []
    for clause in re.split(
        r"(?<=[。！!？?、,])|(?<=\.)\s|(?<=です)(?:が|けど|けれど)、?|(?<=なので)|(?<=いますが)",
        text.strip(),
    ):
        said = clause.strip(" 　、。，,.！!")
        if not said or _OTHERS.search(said) or _ASKS.search(clause.strip()):
            continue
        if named := person_kinds(said):
            last = normalise(said).rpartition(named[-1].written)[2]
            if re.match(rf"(?:の(?:方|人|者|身))?{_TELLS}", last) and not _SUPPOSES.search(last):
                found.append(said[-_LONGEST:])
                continue
        if m := _SELF.search(said):
            found.append(next(part for part in m.groups() if part).strip()[:_LONGEST])
    return tuple(dict.fromkeys(found))
