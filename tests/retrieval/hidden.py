# ruff: noqa: E501  (a page a line)
"""Ways to hide a text from people, and look-alikes that people see; `秘` stands in each."""

from __future__ import annotations

#: Styles of `<p style="…">秘</p>`.
_HIDDEN_STYLES = """
text-decoration:line-through
display:none
display : NONE !important
visibility:hidden
visibility:collapse
opacity:0
opacity:0%
font-size:0
opacity:1;opacity:0
all:initial;display:none
display:none;;
&#100;isplay:none
display:&#110;one
display/**/:none
all:unset;opacity:0
"""
_HIDDEN_PAGES = """
<del>秘</del><s>x</s>
<ruby>漢<rt>秘</rt></ruby>
<p hidden>秘</p>
<p hidden="until-found">秘</p>
<div popover>秘</div>
<div popover=manual>秘</div>
<dialog>秘</dialog>
<template><p>秘</p></template>
<svg><title>秘</title><path d="M0 0"/></svg>
<canvas>秘</canvas><video>秘</video>
<ruby>漢<rp>秘</rp><rt>かん</rt></ruby>
<math><semantics><mi>x</mi><annotation>秘</annotation></semantics></math>
<style>.a{display:none}</style><p class=a>秘
<style>.\\61 {display:none}</style><p class=a>秘
<style>.a{d\\69splay:no\\6e e}</style><p class=a>秘
<style>.a{/**/display/**/:/**/none/**/}</style><p class=a>秘
<style>@media screen{.a{display:none}}</style><p class=a>秘
<style>#i{display:none}p{display:block}</style><p id=i>秘
<style>p{display:none!important}</style><p style="display:block">秘
<style>.a::before{content:"x"}.a{font-size:0}</style><p class=a>秘
<style media="screen">.a{display:none}</style><p class=a>秘
<style>p{color:red;}}.a{display:none}</style><p class=a>秘</p><style>.a{display:none}</style>
<div style="visibility:hidden"><p>秘</p></div>
<div style="display:none"><p style="display:block">秘</p></div>
<div style="opacity:0"><p style="opacity:1">秘</p></div>
<details open><summary>a</summary><p style="display:none">秘</p></details>
<!-- 秘 --><p>x
<p title="秘" data-a="秘" aria-label="秘">x
<img alt="秘" src="a.png">
<input type=hidden value=秘><input placeholder=秘>
<meta name=description content=秘><p>x
<style><!-- .a{display:none} --></style><p class=a>秘</p>
<style type="">.a{display:none}</style><p class=a>秘</p>
<style type="TEXT/CSS">.a{display:none}</style><p class=a>秘</p>
<svg><style>.a{display:none}</style></svg><p class=a>秘</p>
<p STYLE="DISPLAY:NONE">秘</p>
<svg width=300 height=50><defs><text x=10 y=20>秘</text></defs></svg>
<svg width=300 height=50><symbol id=s><text x=10 y=20>秘</text></symbol></svg>
<svg width=300 height=50><clipPath id=c><text x=10 y=20>秘</text></clipPath></svg>
<math><mphantom><mi>秘</mi></mphantom></math>
<audio>秘</audio>
<iframe srcdoc="x">秘</iframe>
<progress>秘</progress>
<datalist><option>秘</option></datalist>
<select><option>x<option>秘</select>
<table><tr style="visibility:collapse"><td>秘</td></tr></table>
<table><tr><td hidden>秘</td><td>x</td></tr></table>
<table><caption style="display:none">秘</caption><tr><td>x</td></tr></table>
<h1 style="font-size:0">秘</h1>
<div style="visibility:hidden"><p style="visibility:inherit">秘</p></div>
"""
_SEEN_STYLES = """
display:block
opacity:.6
opacity:50%
font-size:9px
font:400 1rem/0.9 serif
color:#fff;background:#000
position:absolute;left:20px
text-indent:2em
height:0
content-visibility:auto
display:none;display:block
display:none;display:block!important
visibility:hide
visibility:hidden;visibility:visible
opacity:none
opacity:max(0,1)
opacity:0px
display:none;all:revert
font-size:0;font:12px serif
-x-display:none
--display:none
/* display:none */
{display:none}
display:none!ie
display:none none
display:no/**/ne
font-size:-1px
transition:opacity 1s;opacity:1
"""
_SEEN_PAGES = """
<div style="display:flex"><div style="flex:1;width:0;overflow:hidden">秘</div></div>
<style>@container (max-width:200px){.a{display:none}}</style><p class=a>秘
<style>@supports (display:nonsense){.a{display:none}}</style><p class=a>秘
<style>@supports (such-a:thing){.a{display:none}}</style><p class=a>秘
<style>@media (2000px <= width){.a{display:none}}</style><p class=a>秘
<style>#t:checked ~ .a{display:block}.a{display:none}</style><input id=t type=checkbox checked><p class=a>秘
<details><summary>開く</summary>秘</details>
<dialog open>秘</dialog>
<p hidden style="display:block">秘
<style>[hidden]{display:block}</style><p hidden>秘
<svg><text x=1 y=9>秘</text></svg>
<noembed>x</noembed><p>秘
<style>.a{display:none}</style><p>秘
<style>.a{display:none}.a.b{display:block}</style><p class="a b">秘
<style>.a{display:none}</style><p class=a style="display:block">秘
<style>p{display:none}p{display:block}</style><p>秘
<style>p.a{display:block}.a{display:none}</style><p class=a>秘
<style>.a{display:block!important}#i{display:none}</style><p class=a id=i>秘
<style>:where(#i){display:none}p{display:block}</style><p id=i>秘
<style>.a:hover{display:none}</style><p class=a>秘
<style>.a:not(:hover) + i{display:none}</style><p class=a>秘
<style>.a::before{display:none}</style><p class=a>秘
<style>.a::after,.a::first-line{opacity:0}</style><p class=a>秘
<style>@media print{.a{display:none}}</style><p class=a>秘
<style>@media (max-width:600px){.a{display:none}}</style><p class=a>秘
<style>@media screen and (min-width:2000px){.a{display:none}}</style><p class=a>秘
<style>@media not screen{.a{display:none}}</style><p class=a>秘
<style>@layer x{.a{display:none}}.a{display:block}</style><p class=a>秘
<style>@layer x,y;@layer x{.a{display:none}}@layer y{.a{display:block}}</style><p class=a>秘
<style>@keyframes k{to{opacity:1}}.a{opacity:0;animation:k 1s forwards}</style><p class=a>秘
<style>@keyframes k{from{opacity:0}}.a{animation:k 1s}</style><p class=a>秘
<style>@keyframes k{to{opacity:0}}.a{animation:k 1s}</style><p class=a>秘
<style>:root{--x:none}:root{--x:block}.a{display:var(--x)}</style><p class=a>秘
<style>.a{display:var(--undefined)}</style><p class=a>秘
<style>.o .a{display:none}</style><p class=a>秘
<style>.o > .a{display:none}</style><div class=o><div><p class=a>秘</div></div>
<style>/* .a{display:none} */</style><p class=a>秘
<style>.a{content:"}display:none"}</style><p class=a>秘
<style media=print>.a{display:none}</style><p class=a>秘
<style type="text/plain">.a{display:none}</style><p class=a>秘
<style>.a{display:none</style><style>.a{display:block}</style><p class=a>秘
<div style="visibility:hidden"><p style="visibility:visible">秘</p></div>
<div style="font-size:0"><span style="font-size:16px">秘</span></div>
<p>x<span style="width:0;overflow:hidden;margin-top:-9999px">秘</span>
<div style="display:contents"><p>秘</div>
<p aria-hidden=true>秘
<p class="hidden sr-only visually-hidden d-none">秘
<p id=hidden data-hidden=true>秘
<p style="display:">秘
<p style="display:none" style="display:block"></p><p>秘
<sup style="font-size:8px">秘</sup>
<blockquote style="opacity:.7">秘
<div style="opacity:.5"><div style="opacity:.5">秘</div></div>
<style>@import url(x.css);.b{display:none}</style><p class=a>秘
<style>@media (scripting:none){.a{display:none}}</style><p class=a>秘</p>
<style>@media (max-aspect-ratio:1/1){.a{display:none}}</style><p class=a>秘</p>
<style>@media (monochrome){.a{display:none}}</style><p class=a>秘</p>
<style>@media tv{.a{display:none}}</style><p class=a>秘</p>
<style>@media (orientation:portrait){.a{display:none}}</style><p class=a>秘</p>
<link rel="alternate stylesheet" title=x href="data:text/css,.a%7Bdisplay:none%7D"><p class=a>秘</p>
<link rel=stylesheet media=print href="data:text/css,.a%7Bdisplay:none%7D"><p class=a>秘</p>
<style>p:empty{display:none}</style><p>秘</p>
<style>.no-js .a{display:none}</style><p class=a>秘</p>
<style>.a:target{display:none}</style><p class=a>秘</p>
<style>@starting-style{.a{opacity:0}}</style><p class=a>秘</p>
<style>@page{.a{display:none}}</style><p class=a>秘</p>
<style>@font-face{font-family:x;src:url(x)}.a{font-family:x}</style><p class=a>秘</p>
<div><template shadowrootmode=open><p><slot></slot></p></template>秘</div>
<div><template shadowrootmode=open><p>秘</p></template>x</div>
<div><template shadowrootmode=open><slot name=a></slot></template><p slot=a>秘</p></div>
<svg width=300 height=50><rect width=300 height=50 fill=black /><text x=10 y=20 fill=white>秘</text></svg>
<svg width=300 height=50><foreignObject width=300 height=50><p>秘</p></foreignObject></svg>
<svg width=300 height=50 viewBox="0 0 30000 5000"><text x=10 y=2000 font-size=16>秘</text></svg>
<math><mtext>秘</mtext></math>
<object>秘</object>
<table><tr><td width=0 style="overflow:hidden">秘</td></tr></table>
<div popover style="display:block">秘</div>
<div inert>秘</div>
<details open>秘</details>
<div style="font-size:1px"><p style="font-size:2rem">秘</p></div>
<div style="font-size:2px"><p style="font-size:200%">秘</p></div>
<style>body{overflow-x:hidden}.full{margin:0 -9999px;padding:0 9999px}</style><div class=full>秘</div>
<style>.a{display:none}@media (min-width:600px){.a{display:block}}</style><p class=a>秘
<style>.a{display:none}.o{& .a{display:block}}</style><div class=o><p class=a>秘</div>
<style>.a{opacity:0;animation:show 1s both}@keyframes show{to{opacity:1}}</style><p class=a>秘
<style>.a{display:none}.a:lang(ja){display:block}</style><p class=a lang=ja>秘
<style>@layer base{p{display:none}}@layer base,over;@layer over{p{display:block}}</style><p>秘
<div><template shadowrootmode=open><style>p{display:none}</style></template></div><p>秘
"""
#: Hidden, and read all the same: one of each kind that is not looked at.
_KNOWN_MISSES = """
<p style="opacity:.01">秘
<p style="font-size:1px">秘
<p style="color:#fff">秘
<p style="color:transparent">秘
<p style="position:absolute;left:-9999px">秘
<p style="text-indent:-9999px">秘
<p style="height:0;overflow:hidden">秘
<p style="content-visibility:hidden">秘
<p style="transform:scale(0)">秘
<p style="clip-path:inset(50%)">秘
<p style="filter:opacity(0)">秘
<p style="opacity:calc(0 * 1)">秘
<p style="display:none;display:nonsense">秘
<font color=white>秘</font>
<style>:root{--x:none}.a{display:var(--x)}</style><p class=a>秘
<style>.o .a{display:none}</style><div class=o><p class=a>秘</div>
<style>p:not(.s){display:none}</style><p>秘
<style>[data-x]{display:none}</style><p data-x=1>秘
<style>@media (min-width:1px){.a{display:none}}</style><p class=a>秘
<style>@keyframes k{to{opacity:0}}.a{animation:k 0s forwards}</style><p class=a>秘
<link rel=stylesheet href="data:text/css,.a%7Bdisplay:none%7D"><p class=a>秘
<div style="position:relative">秘<div style="position:absolute;inset:0;background:#fff"></div></div>
"""


