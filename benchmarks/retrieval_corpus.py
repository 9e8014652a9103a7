"""Documents of an invented company, any number, made by a seeded draw: Japanese rules, guides
and tables of 2 to 5 KB in three formats. For measuring speed; no test of quality."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from pathlib import Path

_SUBJECTS = [
    "年次有給休暇",
    "看護休暇",
    "介護休業",
    "出張旅費",
    "経費精算",
    "在宅勤務",
    "通勤手当",
    "健康診断",
    "情報端末",
    "入館証",
    "会議室",
    "社用車",
    "研修",
    "資格取得",
    "慶弔見舞金",
    "住宅手当",
    "契約書",
    "名刺",
    "備品",
    "郵便物",
    "来客対応",
    "防災訓練",
    "個人情報",
    "外部記憶媒体",
    "電子メール",
    "退職手続",
    "育児休業",
    "時間外勤務",
    "夜間作業",
    "倉庫",
    "工場見学",
]
_ACTS = [
    "申請",
    "届出",
    "承認",
    "変更",
    "取消",
    "返却",
    "更新",
    "貸出",
    "報告",
    "点検",
    "登録",
    "延長",
    "精算",
    "予約",
    "廃棄",
]
_WHO = [
    "総務部",
    "人事部",
    "経理部",
    "情報システム部",
    "所属長",
    "本部長",
    "安全衛生委員会",
    "購買課",
    "法務室",
]
_HOW = (
    "所定の様式に必要事項を記入し、{who}に提出する。",
    "{subject}の{act}は、原則として{n}日前までに{who}の承認を得なければならない。",
    "{who}は、{act}の内容を確認し、不備があるときは{n}営業日以内に差し戻す。",
    "やむを得ない事情により{act}が遅れる場合は、電話または電子メールで{who}に連絡すること。",
    "{subject}にかかる費用は、{m:,}円を上限として会社が負担する。",
    "{act}の記録は、{subject}の担当者が{n}年間保管する。",
    "ただし、{who}が特に認めた場合は、この限りでない。",
    "{subject}について不明な点は、{who}（内線{m}）に問い合わせる。",
)


def _sentence(draw: random.Random) -> str:
    return draw.choice(_HOW).format(
        subject=draw.choice(_SUBJECTS),
        act=draw.choice(_ACTS),
        who=draw.choice(_WHO),
        n=draw.randint(1, 60),
        m=draw.randint(1000, 9999),
    )


def _sections(draw: random.Random, size: int) -> Iterator[tuple[str, str, list[list[str]]]]:
    """(heading, paragraph, table rows) until there are `size` bytes."""
    total = 0
    while total < size:
        heading = f"{draw.choice(_SUBJECTS)}の{draw.choice(_ACTS)}"
        text = "".join(_sentence(draw) for _ in range(draw.randint(4, 8)))
        rows: list[list[str]] = []
        if draw.random() < 0.2:
            rows = [["区分", "担当", "上限"]] + [
                [draw.choice(_SUBJECTS), draw.choice(_WHO), f"{draw.randint(1, 90)}日"]
                for _ in range(4)
            ]
        total += len((heading + text + str(rows)).encode())
        yield heading, text, rows


def documents(number: int, *, seed: int = 0) -> Iterator[tuple[str, bytes]]:
    """(name, content): six in ten Markdown, two in ten text (CP932), two in ten HTML."""
    draw = random.Random(seed)
    for n in range(number):
        title = f"{draw.choice(_SUBJECTS)}{draw.choice(('規程', '細則', '手順書', 'ガイド'))} {n}"
        sections = list(_sections(draw, draw.randint(2000, 5000)))
        kind = draw.choice(("md",) * 6 + ("txt",) * 2 + ("html",) * 2)
        yield f"{n // 500:03d}/{n:06d}.{kind}", _WRITERS[kind](title, sections)


def queries(number: int, *, seed: int = 1) -> list[str]:
    draw = random.Random(seed)
    forms = ("{}の{}はいつまでですか", "{}を{}するにはどうすればよいですか", "{} {} 担当")
    return [
        draw.choice(forms).format(draw.choice(_SUBJECTS), draw.choice(_ACTS)) for _ in range(number)
    ]


def long_documents(chunks: int, *, seed: int = 2) -> Iterator[tuple[str, bytes]]:
    """Markdown of 200 short sections each, so many that there are about `chunks` of them."""
    draw = random.Random(seed)
    for n in range(max(1, chunks // 200)):
        lines = [f"# {draw.choice(_SUBJECTS)}集 {n}"]
        for _ in range(min(200, chunks)):
            lines += [f"## {draw.choice(_SUBJECTS)}の{draw.choice(_ACTS)}", ""]
            lines += ["".join(_sentence(draw) for _ in range(draw.randint(1, 4))), ""]
        yield f"{n:05d}.md", "\n".join(lines).encode()


def write(folder: Path, made: Iterable[tuple[str, bytes]]) -> int:
    """Into files; returns their bytes."""
    total = 0
    for name, content in made:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        total += len(content)
    return total


Sections = list[tuple[str, str, list[list[str]]]]


def _markdown(title: str, sections: Sections) -> bytes:
    lines = [f"# {title}"]
    for heading, text, rows in sections:
        lines += ["", f"## {heading}", "", text, ""]
        lines += ["| " + " | ".join(row) + " |" for row in rows[:1]]
        lines += ["|---|---|---|"] if rows else []
        lines += ["| " + " | ".join(row) + " |" for row in rows[1:]]
    return "\n".join(lines).encode()


def _plain(title: str, sections: Sections) -> bytes:
    lines = [title, ""]
    for n, (heading, text, rows) in enumerate(sections, start=1):
        lines += [f"第{n}条（{heading}）", text, ""]
        lines += ["\t".join(row) for row in rows]
    return "\n".join(lines).encode("cp932")


def _html(title: str, sections: Sections) -> bytes:
    parts = [f"<!doctype html><title>{title}</title><h1>{title}</h1>"]
    for heading, text, rows in sections:
        parts.append(f"<h2>{heading}</h2><p>{text}</p>")
        if rows:
            cells = "".join(
                "<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows
            )
            parts.append(f"<table>{cells}</table>")
    return "".join(parts).encode()


_WRITERS = {"md": _markdown, "txt": _plain, "html": _html}
