"""Documents of random structure, of each format's own alphabet: whatever in whatever, repeated,
left open, cut. A reader answers with a text or with its one message, within time and memory."""

from __future__ import annotations

import io
import os
import random
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import docx

from benchmarks.attack.base import Attempt

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from naisei.core import InputError
from naisei.emphasis.corpus.read import SUFFIXES, read_bytes
from naisei.retrieval.load import parsed
from naisei.retrieval.types import LIMITS, Unreadable
from naisei.sandbox import ParserStopped, Sandbox
from retrieval.pdf_file import pdf, show

#: Pieces of a document at most, and seconds of processor time that reading it may take.
_PIECES, _SECONDS = 3_000, 4.0
_WORDS = ("旅費は 3 日以内に。", "あ", "a b", "１．総則", "\u200b", "𠮷", "x" * 50, " ")


def _alphabet(letters: str) -> list[str]:
    """They stand between spaces: `_` is a space in one, `^` a new line."""
    return [letter.replace("_", " ").replace("^", "\n") for letter in letters.split()]


_TAGS = _alphabet("""
a b body button caption col colgroup dd del details dialog div dl dt em fieldset font form
frameset h1 h2 h6 head header html i iframe img input ins label li link main map marquee math mi
mtext nav noscript object ol option p picture plaintext pre rp rt ruby script section select
slot span strong style sub summary svg g text tspan rect use defs clipPath foreignObject table
tbody td template textarea tfoot th thead title tr track ul video
""")
_STYLES = _alphabet("""
display:none display:contents visibility:hidden visibility:visible opacity:0 opacity:var(--a)
--a:var(--b) --b:var(--a) --a:0 color:#fff color:var(--a,red) background:#fff font:0/0_a
font-size:1e999em font-size:calc(1px*(2_-_2)) font-size:calc((((( transform:scale(0)
transform:matrix(1,0,0,0,0,0) position:absolute;inset:0;background:#000
position:fixed;left:-9999px clip-path:inset(50%) clip-path:url(#a) clip-path:polygon(0_0,1_)
width:0;overflow:hidden height:-1px animation:a_1s_infinite all:unset
color:rgb(from_red_r_g_b/0) filter:opacity(0) zoom:0 \\66:1 :: ! mask-image:linear-gradient(
z-index:99999999999999999999
""")
_SELECTORS = _alphabet("""
p * div>* :is(p,a) :not(:not(p)) p:nth-child(2n+1) a::before :has(b) #a .a_.b_.c [id^=a] p+p~p
::slotted(*) :host :where(:is(:not(.a))) @media_screen @layer_a p,,a & } { from
@supports_(display:grid) @container_(width>0) @scope_(.a)_to_(.b) @keyframes_a @property_--a
:root @import_url(a.css);p @media_not_all
""")
_MARKDOWN = _alphabet("""
#_ ##_ >_ >>_ -_ *_ 1._ 99999999999._ ```^ ~~~^ ____ ^ ^ ^^ ^^ ^---^ ^===^ | ^|a|b|^|-|-|^
[a](b) [a] ^[a]:_b^ [^1] ![ ]( [ ] ( ) * ** *** ` `` ~~ $$ <b> </b> <p_hidden> </p> <!-- -->
<div_style='opacity:0'> </div> <style>p{opacity:0}</style> \\ &#x0; &lt; :::_ +++^
^---^title:_a^---^ {#a} ==
""")
_WORD = _alphabet("""
p p p r r r t t t tbl tr tc sdt sdtContent hyperlink ins del moveFrom moveTo pPr rPr tcPr trPr
tblPr drawing pict txbxContent footnoteReference endnoteReference fldSimple smartTag instrText
sectPr numPr ruby rt rubyBase customXml body
""")
_MARKS = _alphabet("""
vanish webHidden specVanish color shd sz pStyle rStyle tblStyle gridSpan vMerge fldChar spacing
w position highlight trHeight outlineLvl ilvl numId caps framePr hidden b tab br sym
""")
_VALUES = _alphabet(
    "0 1 -1 99999999999 FFFFFF auto begin separate end Normal Heading1 a restart 1.5 _"
)
_PAINT = _alphabet("""
q Q Q BT ET W n h f S B* b cm Do Tf Td TD Tm T* Tj TJ ' " Tr Tz Ts Tc Tw TL gs rg RG g k cs scn
sh re m l c v y d w BMC BDC EMC BI ID EI MP d0 d1
""")


def _html(rng: random.Random) -> bytes:
    tags, opened, out = rng.sample(_TAGS, rng.randint(2, 12)), [], ["<p>旅費"]
    deep = rng.choice((5, 20, 80, _PIECES))
    for _ in range(rng.randrange(_PIECES)):
        kind = rng.random()
        if kind < 0.4 and len(opened) < deep:
            tag, style = rng.choice(tags), ";".join(rng.choices(_STYLES, k=rng.randrange(3)))
            given = rng.choice(("", " id=a", " class='a b'", " hidden", " slot=a", " open"))
            out.append(f'<{tag}{given} style="{style}">')
            opened.append(tag)
        elif kind < 0.7 and opened:
            out.append(f"</{opened.pop(rng.choice((-1, -1, 0)))}>")
        elif kind < 0.71:
            rules = zip(rng.choices(_SELECTORS, k=4), rng.choices(_STYLES, k=4), strict=True)
            closed = rng.choice(("}", "}", "}", "}}", ""))
            out.append(f"<style>{''.join(f'{a}{{{b}{closed}' for a, b in rules)}</style>")
        elif kind < 0.72:
            out.append("<template shadowrootmode=open>")
        else:
            out.append(rng.choice(_WORDS))
    return "".join(out).encode()


