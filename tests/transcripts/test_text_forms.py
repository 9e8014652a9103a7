"""Conversations as programs write them: the right speakers, words, times, order; or a refusal."""

from datetime import datetime, time

import pytest

from naisei.core import InputError
from naisei.transcripts import Transcript, parse_transcripts

A, B = "みなみ", "あおい"
SAID = [(A, "昨日は遅くまでごめんね"), (B, "ううん、楽しかったよ"), (A, "次は私がおごるから")]
(_, X), (_, Y), (_, Z) = SAID


def read(text: str, place: str = "talk.txt", **options: str) -> Transcript:
    (one,) = parse_transcripts(text, place, **options)  # type: ignore[arg-type]
    return one


def said(one: Transcript) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in one.turns]


LINE_HEAD = "[LINE] みなみとのトーク履歴\n保存日時：2026/04/12 21:03\n\n"
#: Form → texts of it that all say `SAID`.
ROWS = {
    "line": [
        f"{LINE_HEAD}2026/04/11(土)\n19:02\t{A}\t{X}\n19:03\t{B}\t{Y}\n19:03\t{B}\t[スタンプ]\n"
        f"19:05\t☎ 通話時間 3:05\n19:06\t{A}がメッセージの送信を取り消しました\n19:10\t{A}\t{Z}\n",
        f"2026/04/11(土)\n午後7:02\t{A}\t{X}\n午後7:03\t{B}\t{Y}\n午後7:10\t{A}\t{Z}\n",
        "[LINE] Chat history with みなみ\nSaved on: 4/12/2026, 21:03\n\nSat, 4/11/2026\n"
        f"07:02 PM\t{A}\t{X}\n07:03 PM\t{B}\t{Y}\n07:04 PM\t{B}\t[Sticker]\n07:10 PM\t{A}\t{Z}\n",
    ],
    "line-pc": [
        f"2026.04.11 土曜日\n19:02 {A} {X}\n19:03 {B} {Y}\n19:05 {A} ☎ 通話に応答がありませんでした\n"
        f"19:06 {A} 画像を削除しました\n19:10 {A} {Z}\n",
    ],
    "whatsapp": [
        f"[2026/04/11, 19:02:11] {A}: {X}\n\u200e[2026/04/11, 19:02:40] {A}: \u200eimage omitted\n"
        f"[2026/04/11, 19:03:00] {B}: {Y}\n[2026/04/11, 19:04:00] {A}: {Z}\n",
        f"2026/04/11, 19:00 - Messages and calls are end-to-end encrypted.\n2026/04/11, 19:02 - {A}: {X}\n"
        f"2026/04/11, 19:03 - {B}: {Y}\n2026/04/11, 19:03 - {B}: <Media omitted>\n2026/04/11, 19:04 - {A}: {Z}\n",
        f"4/11/26, 7:02 PM - {A}: {X}\n4/11/26, 7:03 PM - {B}: {Y}\n4/11/26, 7:04 PM - {A}: {Z}\n",
        f"11/4/26, 19:02 - {A}: {X}\n11/4/26, 19:03 - {B}: {Y}\n11/4/26, 19:03 - {B}: <Multimedia omitido>\n"
        f"11/4/26, 19:04 - {A}: {Z}\n",
        f"[11-04-26 19:02:11] {A}: {X}\n[11-04-26 19:03:00] {B}: {Y}\n[11-04-26 19:04:00] {A}: {Z}\n",
        f"11.04.2026, 19:00 - 家族: Messages and calls are end-to-end encrypted. No one else reads them.\n"
        f"11.04.2026, 19:02 - {A}: {X}\n11.04.2026, 19:03 - {B}: {Y}\n11.04.2026, 19:04 - {A}: {Z}\n",
    ],
    "zoom-chat": [
        f"19:02:11 From {A} to Everyone:\n\t{X}\n19:03:00 From {B} to Everyone:\n\t{Y}\n"
        f"19:04:00 From {A} to Everyone:\n\t{Z}\n",
        f"19:02:11\t From  {A} : {X}\n19:03:00\t From  {B} : {Y}\n19:04:00\t From  {A} : {Z}\n",
        f"2026-04-11 19:02:11 From {A} to Everyone:\n\t{X}\n2026-04-11 19:03:00 From {B} to Everyone in Meeting:\n\t{Y}\n"
        f"2026-04-11 19:04:00 From {A} to Everyone:\n\t{Z}\n",
    ],
    "kirikiri": [
        f"[cm]\n#{A}\n{X}[p]\n#{B}\n{Y}[l][r]\n[p]\n#{A}:happy\n{Z}[p]\n",
        f"*start|はじめ\n@bg storage=room\n【{A}】\n{X}[l]\n【{B}】\n{Y}[p]\n【{A}】\n{Z}[p]\n",
    ],
    "headings": [
        f"{A}  00:01\n{X}\n\n{B}  00:05\n{Y}\n\n{A}  00:09\n{Z}\n",
        f"{A}  7:02 PM\n{X}\n{B}  7:03 PM\n{Y}\n{A}  7:04 PM\n{Z}\n",
        f"{A} — 2026/04/11 19:02\n{X}\n{B} — 2026/04/11 19:03\n{Y}\n{A} — 今日 19:04\n{Z}\n",
        f"[{A}] 19:02:11\n{X}\n\n[{B}] 19:03:00\n{Y}\n\n[{A}] 19:04:00\n{Z}\n",
        f"00:01 {A}\n{X}\n00:05 {B}\n{Y}\n00:09 {A}\n{Z}\n",
        f"{A} [19:02]\n{X}\n{B} [19:03]\n{Y}\n{A} [19:04]\n{Z}\n",
        f"{A}\n2026年4月11日 19:02\n{X}\n\n{B}\n2026年4月11日 19:03\n{Y}\n\n{A}\n2026年4月12日 19:04\n{Z}\n",
        f"Apr 11, 2026  7:02:11 PM\n{A}\n{X}\n\nApr 11, 2026  7:03:00 PM (Read by you after 4 seconds)\n{B}\n{Y}\n\n"
        f"Apr 12, 2026  7:04:00 AM\n{A}\n{Z}\n",
        f"---\ntitle: '12: 夜'\nkeywords:\n- 夜\n---\n\n# 夜\n\n{A} (00:00:01):\n{X}\n\n{B} (00:00:05):\n{Y}\n\n"
        f"{A} (00:00:09):\n{Z}\n",
    ],
    "markdown": [
        f"## {A}\n\n{X}\n\n## {B}\n\n{Y}\n\n## {A}\n\n{Z}\n\n## {B}\n\n[スタンプ]\n",
        f"**{A}:**\n\n{X}\n\n**{B}:**\n\n{Y}\n\n**{A}:**\n\n{Z}\n\n**{B}:**\n\n[スタンプ]\n",
    ],
    "brackets": [
        f"<{A}> {X}\n<{B}> {Y}\n<{A}> {Z}\n",
        f"[19:02] <{A}> {X}\n[19:03] <{B}> {Y}\n[19:04] <{A}> {Z}\n",
        f"[{A}] {X}\n[{B}] {Y}\n[{A}] {Z}\n",
        f"[00:00:03.210 --> 00:00:05.000] [{A}]: {X}\n[00:00:05.000 --> 00:00:08.000] [{B}]: {Y}\n"
        f"[00:00:08.000 --> 00:00:09.000] [{A}]: {Z}\n",
        f"【{A}】{X}\n【{B}】{Y}\n【{A}】{Z}\n",
        f"---\nfps: 30\ncharacters:\n  - name: {A}\n---\n\n> # 図\n\n[{A}] {X}\n[pause: 500ms]\n[{B}] {Y}\n\n"
        f"> - 図\n\n[{A}]\n{Z}\n",
        f"[{A}] [오후 7:02] {X}\n[{B}] [오후 7:03] {Y}\n[{B}] [오후 7:03] 사진\n[{A}] [오후 7:04] {Z}\n",
        f"--- Log opened Sat Apr 11\n19:02 <@{A}> {X}\n19:02 -!- bot [b@x] has quit [timeout]\n19:03 < {B}> {Y}\n"
        f"19:03 * {B} waves\n19:04 <@{A}> {Z}\n",
    ],
    "script": [
        f"{A}: {X}\n{B}：{Y}\n{A}\t{Z}\n",
        f"2026-04-11 19:02:11 {A}: {X}\n2026-04-11 19:03:00 {B}: {Y}\n2026-04-11 19:04:00 {A}: {Z}\n",
        f"[2026-04-11T19:02:11+09:00] {A}: {X}\n[2026-04-11T19:03:00+09:00] {B}: {Y}\n"
        f"[2026-04-11T19:04:00+09:00] {A}: {Z}\n",
        f"[00:01 - 00:05] {A}: {X}\n[00:05 - 00:09] {B}: {Y}\n[00:09 - 00:12] {A}: {Z}\n",
        f"00:00:00\n\n{A}: {X}\n{B}: {Y}\n\n00:05:00\n\n{A}: {Z}\n",
        f"저장한 날짜 : 2026년 4월 12일 오전 9:00\n\n2026년 4월 11일 오후 7:02, {A} : {X}\n2026년 4월 11일 오후 7:03, {B} : {Y}\n"
        f"2026년 4월 11일 오후 7:03, {B} : 이모티콘\n2026년 4월 11일 오후 7:04, {A} : {Z}\n",
        f"# 第1話\n\n**{A}**: {X}\n\n**{B}**: {Y}\n\n**{A}**: {Z}\n",
        f"**{A}：** {X}\n**{B}：** {Y}\n**{A}：** {Z}\n",
        f"- {A}: {X}\n- {B}: {Y}\n- {A}: {Z}\n",
        f"{A}: 00:01:33\n\n{X}\n\n{B}: 00:01:40\n\n{Y}\n\n**Break:** \\[27:12\\]\n\n{A} 00:02:00\n\n{Z}\n",
        f"1. {A}: {X}\n2. {B}: {Y}\n3. {A}: {Z}\n",
        f"{A}（笑）：{X}\n{B}【照れ】：{Y}\n{A}[speed=0.9]: {Z}\n",
        f"{A}「{X}」\n{B}（小声）「{Y}」\n（間）\n{A}『{Z}』\n",
        f"（朝、台所）\n{A}：{X}\n{B}が参加しました\n{B}：{Y}\n――――\n{A}：{Z}\n",
    ],
}


