"""Mail files: subject, sender, recipients, date, text."""

from __future__ import annotations

import email
import email.policy

from pydantic import JsonValue

from naisei.retrieval.loaders.blocks import Blocks, Read
from naisei.retrieval.loaders.html import read_html
from naisei.retrieval.loaders.markdown import read_plain
from naisei.retrieval.types import QUOTED, UNREAD_ATTACHMENT, Hidden, Passage

_ABOUT = {"from": "差出人", "to": "宛先", "date": "日付"}


def read_mail(data: bytes, most: int) -> Read:
    """Read a mail. Attachments are reported as unread. Quoted lines (`>`) go to the end under their
    own heading."""
    mail = email.message_from_bytes(data, policy=email.policy.default)
    body = mail.get_body(preferencelist=("html", "plain"))
    text = str(body.get_content()) if body is not None else ""
    html = body is not None and body.get_content_subtype() == "html"
    quoted = [] if html else [line for line in text.splitlines() if line.startswith(">")]
    own = "\n".join(line for line in text.splitlines() if not line.startswith(">"))
    found = read_html(text, most) if html else read_plain(own, most)
    blocks = Blocks(most)
    blocks.heading(1, str(mail.get("subject", "")))
    blocks.text("\n".join(f"{ja}：{mail[name]}" for name, ja in _ABOUT.items() if mail.get(name)))
    below = [
        p.model_copy(update={"headings": (*blocks.headings, *p.headings)}) for p in found.passages
    ]
    if quoted:
        below.append(Passage(text="\n".join(quoted), headings=(*blocks.headings, QUOTED)))
    names = [part.get_filename() or part.get_content_type() for part in mail.iter_attachments()]
    unread = [Hidden(how=UNREAD_ATTACHMENT, text=each) for each in names]
    sent = mail["date"].datetime if mail["date"] is not None else None
    meta: dict[str, JsonValue] = {"date": sent.date().isoformat()} if sent is not None else {}
    hidden = [*found.hidden, *unread]
    return Read([*blocks.passages, *below], blocks.first, meta, hidden)
