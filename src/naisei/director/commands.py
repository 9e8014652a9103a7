"""The commands of the director that are no runs: check, report and characters."""

from __future__ import annotations

import json
import sys
from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from naisei.core import Check, InputError, Status
from naisei.lang import say
from naisei.text_files import read_text

if TYPE_CHECKING:
    from naisei.director.report import Judged

__all__ = ["Characters", "Format", "SkipOthers", "characters", "check", "report"]


_INPUT = say("入力", "Input")
_OUTPUT = say("出力", "Output")

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE|-",
        help=say(
            "JSONL、CSV (speaker,text)、台本 (やな: …)。- は標準入力",
            "JSONL, CSV (speaker,text) or a script (やな: …); - is standard input.",
        ),
    ),
]
Characters = Annotated[
    list[str] | None,
    typer.Option(
        "--character",
        metavar="ID|FILE",
        help=say(
            "加える人物 (複数可)。最初の人物が、話者のない発言の話者になる",
            "Add a character, repeatable; the first speaks the lines that name nobody.",
        ),
        rich_help_panel=_INPUT,
    ),
]
Format = Annotated[
    Literal["auto", "jsonl", "csv", "plain"],
    typer.Option(
        "--format",
        help=say("入力の形式", "Form of the input."),
        rich_help_panel=_INPUT,
    ),
]
SkipOthers = Annotated[
    bool,
    typer.Option(
        "--skip-others",
        help=say(
            "知らない話者の発言は検査しない (履歴には残る)",
            "Do not check lines of unknown speakers; they stay in the history.",
        ),
        rich_help_panel=_INPUT,
    ),
]
RuleSets = Annotated[
    Literal["calibrated", "spec"],
    typer.Option(
        "--rules",
        help=say(
            "検査の規則: calibrated は自然な会話で較正したもの、spec は仕様書の文字どおり",
            "Rules of the checks: calibrated on natural speech, or the specification to the "
            "letter.",
        ),
        rich_help_panel=_INPUT,
    ),
]
OneTalk = Annotated[
    bool,
    typer.Option(
        "--one-talk",
        help=say(
            "JSONL と CSV でも、前の発言を履歴とみなす (台本では常に)",
            "Take the lines before as the history in JSONL and CSV too, as in scripts.",
        ),
        rich_help_panel=_INPUT,
    ),
]
Live = Annotated[
    bool,
    typer.Option(
        "--live",
        help=say(
            "標準入力の終わりを待たずに、1 行ごとに答える",
            "Answer each line of standard input at once, before its end is seen.",
        ),
        rich_help_panel=_INPUT,
    ),
]
Json = Annotated[
    bool,
    typer.Option(
        "--json",
        help=say("1 発言につき判定の JSON を 1 行出す", "One JSON verdict per line of the input."),
        rich_help_panel=_OUTPUT,
    ),
]


class Failing(StrEnum):
    """What ends a check with exit code 1."""

    WARN = "warn"
    RETRY = "retry"
    EMPTY = "empty"


FailOn = Annotated[
    list[Failing] | None,
    typer.Option(
        "--fail-on",
        metavar="warn|retry|empty",
        help=say(
            "この判定かそれより悪い発言が一つでもあれば (empty: 検査する発言が一つもなければ)、"
            "終了コード 1 で終わる (複数可)",
            "Exit with 1 if any line is judged so, or worse; empty: if no line was checked. "
            "Repeatable.",
        ),
        rich_help_panel=_OUTPUT,
    ),
]

_encode = json.JSONEncoder(ensure_ascii=False).encode