@pytest.mark.parametrize(
    ("form", "text"), [(form, text) for form, texts in ROWS.items() for text in texts]
)
def test_a_form_is_known_and_read(form: str, text: str) -> None:
    one = read(text)
    assert (one.form, one.speakers) == (form, (A, B))
    assert [(name, words.strip("「」『』")) for name, words in said(one)] == SAID


def test_subtitles_with_names_and_with_voices() -> None:
    srt = (
        f"1\n00:00:03,210 --> 00:00:05,000\n{A}: {X}\n\n2\n00:00:05,210 --> 00:00:08,000\n{B}: {Y[:4]}\n{Y[4:]}"
        f"\n\n3\n00:00:08,210 --> 00:00:09,000\n{A}: {Z}\n"
    )
    one = read(srt, "talk.srt")
    assert one.form == "subtitles" and one.speakers == (A, B)
    assert [words.replace("\n", "") for _, words in said(one)] == [X, Y, Z]
    vtt = "WEBVTT\n\n" + "".join(
        f"{n}\n00:0{n}.000 --> 00:0{n + 1}.000\n<v {who}>{words}</v>\n\n"
        for n, (who, words) in enumerate(SAID, 1)
    )
    assert said(read(vtt, "talk.vtt")) == SAID


TABLES = [
    f"speaker,text\n{A},{X}\n{B},{Y}\n{A},{Z}\n",
    f"キャラ,セリフ\n{A},{X}\n{B},{Y}\n{A},{Z}\n",
    f"日時\t送信者名\tメッセージ\n2026/04/11 19:02\t{A}\t{X}\n2026/04/11 19:03\t{B}\t{Y}\n2026/04/11 19:04\t{A}\t{Z}\n",
    f"ID,発言者,発言,タイムスタンプ\n3,{A},{Z},2026-04-11 19:04\n2,{B},{Y},2026-04-11 19:03\n1,{A},{X},2026-04-11 19:02\n",
    f"番号;話し手;発言\n3;{A};{Z}\n1;{A};{X}\n2;{B};{Y}\n",
    f"Date,User,Message\n2026-04-11 19:04:00,{A},{Z}\n2026-04-11 19:03:00,{B},{Y}\n2026-04-11 19:02:00,{A},{X}\n",
    f"{A},{X}\n{B},{Y}\n{A},{Z}\n",
    f"| 話者 | 発話 |\n|---|---|\n| {A} | {X} |\n| **{B}** | {Y} |\n| {A} | {Z} |\n",
]


