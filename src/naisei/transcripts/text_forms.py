"""Text formats: chat exports, scripts, minutes. Each is a declaration; one reader reads them
all."""

from __future__ import annotations

import re
from dataclasses import dataclass

from naisei.transcripts.turns import BESIDE, plain_name

_WEEKDAY = r"(?:[(（]\w{1,9}[)）]|\w曜日?|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\w*)"
DATE = (
    r"(?:\d{4}[-/.年년]\s?\d{1,2}[-/.月월]\s?\d{1,2}[日일]?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"
    r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.? \d{1,2}, \d{4})"
)
_HALF = r"(?:午前|午後|오전|오후|[AaPp]\.?[Mm]\.?)"
_TIME = (
    rf"(?:{_HALF}\s?)?\d{{1,2}}[:：時]\d{{2}}(?:[:：分]\d{{2}}(?:[.,]\d+)?秒?)?分?(?:\s?{_HALF})?"
)
_WHEN = rf"(?:{DATE}\s?{_WEEKDAY}?[T,、]?\s*)?{_TIME}(?:Z|\s?[+-]\d\d:?\d\d)?"
_SPAN = rf"{_WHEN}(?:\s*(?:-->|[-–~〜])\s*{_TIME})?"
_STAMP = rf"(?P<stamp>[\[(（]?{_SPAN}[\])）]?)"
#: A transcript text that is only a time: the words are below.
TIME_ALONE = re.compile(rf"\\?[\[(]?({_SPAN})\\?[\])]?\s*")
_NAME = r"[^：:「」『』【】\[\]<>|。、！？!?\t（()）]{1,40}?"
_MOOD = r"\s*(?:[（(【\[][^）)】\]\n]{1,20}[）)】\]])?"
#: Notices of chat programs between utterances.
NOTICE = re.compile(
    r"\s*\S.{0,40}?(?:が|を|は|さんが)\s?.{0,40}(?:参加|退出|退室|退会|入室|招待|作成|変更|追加|"
    r"削除|取り消し|送信取消|固定|ピン留め|開始|終了)し(?:まし)?た[。.]?\s*\Z"
    r"|\s*\S.{0,60} (?:joined|left|created|changed|added|removed|unsent|pinned|started|ended)\b"
    r".{0,60}\Z"
)
#: An inner monologue: 紗良（Ｍ）「…」.
UNHEARD = re.compile(
    r"[^「『：:]{1,20}[（(](?:[MＭNＮ]|NA|ＮＡ|モノローグ|心の声|ナレーション)[)）]"
)
#: Lines of programs around a conversation.
FURNITURE = re.compile(
    r"[%％@＠]|.* - Transcript\s*\Z|Attendees\s*\Z|Transcript\s*\Z|Meeting ended after"
    r"|This editable transcript|Transcribed by|clovanote\."
    r"|.*(?:님이 나갔습니다|님이 들어왔습니다)|Exported \d+ message|\S.{0,40}が通話を"
)
_NUMBER = r"\s*[\dIVX一二三四五六七八九十百]+\s*"
#: A scene's heading: 第二場, シーン3, ○部室・夕方, `## …`.
_SCENE = (
    rf"(?P<scene>[\[【]?(?:第{_NUMBER}(?:話|場|幕|章|回|部|節|景)|(?:シーン|場面|(?i:scene|act)){_NUMBER})"
    r"(?:[\]】]|[\s\u3000：:・].*)?\s*\Z|[○◯]\s*[^\s○◯「『：:][^「『：:。]*\Z|#{1,6}\s+\S.*\Z)"
)
#: Rows of scripts other than utterances: titles, horizontal rules, stage directions, lone times,
#: IRC notices.
_ASIDE = re.compile(
    rf"\s*(?:{_SCENE}|[#＃%％＠]|//|(?P<apart>[（(][^（）()]*[）)]\s*\Z|[*+][\s*+]*\[)|[-=＊*—―─_]{{3,}}\s*\Z"
    r"|(?P<rule>[×✕＊*☆★◇◆※])(?:[\s\u3000]*(?P=rule))+\s*\Z"
    rf"|[\[(（]?{_SPAN}[\])）]?\s*\Z|(?P<day>{DATE})\s?{_WEEKDAY}?\s*\Z"
    rf"|[\[(]?{_SPAN}[\])]?\s+(?:-!-|\*{{1,3}}|--|-->|<--|=!=)\s)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextForm:
    """How to recognise and read a text format.

    rows: the first row of an utterance; groups `speaker`, `text`, optionally `stamp`, and `to`, its
    only recipient. sign: a row that only this format has. rest: rows other than utterances; the
    group `day` dates the following rows, `scene` begins a session, `apart` counts as skipped.
    below: the text is below the name. quoted: a text of several rows is in "…". words: removed from
    a text.
    """

    name: str
    about: tuple[str, str]
    rows: tuple[re.Pattern[str], ...]
    sign: re.Pattern[str] | None = None
    rest: re.Pattern[str] = _ASIDE
    below: bool = False
    quoted: bool = False
    words: re.Pattern[str] | None = None

    def first_row(self, row: str) -> re.Match[str] | None:
        """Match a row that begins an utterance."""
        for pattern in self.rows:
            found = pattern.match(row)
            if found is not None and _is_name(speaker_in(found)):
                return found
        return None

    def is_label(self, row: str) -> bool:
        """Whether a row names a sound (SE：), or, in bold or as an item, a heading (- 次回: …)."""
        for pattern in self.rows:
            if (found := pattern.match(row)) is not None and (name := speaker_in(found)):
                if SOUND.fullmatch(plain_name(name)):
                    return True
                return _LABEL.fullmatch(plain_name(name)) is not None and row[0] in "-*・•_●■□◆"
        return False


def speaker_in(found: re.Match[str]) -> str:
    groups = found.groupdict()
    return groups.get("speaker") or groups.get("other") or ""


SOUND = re.compile(r"(?i:SE|BGM)|ME|効果音|音楽|テロップ|ト書き")
#: Headers of minutes and notes.
_LABEL = re.compile(
    r"日時|日付|場所|議題|出席者?|欠席者?|参加者|午前|午後|朝|昼|夜|メモ|注意|備考|材料|作り方|手順"
    r"|次回(?:予定|開催)?|まとめ|結論|概要|目的|決定事項|宿題|要約"
    r"|Date|Time|Place|Attendees|Agenda|Guild|Channel|TODO|Next"
)
#: Words in place of a name: numbers, log levels, scenes, labels.
_NO_NAME = re.compile(
    rf"[\d\s.,/-]*|[・#＃/(].*|else|.*[={{}}\\\"].*|.*{DATE}.*|.*\d{{1,2}}[:：]\d{{2}}.*"
    r"|(?:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE|FATAL)\b.*"
    rf"|第{_NUMBER}(?:話|場|幕|章|回|部|節|景)|(?:シーン|場面|(?i:scene|act)){_NUMBER}"
    rf"|{SOUND.pattern}|{_LABEL.pattern}"
)


def _is_name(name: str) -> bool:
    return _NO_NAME.fullmatch(plain_name(name)) is None


def _re(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


#: Recipients of a Zoom message: everyone, or one person.
_TO = (
    r"\s(?:to|宛先|から|終了)\s+(?:(?:Everyone(?: in Meeting)?|全員|皆様|皆さん|みんなに?|All)\s*"
    r"|(?P<to>[^：:]{1,100}?)\s*(?:[(（](?:Direct Message|ダイレクト ?メッセージ|プライベート"
    r"|Privately)[)）])?)(?:に|へ)?\s*"
)
_LINE_DAY = rf"\s*(?:{_WEEKDAY},?\s)?(?P<day>{DATE})\s?{_WEEKDAY}?\s*\Z"
_HEADING = (
    rf"(?P<speaker>[^「」『』【】\[\]<>|。！？!?\t:：]{{1,40}}?)(?:\s*[-–—|·•]\s*|\s+|\s*[\[(（]\s?)"
    rf"(?:(?:Today|Yesterday|今日|昨日)(?: at)?\s*)?(?P<stamp>{_WHEN})\s?[\])）]?[:：]?\s*\Z"
)
#: Before a name with 「…」: 001, 01_, No.1, [01].
_LINE_NUMBER = r"(?:[\[(（【]\d{1,5}[\])）】]\s*|(?i:no\.?\s?)?\d{1,5}(?:[\s_.．]|[:：](?!\d))\s*)?"
_PLAIN = (
    # 「Ann 00:31:57」 without its colon
    _re(rf"(?P<speaker>{_NAME})\s(?P<stamp>\d{{1,2}}:\d\d:\d\d)(?P<text>)\s*\Z"),
    _re(
        rf"\s*(?:>\s*)?(?:[-*+•・]\s+|[○◯●◆◇■□▼]\s*|\d+[.)．）_]\s*|(?:0\d+|\d{{3,5}})\s+)?(?:{_STAMP}\s*(?:[-–—|,]\s*)?)?(?:\*\*|__)?"
        rf"(?:【(?P<other>{_NAME})】|[\[<]?(?P<speaker>{_NAME})[\]>]?{_MOOD})"
        r"(?:\*\*|__)?\s*(?:\t|[：:](?!//))(?:\*\*|__)?\s*(?P<text>.*)\Z"
    ),
    _re(
        rf"\s*{_LINE_NUMBER}(?P<speaker>[^：:「」『』。、！？!?（()）【】]{{1,20}}?){_MOOD}\s*(?P<text>[「『](?:[^」』]*|.*[」』](?:{BESIDE})?))\s*\Z"
    ),
)

TEXT_FORMS = (
    TextForm(
        name="line",
        about=("LINE のトーク履歴", "LINE chat history"),
        sign=_re(rf"{_TIME}\t[^\t]*(?:\t|\Z)"),
        rows=(_re(rf"(?P<stamp>{_TIME})\t(?P<speaker>[^\t]+)\t(?P<text>.*)\Z"),),
        rest=_re(rf"\[LINE\]|保存日時|Saved on|{_LINE_DAY}|(?P<apart>{_TIME}\t)"),
        quoted=True,
    ),
    TextForm(
        name="line-pc",
        about=("LINE のトーク履歴 (PC)", "LINE chat history (PC)"),
        sign=_re(r"\[LINE\]|\d{4}\.\d{2}\.\d{2} \w+\s*\Z|\d{4}/\d{2}/\d{2}[(（]\w[)）]\s*\Z"),
        rows=(_re(rf"(?P<stamp>{_TIME}) (?P<speaker>[^\s☎]\S*) (?P<text>\S.*)\Z"),),
        rest=_re(rf"\[LINE\]|保存日時|Saved on|{_LINE_DAY}|(?P<apart>{_TIME} (?:\S*\Z|☎))"),
        words=_re(r"(?:スタンプ|写真|画像|動画|ファイル|ボイスメッセージ)\Z|Stickers?\Z|Photos?\Z"),
    ),
    TextForm(
        name="whatsapp",
        about=("WhatsApp のエクスポート", "WhatsApp export"),
        sign=_re(rf"\u200e?\[{DATE},?\s{_TIME}\]\s[^:]+:|{DATE},?\s{_TIME}\s[-–]\s\S"),
        rows=(
            _re(
                rf"\u200e?\[(?P<stamp>{DATE},?\s{_TIME})\]\s(?P<speaker>[^:]{{1,60}}):\s?(?P<text>.*)\Z"
            ),
            _re(
                rf"(?P<stamp>{DATE},?\s{_TIME})\s[-–]\s(?P<speaker>[^:]{{1,60}}):\s?(?P<text>.*)\Z"
            ),
        ),
        rest=_re(
            rf"(?P<apart>{DATE},?\s{_TIME}\s[-–]\s[^:]*\Z|\u200e?\[{DATE},?\s{_TIME}\][^:]*\Z)"
        ),
    ),
    TextForm(
        name="zoom-chat",
        about=("Zoom のチャット", "Zoom chat"),
        sign=_re(rf"{_WHEN}\s+(?:From|開始|差出人)\s+\S|{_WHEN}\s[^：:]+\sから\s[^：:]+[：:]"),
        rows=(
            _re(
                rf"(?P<stamp>{_WHEN})\s+(?:(?:From|開始|差出人)\s+)?(?P<speaker>[^\s：:][^：:]{{0,99}}?)\s*{_TO}[：:]\s*(?P<text>.*)\Z"
            ),
            _re(
                rf"(?P<stamp>{_WHEN})\s+(?:From|開始|差出人)\s+(?P<speaker>[^\s：:][^：:]{{0,99}}?)\s*[：:]\s*(?P<text>.*)\Z"
            ),
        ),
        words=_re(
            r"\A\s*(?:Replying to|次への返信|返信先)[\s：:]*[\"“「].*?[\"”」][ \t]*(?:\n|\Z)"
        ),
    ),
    TextForm(
        name="chatml",
        about=("ChatML (<|im_start|>)", "ChatML (<|im_start|>)"),
        sign=_re(r"<\|im_start\|>\w+"),
        rows=(_re(r"<\|im_start\|>(?P<speaker>\w+)(?P<text>.*)\Z"),),
        below=True,
        words=_re(r"<\|im_(?:start|end)\|>"),
    ),
    TextForm(
        name="ass",
        about=("字幕 ASS (名前つき)", "ASS subtitles with names"),
        sign=_re(r"\[Script Info\]"),
        rows=(
            _re(
                r"Dialogue: [^,]*,(?P<stamp>[^,]*),(?:[^,]*,){2}(?P<speaker>[^,]+),"
                r"(?:[^,]*,){4}(?P<text>.*)\Z"
            ),
        ),
        rest=_re(r".*"),
        words=_re(r"\{[^{}]*\}"),
    ),
    TextForm(
        name="chat",
        about=("CHAT (CHILDES、TalkBank の .cha)", "CHAT (.cha of CHILDES and TalkBank)"),
        sign=_re(r"@Begin\b"),
        rows=(_re(r"\*(?P<speaker>[A-Z0-9]{1,7}):\t(?P<text>.*)\Z"),),
        rest=_re(r"[@%]"),
        words=_re(
            r"\x15[^\x15]*\x15|\A0 [.!?]|\[[^\]]*\]|[<>]|&[=~+-]\S+|\+\S+|\b(?:xxx|yyy|www)\b"
        ),
    ),
    TextForm(
        name="ink",
        about=("Ink のスクリプト", "Ink script"),
        sign=_re(r"={2,}\s*\w+|\s*->\s*\w+\s*\Z"),
        rows=_PLAIN,
        rest=_re(rf"{_ASIDE.pattern}|\s*(?:~|->|=+\s*\w|VAR\s|CONST\s|INCLUDE\s|[*+]\s)"),
        words=_re(r"\s*(?:<?->\s*\w*|<>|//.*|(?<=\s)#\w+)+\s*\Z"),
    ),
    TextForm(
        name="headings",
        about=(
            "名前と時刻の行の下に発言 (Notta、Teams・Slack・Discord からの貼り付けなど)",
            "a row of name and time above each text (Notta; pasted from Teams, Slack, Discord)",
        ),
        rows=(
            _re(_HEADING),
            _re(rf"(?P<stamp>[\[(（]?{_TIME}[\])）]?)\s+(?P<speaker>{_NAME})\s*\Z"),
            _re(rf"\[(?P<speaker>[^\]\d]{{1,40}})\]\s+(?P<stamp>{_TIME})\s*\Z"),
            _re(
                rf"\[(?P<stamp>[^\[\]]{{0,20}}{_TIME})\] (?P<speaker>[^:：\[\]<>]{{1,40}}?)"
                r"(?:#\d{4})?\Z"
            ),
        ),
        rest=_re(rf"{_ASIDE.pattern}|\s*\Z"),
        below=True,
    ),
    TextForm(
        name="markdown",
        about=("見出しか太字の名前の下に発言", "names as headings or in bold above each text"),
        rows=(
            _re(
                r"(?:#{1,6}\s+|\*\*)(?P<speaker>[^*#：:]{1,40}?)\s*[：:]?\s*(?:\*\*)?[：:]?\s*(?P<text>)\Z"
            ),
        ),
        rest=_re(r"\s*[-=*_]{3,}\s*\Z"),
        below=True,
    ),
    TextForm(
        name="brackets",
        about=(
            "名前を <…> か […] で囲む (IRC、WhisperX など)",
            "names in <…> or […] (IRC, WhisperX)",
        ),
        rows=(
            _re(r"\[[\d:.,]+ --> [\d:.,]+\]:? *\[(?P<speaker>[^\]]{1,40})\]:? *(?P<text>\S.*)\Z"),
            _re(rf"\[(?P<speaker>[^\]]{{1,40}})\] \[(?P<stamp>{_TIME})\] ?(?P<text>.*)\Z"),
            _re(rf"\s*(?:{_STAMP}\s*)?<(?P<speaker>[^<>/!]{{1,40}})>[：:]?\s*(?P<text>[^\s<].*)\Z"),
            _re(
                rf"\s*(?:{_STAMP}\s*)?\[(?P<speaker>[^\[\]\d：:][^\[\]：:]{{0,39}})\][：:]?\s*(?P<text>.*)\Z"
            ),
            _re(r"\s*【(?P<speaker>[^】]{1,40})】(?P<text>[^：:].*)\Z"),
        ),
        rest=_re(rf"{_ASIDE.pattern}|---\s|>|\[[^\]：:]+[：:][^\]]*\]\s*\Z"),
    ),
    TextForm(
        name="play",
        about=("戯曲・議事録 (NAME. 台詞、名前　台詞)", "plays and minutes (NAME. text)"),
        rows=(
            _re(rf"(?P<speaker>[A-Z][A-Z .'-]{{1,30}}?)\.{_MOOD}\s+(?P<text>\S.*)\Z"),
            _re(r"(?P<speaker>[^\s\u3000：:。、「」（()）]{1,12})\u3000+(?P<text>[^\s\u3000].*)\Z"),
        ),
        rest=_re(rf"{_ASIDE.pattern}|[A-Z ]{{4,}}\Z"),
    ),
    TextForm(
        name="script",
        about=(
            "台本 (名前: 発話、名前（照れ）「発話」、時刻・箇条書き・太字も)",
            "script (name: text, 名前（照れ）「…」, with times, bullets, bold)",
        ),
        rows=_PLAIN,
    ),
)

#: Rows that are never speech: subtitle cues, JSON, tags, tables.
STRUCTURE = re.compile(
    r"\s*(?:WEBVTT|\d+\s*\Z|.*-->|[\[{}\]],?\s*\Z|[{\[]\s*[\"{\[]|\"\w+\"\s*:|</?\w[^<>]*>\s*\Z|\|.*\|\s*\Z)"
    rf"|\s*[\[(（]?{_SPAN}(?:\W|\Z)"
)


def is_aside(row: str) -> bool:
    """Whether a row is blank, a title, a horizontal rule or a stage direction."""
    return not row.strip() or _ASIDE.match(row) is not None