def check(
    file: File = "-",
    as_json: Json = False,
    character: Characters = None,
    format: Format = "auto",
    skip_others: SkipOthers = False,
    one_talk: OneTalk = False,
    live: Live = False,
    rules: RuleSets = "calibrated",
    fail_on: FailOn = None,
) -> None:
    from naisei.director.report import judged_lines, opened
    from naisei.director.scripts import Speakers
    from naisei.terminal import visible

    if live and file != "-":
        raise InputError(
            say("その場で答えられるのは標準入力だけです", "only standard input is answered live"),
            place="--live",
            remedy=say("- を指定してください", "use -"),
        )
    speakers = Speakers(character or (), skip_others=skip_others)
    counts: Counter[Status] = Counter()
    with opened(file, live=live) as (stream, place):
        for judged in judged_lines(
            stream, place, speakers, kind=format, one_talk=one_talk, live=live, rules=rules
        ):
            counts[judged[1].status] += 1
            sys.stdout.write((_json(judged) if as_json else visible(_text(judged))) + "\n")
            if live:
                sys.stdout.flush()
    sys.stdout.flush()
    total = sum(counts.values())
    if not total:
        print(
            say(f"{place}: 検査する発言がありません", f"{place}: there is no line to check"),
            file=sys.stderr,
        )
    elif not as_json:
        parts = ", ".join(f"{s.value} {n}" for s in Status if (n := counts[s]))
        print(say(f"{total} 発言: {parts}", f"{total} lines: {parts}"), file=sys.stderr)
    wrong = {Status(level.upper()).severity for level in fail_on or () if level != "empty"}
    if wrong and any(status.severity >= min(wrong) for status in counts):
        raise typer.Exit(1)
    if not total and "empty" in (fail_on or ()):
        raise typer.Exit(1)


def _json(judged: Judged) -> str:
    """As `LineVerdict.to_json` gives it, with the line and the speaker before it."""
    line, verdict = judged
    tone = verdict.tone
    head = {
        "line": line.number,
        "speaker": line.speaker or verdict.character,
        "status": verdict.status.value,
    }
    tail = {
        "tone": {
            "score": tone.score,
            "marker": tone.marker,
            "vocab": tone.vocab,
            "style": tone.style,
            "weight": tone.weight,
        },
        "sentences": verdict.sentences,
        "topics": verdict.topics,
        "mends": verdict.mends,
        "text": verdict.text,
        "character": verdict.character,
    }
    checks = ", ".join(map(_fragment, verdict.checks))
    return f'{_encode(head)[:-1]}, "checks": [{checks}], {_encode(tail)[1:]}'


#: Checks as JSON, by identity: most checks of most lines are the same few objects, which are
#: kept with their texts so that no identity is given to another.
_fragments: dict[int, tuple[Check, str]] = {}
_MOST = 4096


def _fragment(check: Check) -> str:
    kept = _fragments.get(id(check))
    if kept is None:
        if len(_fragments) >= _MOST:
            _fragments.clear()
        kept = _fragments[id(check)] = (check, _encode(check.model_dump(mode="json")))
    return kept[1]


def _text(judged: Judged) -> str:
    line, verdict = judged
    shown = " ⏎ ".join(line.text.strip().splitlines())
    out = [
        f"{line.number:>4} {verdict.status.value:<5} {line.speaker or verdict.character}: {shown}"
    ]
    for check in verdict.checks:
        if check.status is not Status.PASS:
            spans = "".join(f"「{span}」" for span in check.evidence)
            out.append(
                f"     {check.status} {check.name}: {check.reason}{spans} {check.suggestion}"
            )
    return "\n".join(out)


Script = Annotated[
    str,
    typer.Argument(
        metavar="FILE|-",
        help=say("台本 (JSONL、CSV、やな: …)", "A script: JSONL, CSV or `やな: …`."),
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        help=say(
            "書き込むフォルダー (既定: 台本の名前-report)",
            "Folder to write; NAME-report by default.",
        ),
    ),
]


def report(
    file: Script,
    out: Out = None,
    character: Characters = None,
    format: Format = "auto",
    skip_others: SkipOthers = False,
    rules: RuleSets = "calibrated",
) -> None:
    # The other commands do not wait for what only a report needs.
    from naisei.director.report import judged_lines, opened, tally, write_report
    from naisei.director.scripts import Speakers

    speakers = Speakers(character or (), skip_others=skip_others)
    with opened(file) as (stream, place):
        found = tally(
            judged_lines(stream, place, speakers, kind=format, one_talk=True, rules=rules)
        )
    folder = out or Path(f"{'stdin' if file == '-' else Path(file).stem}-report")
    for path in write_report(found, place, folder):
        print(path)