@pytest.mark.parametrize("text", TABLES)
def test_a_table_is_read_in_the_order_of_its_numbers_or_times(text: str) -> None:
    one = read(text)
    assert one.form == "table" and said(one) == SAID


def test_chat_without_its_tiers_times_and_codes() -> None:
    one = read(
        "@UTF8\n@Begin\n@Participants:\tMOT Mother, CHI Child\n*MOT:\tこれ なあに ? \x150_1200\x15\n"
        "%mor:\tpro|これ\n\tint|なに ?\n*CHI:\tぞうさん [!] .\n@Comment:\tnoise\n"
        "*MOT:\tそう だ ね\n\tぞうさん .\n*CHI:\t0 .\n%act:\tnods\n@End\n",
        "x.cha",
    )
    assert one.form == "chat" and one.left_out == 1
    assert [(who, words.split()) for who, words in said(one)] == [
        ("MOT", ["これ", "なあに", "?"]),
        ("CHI", ["ぞうさん", "."]),
        ("MOT", ["そう", "だ", "ね", "ぞうさん", "."]),
    ]


def test_a_quoted_cell_is_one_utterance() -> None:
    assert said(read('speaker,text\nA,"はい、\n二行"\nB,"""ええ"""\n')) == [
        ("A", "はい、\n二行"),
        ("B", '"ええ"'),
    ]