def _pages(styles: str, pages: str) -> list[str]:
    lines = [f'<p style="{line}">秘</p>' for line in styles.strip().splitlines()]
    return lines + pages.strip().splitlines()


HIDDEN_HTML = _pages(_HIDDEN_STYLES, _HIDDEN_PAGES)
SEEN_HTML = _pages(_SEEN_STYLES, _SEEN_PAGES)
KNOWN_MISSES = _pages("", _KNOWN_MISSES)
HIDDEN_MARKDOWN = [
    "~~秘~~",
    "<!-- 秘 -->",
    "x <!-- 秘 --> y",
    "[//]: # (秘)",
    '[//]: # "秘"',
    "[comment]: <> (秘)",
    "[秘]: https://example.com",
    "[秘]: これは説明です。",
    '[a](https://example.com "(秘)(x)")',
    "[a](<b> '秘')",
    "[a][秘]\n\n[秘]: b",
    '[a](https://example.com "秘")',
    '[a]: https://example.com "秘"\n\n[a]',
    "[a](https://example.com/秘)",
    "![秘](a.png)",
    '![](a.png "秘")',
    '<span style="display:none">秘</span>',
    'x <span style="font-size:0">秘</span> y',
    "<div hidden>\n\n秘\n\n</div>",
    '<div style="opacity:0">\n\n# 秘\n\n</div>',
    '<p title="秘">x</p>',
    "<style>.a{display:none}</style>\n\n<p class=a>秘</p>",
    "| a | b |\n|---|---|\n| <i hidden>秘</i> | c |",
    "```python 秘\nx\n```",
    "- a <b style='opacity:0'>秘</b>",
    "<template>秘</template>",
    "<?秘?>",
    "<!DOCTYPE 秘>",
    "> <p hidden>秘</p>",
    "<!--\n秘\n\n秘\n-->",
]
SEEN_MARKDOWN = [
    "秘",
    "# 秘",
    "#秘",
    "**秘**",
    "[秘](https://example.com)",
    "[秘]",
    "[秘][a]\n\n[a]: https://example.com",
    "[秘]: これは 説明です。",
    "[^1]: 秘\n\nx[^1]",
    "注[^秘]",
    "`<span hidden>秘</span>`",
    "```\n<!-- 秘 -->\n```",
    "~~~html\n<p hidden>秘</p>\n~~~",
    "    <p hidden>秘</p>",
    "<b>秘</b>",
    "<p>秘</p>",
    '<span style="color:red">秘</span>',
    "<details><summary>開く</summary>\n\n秘\n\n</details>",
    "a < b 秘 > c",
    "<a 秘>x</a>",
    "1 <2 秘",
    "| a | 秘 |\n|---|---|\n| c | d |",
    "| a | b |\n|---|---|\n| c | 秘 |",
    "- 秘\n- b",
    "1. 秘",
    "> 秘",
    "- [ ] 秘",
    "\\<!-- 秘 -->",
    "&lt;p hidden&gt;秘",
    "<br>秘",
    "<div align=center>\n\n# 秘\n\n</div>",
    "<kbd>秘</kbd>",
    "x<sub>秘</sub>",
    "$$秘$$",
    "---\ntitle: 題\n---\n秘",
    "秘\n===",
    "a  \n秘",
    "<!-- x --> 秘",
    "<!-- x -->\n\n秘",
    "<a name=x></a>\n## 秘",
    "```\n秘\n```",
    "* * *\n秘",
]