def _markdown(rng: random.Random) -> bytes:
    letters = [*rng.sample(_MARKDOWN, rng.randint(2, 12)), *_WORDS[:2], "\n"]
    return "".join(rng.choices(letters, k=rng.randrange(_PIECES))).encode()


def _xml(rng: random.Random) -> str:
    tags, opened, out = rng.sample(_WORD, rng.randint(3, 15)), [], []
    deep = rng.choice((3, 10, 200))
    for _ in range(rng.randrange(_PIECES)):
        kind = rng.random()
        if kind < 0.3 and len(opened) < deep:
            opened.append(rng.choice(tags))
            out.append(f"<w:{opened[-1]}>")
        elif kind < 0.65 and opened:
            out.append(f"</w:{opened.pop()}>")
        elif kind < 0.75:
            out.append(f"<w:p><w:r><w:t>{rng.choice(_WORDS)}</w:t></w:r></w:p>")
        elif kind < 0.9:
            name = rng.choice(("val", "fill", "themeColor", "line", "styleId", "fldCharType"))
            out.append(f'<w:{rng.choice(_MARKS)} w:{name}="{rng.choice(_VALUES)}"/>')
        else:
            out.append(rng.choice(_WORDS))
    return "".join(out + [f"</w:{tag}>" for tag in reversed(opened)])


def _word(rng: random.Random) -> bytes:
    plain, out = io.BytesIO(), io.BytesIO()
    docx.Document().save(plain)
    style = f'<w:style w:type="paragraph" w:styleId="a"><w:basedOn w:val="a"/>{_xml(rng)}</w:style>'
    more = {
        "word/document.xml": (b"<w:body>", _xml(rng)),
        "word/styles.xml": (b"</w:styles>", style if rng.random() < 0.3 else ""),
    }
    with zipfile.ZipFile(plain) as given, zipfile.ZipFile(out, "w") as written:
        for part in given.infolist():
            data = given.read(part)
            if part.filename in more:
                at, added = more[part.filename]
                both = added.encode() + at if at.startswith(b"</") else at + added.encode()
                data = data.replace(at, both)
            written.writestr(part.filename, data)
    return out.getvalue()


def _pdf(rng: random.Random) -> bytes:
    def page() -> str:
        out = [show("旅費の規程", 50, 700)]
        for _ in range(rng.randrange(_PIECES // 4)):
            numbers = rng.choices(("0", "1", "-1", "1e9", "0.001", "700", "99999999999999"), k=6)
            given = rng.choice(("", *_PAINT_GIVEN, " ".join(numbers[: rng.randrange(7)])))
            out.append(f"{given} {rng.choice(_PAINT)}\n")
        return "".join(out)

    data = pdf(*(page() for _ in range(rng.randint(1, 3))))
    for _ in range(rng.randrange(4)):
        data = data.replace(b"%d 0 R" % rng.randint(1, 9), b"%d 0 R" % rng.randint(1, 9))
    return data


_PAINT_GIVEN = ("/F1 11 Tf", "<65c58cbb>", "[<65c5> -999999 <8cbb>]", "/F1", "(a)", "<< /MCID 0 >>")
_MAKERS: dict[str, Callable[[random.Random], bytes]] = {
    "a.html": _html,
    "a.md": _markdown,
    "a.docx": _word,
    "a.pdf": _pdf,
}


def _made(name: str, rng: random.Random) -> bytes:
    data = _MAKERS[name](rng)
    if rng.random() < 0.2:
        a, b = sorted(rng.randrange(len(data) + 1) for _ in range(2))
        data = rng.choice((data[:a], data[:a] + data[b:], data[:b] + data[a:]))
    return data


def tried(data: bytes, options: dict[str, Any]) -> dict[str, Any]:
    """Called in the sandbox: what came of reading it, and the seconds it took."""
    name, began = options["name"], time.process_time()
    try:
        if options["reader"] == "retrieval":
            parsed(name, data, LIMITS)
        else:
            read_bytes(data, SUFFIXES[Path(name).suffix], name=name)
        outcome = "read"
    except (Unreadable, InputError):
        outcome = "left out"
    except MemoryError:
        raise
    except Exception as error:
        outcome = f"{type(error).__name__}: {error}"
    return {"outcome": outcome, "seconds": time.process_time() - began}


def attack(rng: random.Random, seconds: float) -> Iterator[Attempt]:
    """One document after another for each reader of its format, until time is up."""
    end = time.monotonic() + seconds
    readers = [("retrieval", name) for name in _MAKERS]
    readers += [("emphasis", name) for name in _MAKERS if Path(name).suffix in SUFFIXES]
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path.cwd()), *sys.path])
    try:
        with Sandbox(seconds=_SECONDS) as sandbox:
            while time.monotonic() < end:
                for reader, name in readers:
                    seed = rng.getrandbits(32)
                    yield _attempt(sandbox, reader, name, seed)
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


def _attempt(sandbox: Sandbox, reader: str, name: str, seed: int) -> Attempt:
    data = _made(name, random.Random(seed))
    note = f"{name}, seed {seed}, {len(data)} bytes"
    kind = f"structure, {reader} {name[2:]}"
    try:
        said = sandbox.call(f"{__name__}:tried", {"name": name, "reader": reader}, data)
    except ParserStopped as stopped:
        return Attempt(kind, "stopped", True, f"{note}: {stopped.why}")
    if said["outcome"] not in ("read", "left out"):
        return Attempt(kind, "raised", True, f"{note}: {said['outcome']}")
    return Attempt(kind, said["outcome"], note=f"{note}: {said['seconds']:.2f} s")