def test_a_column_of_dialogues_keeps_them_apart() -> None:
    text = "会話ID,話者,発話\na,A,はい\na,B,うん\nb,A,部長\nb,B,そうか\n"
    found = parse_transcripts(text, "t.csv")
    assert [(one.name, len(one.turns)) for one in found] == [("a", 2), ("b", 2)]
    assert said(read("Dialogue_ID,Name,Dialogue\n1,A,はい\n2,B,うん\n", "t.csv")) == [
        ("A", "はい"),
        ("B", "うん"),
    ]


def test_a_row_of_a_text_that_begins_with_a_time_is_no_heading() -> None:
    one = read(f"{A} — 2026/04/11 19:02\n{X}\n{B} — 2026/04/11 19:03\n家\n10:30 の電車\n")
    assert said(one) == [(A, X), (B, "家\n10:30 の電車")]


def test_days_are_sessions_and_times_are_kept() -> None:
    one = read(
        f"{LINE_HEAD}2026/04/11(土)\n19:02\t{A}\t{X}\n\n2026/04/12(日)\n午前0:03\t{B}\t{Y}\n"
    )
    assert [turn.session for turn in one.turns] == [1, 2]
    assert [turn.at for turn in one.turns] == [
        datetime(2026, 4, 11, 19, 2),
        datetime(2026, 4, 12, 0, 3),
    ]


def test_a_file_whose_first_numbers_are_days_is_dated_by_days() -> None:
    one = read(f"06.08.2026, 13:18 - {A}: {X}\n31.10.2026, 12:23 - {B}: {Y}\n", form="whatsapp")
    assert [t.at for t in one.turns] == [
        datetime(2026, 8, 6, 13, 18),
        datetime(2026, 10, 31, 12, 23),
    ]


def test_an_export_that_begins_with_the_newest_is_turned_round() -> None:
    rows = [f"2026-04-11 19:0{n}:00 {who}: {words}" for n, (who, words) in enumerate(SAID)]
    assert said(read("\n".join(reversed(rows)))) == SAID