characters = typer.Typer(
    no_args_is_help=True,
    help=say("人物のプロファイルを見る・検査する", "List, show and check characters' profiles."),
)


@characters.command("list", help=say("同梱の人物の一覧", "The characters that ship."))
def list_characters(
    as_json: Annotated[
        bool, typer.Option("--json", help=say("JSON で出す", "Print JSON."))
    ] = False,
) -> None:
    from rich.table import Table

    from naisei.director.character import shipped
    from naisei.terminal import Console

    if as_json:
        found = [{"id": c.id, "names": list(c.names), "persona": c.persona} for c in shipped()]
        print(json.dumps(found, ensure_ascii=False))
        return
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
    from naisei.director.character import load_character

    load_character(character)
    text = read_text(character) if character.endswith(".toml") else shipped_text(character)
    sys.stdout.write(text)


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
    # The other commands do not wait for it.
    from naisei.director.character import load_character
    from naisei.director.faults import faults

    found = faults(file)
    if found:
        rows = [
            f"{_place(file, fault.line)}: {fault.key + ': ' if fault.key else ''}{fault.message}"
            f"\n  → {fault.remedy}"
            for fault in found[1:]
        ]
        first = found[0]
        raise InputError(
            f"{first.key + ': ' if first.key else ''}{first.message}",
            place=_place(file, first.line),
            remedy="\n".join([first.remedy, *rows]),
        )
    character = load_character(file)
    tone = character.tone
    parts = [bool(tone.markers), bool(tone.vocabulary), tone.style is not None]
    print(say(f"{file}: 使えます", f"{file}: fine"))
    print(f"  {character.id} ({', '.join(character.names)})")
    print(
        say(
            f"  口調の手がかり: {sum(parts)}/3 部、設定: {len(character.setting)} 件、"
            f"褒め言葉の検査: {'あり' if character.praise else 'なし'}",
            f"  tone: {sum(parts)} of 3 parts; setting facts: {len(character.setting)}; praise "
            f"check: {'yes' if character.praise else 'no'}",
        )
    )
    if not any(parts):
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
def learn_voice(
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
    against: Annotated[
        list[Path] | None,
        typer.Option(
            "--against",
            help=say(
                "ほかの人物の発言 (複数可、既定は同梱の人物の見本)",
                "Lines of others, repeatable; by default the samples of the bundled characters.",
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
    from naisei.director.character import load_character, shipped
    from naisei.director.voice import LEAST, card, learn, samples, with_voice

    own = _rows(lines)
    profile = load_character(character) if character else None
    if against:
        others = {path.stem: _rows(path) for path in against}
    else:
        mine = profile.id if profile else ""
        others = {c.id: list(samples(c.id)) for c in shipped() if c.id != mine}
    try:
        voice = learn(own, [line for rows in others.values() for line in rows])
    except InputError as error:
        raise InputError(error.message, place=str(lines), remedy=error.remedy) from None
    base = ""
    if character:
        base = read_text(character) if character.endswith(".toml") else shipped_text(character)
    text = with_voice(base, voice)
    for row in card(own, others, voice):
        print(row, file=sys.stderr)
    if len(own) < 2 * LEAST:
        print(
            say(
                "注意: 見本が少ないので、率の幅は広くなります", "note: few samples, wide intervals"
            ),
            file=sys.stderr,
        )
    if out is None:
        sys.stdout.write(text)
        return
    from naisei.files import write_atomically

    write_atomically(out, text)
    print(out)


def _rows(path: Path) -> list[str]:
    return [row.strip() for row in read_text(path).splitlines() if row.strip()]


def shipped_text(name: str) -> str:
    """The TOML text of a shipped character, by id or name."""
    from naisei.director.character import load_character, shipped_profile

    return shipped_profile(load_character(name).id)


def _place(file: Path, line: int) -> str:
    return f"{file}:{line}" if line else str(file)
