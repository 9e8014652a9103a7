"""The director's commands other than runs: check, report and characters."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

import typer

from naisei.core import InputError, Status
from naisei.lang import say
from naisei.system.config import Options, Printed, flag
from naisei.terminal import visible

#: Number of lines judged at a time.
_AT_ONCE = 8
_INPUT, _OUTPUT = ("入力", "Input"), ("出力", "Output")


class ScriptOptions(Options):
    """A script, and how it is read and checked."""

    file: str = flag(
        ...,
        "台本 (JSONL、CSV、やな: …)。- は標準入力",
        "A script: JSONL, CSV or `やな: …`; - is standard input.",
        argument=True,
        metavar="FILE|-",
    )
    character: tuple[str, ...] = flag(
        (),
        "加える人物 (複数可)。最初の人物が、話者のない発言の話者になる",
        "Add a character, repeatable; the first speaks the lines that name nobody.",
        panel=_INPUT,
        metavar="ID|FILE",
    )
    form: str = flag(
        "",
        "入力の形式 (naisei data forms で一覧、既定: 自動)",
        "Form of the input, see naisei data forms; found by itself if not given.",
        panel=_INPUT,
        metavar="NAME",
    )
    skip_others: bool = flag(
        False,
        "知らない話者の発言は検査しない (履歴には残る)",
        "Do not check lines of unknown speakers; they stay in the history.",
        panel=_INPUT,
    )
    rules: Literal["calibrated", "spec"] = flag(
        "calibrated",
        "検査の規則: calibrated は自然な会話で較正したもの、spec は仕様書の文字どおり",
        "Rules of the checks: calibrated on natural speech, or the specification to the letter.",
        panel=_INPUT,
    )


class CheckOptions(ScriptOptions):
    """Flags of `naisei director check`."""

    file: str = flag(
        "-",
        "JSONL、CSV (speaker,text)、台本 (やな: …)。- は標準入力",
        "JSONL, CSV (speaker,text) or a script (やな: …); - is standard input.",
        argument=True,
        metavar="FILE|-",
    )
    one_talk: bool = flag(
        False,
        "JSONL と CSV でも、前の発言を履歴とみなす (台本では常に)",
        "Take the lines before as the history in JSONL and CSV too, as in scripts.",
        panel=_INPUT,
    )
    as_json: bool = flag(
        False,
        "1 発言につき判定の JSON を 1 行出す",
        "One JSON verdict per line of the input.",
        name="--json",
        panel=_OUTPUT,
    )
    fail_on: tuple[Literal["warn", "retry"], ...] = flag(
        (),
        "この判定かそれより悪い発言が一つでもあれば、終了コード 1 で終わる (複数可)",
        "Exit with 1 if any line is judged so, or worse. Repeatable.",
        panel=_OUTPUT,
        metavar="warn|retry",
    )

    judge: str = flag(
        "",
        "規則を通った発言を採点させるモデル (根拠のない警告は取り消される)",
        "A model that judges what the rules let pass; it clears warnings without ground.",
        panel="models",
        metavar="PROVIDER:NAME",
    )


class ReportOptions(ScriptOptions):
    """Flags of `naisei director report`."""

    out: Path | None = flag(
        None,
        "書き込むフォルダー (既定: 台本の名前-report)",
        "Folder to write; NAME-report by default.",
        panel=_OUTPUT,
    )


class BiasOptions(Printed):
    """Flags of `naisei director bias`."""

    judge_model: str = flag(
        ...,
        "調べる採点役のモデル",
        "The judge to look at.",
        panel="models",
        metavar="PROVIDER:NAME",
    )
    lines: int = flag(
        12,
        "使う見本の発言の数 (1 発言につき 4 回尋ねる)",
        "Sample lines to use; the judge is asked four times for each.",
        ge=2,
        le=200,
    )
    repeats: int = flag(
        1, "同じ問いを尋ねる回数 (平均をとる)", "Judgements of each, averaged.", ge=1, le=25
    )


def check(options: CheckOptions) -> None:
    """`naisei director check`: print the lines of a file with their verdicts."""
    from naisei.director.report import as_json_line, as_text, judged_lines, script_lines
    from naisei.director.scripts import Speakers

    speakers = Speakers(options.character, skip_others=options.skip_others)
    counts: Counter[Status] = Counter()
    lines, place = script_lines(options.file, speakers, form=options.form)
    if options.judge:
        from naisei.director.line_judge import judge_lines

        found = judge_lines(
            lines,
            options.judge,
            one_talk=options.one_talk,
            rules=options.rules,
            at_once=_AT_ONCE,
        )
    else:
        found = judged_lines(lines, one_talk=options.one_talk, rules=options.rules)
    skipped = sum(line.character is None for line in lines)
    for judged in found:
        counts[judged[1].status] += 1
        print(as_json_line(judged) if options.as_json else visible(as_text(judged)))
    total = sum(counts.values())
    if not total:
        raise InputError(
            say("検査する発言がありません", "there is no line to check")
            + (say(f" (飛ばした発言 {skipped})", f" ({skipped} skipped)") if skipped else ""),
            place=place,
            remedy=say(
                "--character で話者のプロファイルを指定してください",
                "give the profile of a speaker by --character",
            )
            if skipped
            else say("一行に一つ、発言を書いてください", "write one line of talk per line"),
        )
    if not options.as_json:
        parts = ", ".join(f"{s.value} {n}" for s in Status if (n := counts[s]))
        more = say(f"、飛ばした発言 {skipped}", f", {skipped} skipped") if skipped else ""
        print(say(f"{total} 発言: {parts}{more}", f"{total} lines: {parts}{more}"), file=sys.stderr)
    wrong = {Status(level.upper()).severity for level in options.fail_on}
    if wrong and any(status.severity >= min(wrong) for status in counts):
        raise typer.Exit(1)


def report(options: ReportOptions) -> None:
    """`naisei director report`: check a whole script."""
    # Imported late: only a report needs it.
    from naisei.director.report import judged_lines, script_lines, write_report
    from naisei.director.scripts import Speakers

    speakers = Speakers(options.character, skip_others=options.skip_others)
    lines, place = script_lines(options.file, speakers, form=options.form)
    found = judged_lines(lines, one_talk=True, rules=options.rules)
    name = "stdin" if options.file == "-" else Path(options.file).stem
    for path in write_report(found, place, options.out or Path(f"{name}-report")):
        print(path)


def bias(options: BiasOptions) -> None:
    """`naisei director bias`: print the biases of a judge as a table."""
    import asyncio

    from naisei.cli.printing import print_tables
    from naisei.core import arun
    from naisei.director.bias import Bias, biases
    from naisei.director.judge import Judging
    from naisei.models.registry import base_world
    from naisei.runs.report import plain_number
    from naisei.runs.task import Table
    from naisei.terminal import Console

    judging = Judging(repeats=options.repeats)

    async def judged() -> tuple[Bias, ...]:
        async with base_world({"judge": options.judge_model}) as world:
            return await arun(biases(options.lines, judging), world)

    found = asyncio.run(judged())
    if options.as_json:
        rows = [
            {
                "change": one.change,
                "lines": one.count,
                "difference": plain_number(round(one.difference, 3)),
                "interval": [plain_number(round(one.low, 3)), plain_number(round(one.high, 3))],
                "other_status": plain_number(round(one.other_status, 3)),
                "biased": one.found,
            }
            for one in found
        ]
        print(json.dumps(rows, ensure_ascii=False))
        return
    difference = say("平均の差", "difference of the mean")
    columns = (
        *(say("変えたもの", "changed"), say("発言", "lines")),
        *(difference, f"{difference} low", f"{difference} high"),
        *(say("判定が変わる", "other status"), say("偏り", "biased")),
    )
    answers = {True: say("あり", "yes"), False: say("なし", "no"), None: "?"}
    table = Table(
        say("採点役の偏り", "Biases of the judge"),
        columns,
        tuple(
            (
                *(say(*_WORDS[one.change]), one.count, one.difference, one.low, one.high),
                *(one.other_status, answers[one.found]),
            )
            for one in found
        ),
    )
    print_tables([table], Console())


_WORDS = {
    "order": ("前のやりとりの順 (変わらないはず)", "order of what was said before (no change)"),
    "length": ("中身のない長さ (上がらないはず)", "length that says nothing (no gain)"),
    "repeated": ("同じ文の繰り返し (下がるはず)", "the line twice over (a loss)"),
}


characters = typer.Typer(
    no_args_is_help=True,
    help=say("人物のプロファイルを見る・検査する", "List, show and check characters' profiles."),
)


@characters.command("list", help=say("同梱の人物の一覧", "The characters that ship."))
def list_characters() -> None:
    from rich.table import Table

    from naisei.director.character import shipped
    from naisei.terminal import Console

    grid = Table("id", say("名前", "names"), say("人物", "persona"))
    for character in shipped():
        persona = character.persona.strip().splitlines()[0]
        grid.add_row(character.id, " ".join(character.names), persona)
    Console().print(grid)


@characters.command("show", help=say("人物のプロファイル (TOML) を出す", "Print a profile (TOML)."))
def show_character(
    character: Annotated[
        str, typer.Argument(metavar="ID|FILE", help=say("id、名前、ファイル", "Id, name or file."))
    ],
) -> None:
    from naisei.director.character import profile_text

    sys.stdout.write(profile_text(character))


@characters.command(
    "check",
    help=say(
        "自作のプロファイルを検査し、誤りを行とキーで説明する",
        "Check a profile of your own; faults are explained with line and key.",
    ),
)
def check_profiles(
    file: Annotated[Path, typer.Argument(help=say("TOML ファイル", "A TOML file."))],
) -> None:
    from naisei.director.character import load_character

    character = load_character(file)
    tone = character.tone
    parts = [bool(tone.markers), bool(tone.vocabulary), tone.style is not None]
    praise = say("なし", "no")
    if character.praise and character.language == "en":
        praise = say("書いた語", "the words listed")
    elif character.praise:
        praise = say(
            "学習した得点 (書いた語は --rules spec だけが読む)",
            "a learnt score (the words listed are read by --rules spec only)",
        )
    print(say(f"{file}: 使えます", f"{file}: fine"))
    print(visible(f"  {character.id} ({', '.join(character.names)})"))
    print(
        say(
            f"  口調の手がかり: {sum(parts)}/3 部、設定: {len(character.setting)} 件、"
            f"褒め言葉の検査: {praise}",
            f"  tone: {sum(parts)} of 3 parts; setting facts: {len(character.setting)}; praise "
            f"check: {praise}",
        )
    )
    if character.voice is not None:
        n = character.voice.lines
        print(say(f"  話し方: 見本 {n} 行から学習済み", f"  voice: learnt from {n} lines"))
    elif not any(parts):
        print(
            say(
                "  注意: 口調の手がかりがないので、口調はすべて合格になります",
                "  note: without any part of a tone, every line passes that check",
            )
        )


@characters.command(
    "learn",
    help=say(
        "見本の発言 (1 行 1 発言、50 行ほど) から話し方を学び、プロファイルの [voice] を書く",
        "Learn a voice from sample lines (one a row, about 50); write it as a profile's [voice].",
    ),
)
def learn(
    lines: Annotated[Path, typer.Argument(help=say("見本の発言", "Sample lines."))],
    character: Annotated[
        str | None,
        typer.Option(
            "--character",
            metavar="ID|FILE",
            help=say(
                "[voice] を入れるプロファイル (なければ [voice] だけを書く)",
                "The profile that the [voice] goes into; none: [voice] alone is written.",
            ),
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help=say("書き込む TOML (既定: 標準出力)", "TOML to write; else stdout.")
        ),
    ] = None,
) -> None:
    from naisei.director.voice_learning import learn_voice

    learn_voice(lines, character, out)