def test_a_quotation_of_several_rows_is_one_utterance() -> None:
    one = read(
        f'{LINE_HEAD}2026/04/11(土)\n19:02\t{A}\t"写真送るね\nちょっと""待って"""\n19:03\t{B}\t{Y}\n'
    )
    assert said(one) == [(A, '写真送るね\nちょっと"待って"'), (B, Y)]


def test_a_name_of_two_words_is_one_name() -> None:
    one = read(f"2026.04.11 土曜日\n19:02 高橋 南 {X}\n19:03 {B} {Y}\n19:04 高橋 南 {Z}\n")
    assert one.speakers == ("高橋 南", B) and one.turns[0].text == X


@pytest.mark.parametrize(
    "row",
    ["12/9/20, 23:5{n} - {who}: {words}", "10:0{n}\t{who}\t{words}", "{who}：{words}", "{who}「{words}」"],
)  # fmt: skip
def test_a_first_word_that_all_texts_share_is_no_part_of_a_name(row: str) -> None:
    every = [("甲", "ねえ 今日"), ("乙", "うん 何"), ("甲", "ねえ 聞いて"), ("乙", "うん ほら")]
    rows = [row.format(n=n, who=who, words=words) for n, (who, words) in enumerate(every)]
    assert said(read("\n".join(rows))) == every


@pytest.mark.parametrize(
    "row",
    [
        "{n:03} {who} 「{words}」",
        "{n:02}_{who}「{words}」",
        "No.{n} {who}「{words}」",
        "[{n:03}]{who}「{words}」",
        "{n:03} {who}：{words}",
    ],
)
def test_numbers_of_lines_are_no_part_of_a_name(row: str) -> None:
    rows = [row.format(n=n, who=who, words=words) for n, (who, words) in enumerate(SAID, 98)]
    assert said(read("\n".join(rows))) == SAID


def test_a_sound_in_a_table_is_nobody_and_me_is_somebody() -> None:
    one = read("役名,セリフ\n甲,やあ\nSE,（ドアの音）\n効果音,チャイム\n乙,うん\n", "t.csv")
    assert said(one) == [("甲", "やあ"), ("乙", "うん")] and one.left_out == 2
    assert read("Me: Hello.\nAnn: Hi there.\n").speakers == ("Me", "Ann")


@pytest.mark.parametrize(
    ("above", "heading"),
    [("", "【台本】"), ("【登場人物】", "■本編"), ("登場人物", "台本"), ("# 登場人物", "○居間・夜")],
)  # fmt: skip
def test_a_list_of_the_cast_is_no_speech(above: str, heading: str) -> None:
    cast = f"{A}（みなみ）：高校生\n{B}：その姉\n"
    rows = "".join(f"{who}：{words}\n" for who, words in SAID)
    one = read(f"{above}\n{cast}\n{heading}\n{rows}")
    assert said(one) == SAID and one.left_out >= 2
    chat = read(f"[10:30] {A}: はい\n[10:31] {B}: これ\n【台本】\n[10:32] {A}: うん\n")
    assert said(chat) == [(A, "はい"), (B, "これ\n【台本】"), (A, "うん")]
    talked = read(f"{A}：はい\n{B}：うん\n{A}：さて\n【台本】\n{rows}")
    assert len(talked.turns) == 6 and talked.turns[2].text == "さて"


def test_a_note_after_a_quotation_is_dropped_and_the_words_kept() -> None:
    one = read(
        "甲「おい」（低い声で）\n乙「はーい」（笑）丙（泣）「うん」※２\n乙「しないよ、誰も。」*1\n"
        "甲（怒）「待て」（走る）「おい」\n丙：「うん」（笑）\n乙「ねえ」♪\n甲「行くぞ」と言った。\n"
    )
    assert said(one) == [
        ("甲", "おい"), ("乙", "はーい"), ("丙", "うん"), ("乙", "しないよ、誰も。"),
        ("甲", "「待て」「おい」"), ("丙", "うん"), ("乙", "「ねえ」♪")]  # fmt: skip
    assert one.left_out == 1


