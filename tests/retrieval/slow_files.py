"""Files made to be slow to read, by `FILE NAME: what is in it`."""

from __future__ import annotations

_MARKS = ("[", "![", "[a](", "![a](", "**a ", "<!-- ", "|-|\n")
_RULES = "".join(f".a div p,p{{color:white;left:{n}px}}" for n in range(500))
_PAGES = {
    "nav": "<nav>" * 30_000,
    "empty b": "<b/>" * 30_000,
    "custom": "<x-y>" * 30_000,
    "deep div": "<div>" * 1900 + '<span style="color:white">a</span>' * 4000,
    "style rules": f"<style>{_RULES}</style>" + "<div>" * 200 + "<p>a</p>" * 1000,
}
SLOW = {f"a.md:{mark!r}": (mark * 1000 + "\n") * 20 for mark in _MARKS}
SLOW |= {f"a.html:{name}": text for name, text in _PAGES.items()}