@pytest.mark.parametrize(
    ("place", "text", "named"),
    [
        ("t.srt", "1\n00:00:03,210 --> 00:00:05,000\nおはよう。\n", "SRT"),
        (
            "t.txt",
            "[00:00.000 --> 00:05.000] おはよう\n[00:05.000 --> 00:09.000] はい\n",
            "Whisper",
        ),
        ("t.html", "<!DOCTYPE html>\n<html><body>あ</body></html>\n", "HTML"),
        ("t.txt", "これは日記です。今日は雨でした。\n買い物に行きました。\n", "日記"),
        ("t.csv", "質問,回答\n名前は何ですか,山田です\n", "speaker"),
        ("t.csv", "用語,説明\nAPI,外との取り決め\n鍵,人を見分ける文字\n", "speaker"),
        ("t.csv", "名前,感想,評価\n佐藤,楽しかった,5\n鈴木,寒い,3\n佐藤,長い,4\n", "speaker"),
        (
            "t.txt",
            "API: 外との取り決め\n語: 文を分けた単位\n鍵: 人を見分ける文字\n網: つながり\n",
            "API",
        ),
        (
            "t.ics",
            "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:会う\nEND:VEVENT\nEND:VCALENDAR\n",
            "vCard",
        ),
    ],
)
@pytest.mark.parametrize("lang", ["ja", "en"])
def test_what_is_not_understood_is_refused_by_name(
    place: str, text: str, named: str, lang: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAISEI_LANG", lang)
    with pytest.raises(InputError) as caught:
        parse_transcripts(text, place)
    assert named in caught.value.message and caught.value.remedy
    assert (caught.value.place or "").startswith(place)


@pytest.mark.parametrize(
    "text",
    [
        "1\n00:00:03,210 --> 00:00:05,000\nはい\n",
        '[\n"a"\n]\n',
        "12\n34\n",
        'A page with an example.\n\n{\n  "type": "line",\n  "message": "hello there"\n}\n' * 3,
    ],
)
def test_structure_is_never_a_line_of_somebody(text: str) -> None:
    with pytest.raises(InputError):
        parse_transcripts(text, "t.txt", nameless=True)


def test_a_form_may_be_said_and_an_unknown_one_is_refused() -> None:
    assert read(f"{A}: {X}\n{B}: {Y}\n", form="script").form == "script"
    with pytest.raises(InputError) as caught:
        read("", form="scirpt")
    assert caught.value.place == "--form"


def test_a_comma_in_each_line_makes_no_table() -> None:
    one = read("Ann Lee: Hi Bob, call me.\nBob: Sure, Ann!\n")
    assert one.form == "script" and one.speakers == ("Ann Lee", "Bob")


def test_voices_of_a_recogniser_in_brackets_after_a_span_of_time() -> None:
    rows = ["[00:00.000 --> 00:03.200] [SPEAKER_00] 始めます。",
            "[00:03.200 --> 00:05.900] [SPEAKER_01]: はい。"]  # fmt: skip
    (found,) = parse_transcripts("\n".join(rows), "meeting.txt")
    assert [(t.speaker, t.text) for t in found.turns] == [
        ("Speaker A", "始めます。"),
        ("Speaker B", "はい。"),
    ]


#: Rows of speaker and stamp, by a transcript's or a chat's writing → the times they mean.
STAMPS = [
    ("{0}  0:03\n{2}\n\n{1}  0:09\n{3}\n\n{0}  12:41\n{4}\n", ["0:0:3", "0:0:9", "0:12:41"]),
    ("{0}  59:58\n{2}\n{1}  1:00:02\n{3}\n{0}  1:02:03\n{4}\n", ["0:59:58", "1:0:2", "1:2:3"]),
    ("[12:41] {0}: {2}\n[23:10] {1}: {3}\n[34:10] {0}: {4}\n", ["0:12:41", "0:23:10", "0:34:10"]),
    ("00:01 {0}\n{2}\n00:05 {1}\n{3}\n01:10 {0}\n{4}\n", ["0:0:1", "0:0:5", "0:1:10"]),
    ("[00:01 - 00:05] {0}: {2}\n[00:05 - 00:09] {1}: {3}\n[75:09] {0}: {4}\n", ["0:0:1", "0:0:5", "1:15:9"]),
    # Chats: after midnight several within a minute, in the evening, with a half of the day.
    ("{0} [0:03]\n{2}\n{1} [0:03]\n{3}\n{0} [0:10]\n{4}\n", ["0:3:0", "0:3:0", "0:10:0"]),
    ("[19:02] {0}: {2}\n[19:03] {1}: {3}\n[19:04] {0}: {4}\n", ["19:2:0", "19:3:0", "19:4:0"]),
    ("{0}  0:03 AM\n{2}\n{1}  0:04 AM\n{3}\n{0}  0:09 AM\n{4}\n", ["0:3:0", "0:4:0", "0:9:0"]),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "times"), STAMPS)
def test_a_transcript_counts_minutes_and_seconds_a_chat_hours_and_minutes(
    rows: str, times: list[str]
) -> None:
    one = read(rows.format(A, B, X, Y, Z))
    assert said(one) == SAID
    assert [turn.at for turn in one.turns] == [time(*map(int, at.split(":"))) for at in times]


def test_a_dated_chat_after_midnight_has_times_of_day() -> None:
    one = read(f"{LINE_HEAD}2026/04/12(日)\n0:03\t{A}\t{X}\n0:04\t{B}\t{Y}\n0:09\t{A}\t{Z}\n")
    assert [turn.at for turn in one.turns] == [datetime(2026, 4, 12, 0, n) for n in (3, 4, 9)]


def test_headings_directions_and_voices_that_are_no_persons_are_left_out() -> None:
    one = read(
        "第一話　放課後\n\n○部室・夕方\n　窓から夕日。\n甲「やあ」\n　乙が来る。\n×　×　×\n乙「うん」\nＳＥ：チャイム\n"
        "甲（Ｍ）「遅い」\n甲＆乙「帰ろう」\n全員「おー」\n甲（笑って）「行こう」\n",
    )
    assert said(one) == [("甲", "やあ"), ("乙", "うん"), ("甲", "行こう")]
    assert one.left_out == 6 and {turn.session for turn in one.turns} == {1}


@pytest.mark.parametrize("scene", ["第二場", "【第２話】", "シーン3 夜", "○校門・朝", "## 二日目"])
def test_a_heading_begins_a_session(scene: str) -> None:
    one = read(f"第一場\n甲「やあ」\n乙「うん」\n\n{scene}\n甲「また」\n乙「うん」\n")
    assert [(turn.speaker, turn.session) for turn in one.turns] == [
        ("甲", 1), ("乙", 1), ("甲", 2), ("乙", 2)]  # fmt: skip


def test_notices_of_line_are_counted() -> None:
    one = read(
        f"{LINE_HEAD}2026/04/11(土)\n19:00\t{A}が参加しました。\n19:02\t{A}\t{X}\n19:03\t{B}\t[スタンプ]\n"
        f"19:04\t{B}\t(emoji)(emoji)\n"
        f"19:05\t☎ 通話時間 3:05\n19:06\t{A}がメッセージの送信を取り消しました\n19:10\t{B}\t{Y}(emoji)\n"
    )
    assert one.left_out == 5 and said(one) == [(A, X), (B, Y)]


@pytest.mark.parametrize("head", [
    "なまえ,内容", "氏名,メッセージ", "名前,コメント", "生徒,本文", "投稿者,投稿", "役,セリフ", "役名,台本",
    "学生,チャット", "Character,Comment", "Character_ID,Dialogue"])  # fmt: skip
def test_heads_of_tables(head: str) -> None:
    assert said(read(f"{head}\n甲,やあ\n,朝。\n乙,うん\n", "t.csv")) == [
        ("甲", "やあ"),
        ("乙", "うん"),
    ]


@pytest.mark.parametrize(
    ("head", "named", "sessions"),
    [
        ("シーン", ["1", "", "3"], [1, 1, 3]),
        ("話", ["第1話", "第1話", "第2話"], [1, 1, 2]),
        ("場面", ["放課後", "夜", "放課後"], [1, 2, 1]),
        ("日付", ["2026/5/11", "2026/5/11", "2026/5/12"], [1, 1, 2]),
    ],
)
def test_columns_of_scenes_and_days_are_sessions(
    head: str, named: list[str], sessions: list[int]
) -> None:
    rows = "".join(
        f"{name},{who},{words}\n" for name, (who, words) in zip(named, SAID, strict=True)
    )
    one = read(f"{head},話者,発話\n{rows}", "t.csv")
    assert said(one) == SAID and [turn.session for turn in one.turns] == sessions


def test_an_unknown_head_is_answered_with_the_columns_there_and_the_names_known() -> None:
    with pytest.raises(InputError) as caught:
        read("scene,who,ja\n1,甲,やあ\n", "t.csv")
    assert "who" in caught.value.message
    assert "speaker" in (caught.value.remedy or "") or "話者" in (caught.value.remedy or "")


@pytest.mark.parametrize(
    "rows",
    [
        "19:02:11 差出人 {0} 宛先 全員:\n\t{2}\n19:03:00 差出人 {1} 宛先 皆様:\n\t{3}\n",
        "19:02:11 {0} から 皆様:\n\t{2}\n19:03:00\t{1} から みんなに:\n\tReplying to \"昨日は…\"\n\t{3}\n",
        "19:02:11 開始 {0} 終了 皆様 : {2}\n19:03:00 開始 {1} 終了 皆様 : {3}\n",
        "19:02:11 開始 {0} から 皆様:\n\t{2}\n19:03:00 開始 {1} から 皆様:\n\t{3}\n",
    ],
)  # fmt: skip
def test_zoom_in_japanese(rows: str) -> None:
    one = read(rows.format(A, B, X, Y))
    assert one.form == "zoom-chat" and said(one) == SAID[:2]


@pytest.mark.parametrize(
    "rows",
    [
        "19:02:11 From {0} to Everyone:\n\t{2}\n19:03:00 From {1} to {0}(Direct Message):\n\t{3}\n"
        "19:04:00 From {0} to {1} (Direct Message):\n\t{4}\n",
        "19:02:11 開始 {0} 終了 皆様 : {2}\n19:03:00 開始 {1} 終了 {0}（ダイレクトメッセージ） : {3}\n"
        "19:04:00 開始 {0} 終了 {1}（ダイレクトメッセージ） : {4}\n",
    ],
)
def test_direct_messages_of_zoom_are_conversations_of_their_own(rows: str) -> None:
    public, direct = parse_transcripts(rows.format(A, B, X, Y, Z), "zoom.txt")
    assert said(public) == SAID[:1] and said(direct) == SAID[1:]
    assert A in direct.name and B in direct.name


def test_minutes_in_markdown() -> None:
    one = read(
        f"# 議事録\n\n- 日時: 5月10日\n- 出席者: 二人\n\n- {A}: {X}\n- {B}: {Y}\n> **{A}**：\\[25:12\\] {Z}\n\n"
        "## 決定事項\n- 次回: 6月14日\n\n```ts\n/** Example 1: 表 */\nconst a = 1;\n```\n",
        "m.md",
    )
    assert said(one) == SAID and one.turns[2].at == time(0, 25, 12)


def test_sounds_of_transcribers_are_no_words() -> None:
    one = read("甲: えー、<笑い> そうですね。\n乙: {うなずく} はい。\n甲: ((咳)) では‹笑い>\n")
    assert [" ".join(turn.text.split()) for turn in one.turns] == [
        "えー、 そうですね。",
        "はい。",
        "では",
    ]


def test_captions_have_their_times() -> None:
    one = read(
        "WEBVTT\n\n00:01:02.000 --> 00:01:04.000\n<v 甲>やあ</v>\n\n01:10.500 --> 01:11.000\n乙: うん\n",
        "a.vtt",
    )
    assert [turn.at for turn in one.turns] == [time(0, 1, 2), time(0, 1, 10)]
