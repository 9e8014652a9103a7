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
opacity:.01
opacity:0%
font-size:0
font-size:1px
font-size:.1em
font:0/0 a
font:italic 1px/1 serif
color:#fff
color:WHITE
color:#fefefe
color:rgb(255 255 255)
color:rgba(255,255,255,1)
color:rgb(100%,100%,100%)
color:hsl(0 0% 100%)
color:hsl(120,50%,100%)
color:hwb(0 100% 0%)
color:color(srgb 1 1 1)
color:transparent
color:#0000
color:rgba(0,0,0,0)
color:rgb(0 0 0 / 0%)
background:#123;color:#123
position:absolute;left:-9999px
position:absolute;right:9999px
position:absolute;top:-9999px
position:fixed;left:-100vw
position:fixed;left:100vw
position:fixed;top:100vh
position:absolute;inset:0 auto auto -9999px
position:relative;left:-5000px
margin-left:-9999px
margin:0 0 0 -300em
text-indent:-9999px
transform:translateX(-9999px)
transform:translate(-500vw,0)
height:0;overflow:hidden
max-height:0;overflow:clip
width:1px;height:1px;overflow:hidden;position:absolute
width:0;overflow-x:hidden
max-width:0;overflow:hidden;white-space:nowrap
content-visibility:hidden
display:block;position:absolute;margin:-9999px
opacity:1;opacity:0
all:initial;display:none
display:table-column
display:table-column-group
color:light-dark(#fff,#000)
height:0;overflow:auto
max-height:1px;overflow:scroll
position:absolute;left:-100%
position:absolute;right:100%
position:fixed;top:100%
position:fixed;left:100%
transform:translate(-100vw)
transform:translate3d(-110vw,0,0)
text-indent:-999em
text-align:right;direction:rtl;text-indent:-9999px;overflow:hidden
float:left;margin-left:-9999px
position:relative;right:9999px
position:relative;bottom:9999px
inset:200% 0 0 0;position:fixed
background-image:none;color:#fff
color:white;text-shadow:none
display:none;;
&#100;isplay:none
display:&#110;one
display/**/:none
columns:1;height:0;overflow:hidden
all:unset;opacity:0
position:absolute;width:1px;height:1px;clip-path:inset(50%);overflow:hidden;white-space:nowrap
width:0;height:0;overflow:hidden;display:inline-block
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
<font color=white>秘</font>
<font color="ffffff">秘</font>
<table bgcolor=black><tr><td><font color="#000">秘</font></table>
<body bgcolor="#112233" text="#112233">秘
<svg><title>秘</title><path d="M0 0"/></svg>
<canvas>秘</canvas><video>秘</video>
<ruby>漢<rp>秘</rp><rt>かん</rt></ruby>
<math><semantics><mi>x</mi><annotation>秘</annotation></semantics></math>
<style>.a{display:none}</style><p class=a>秘
<style>:is(.a,.b) p{display:none}</style><div class=b><p>秘</div>
<style>p:where(.a){display:none!important} p{display:block}</style><p class=a>秘
<style>.\\61 {display:none}</style><p class=a>秘
<style>.a{d\\69splay:no\\6e e}</style><p class=a>秘
<style>.a{/**/display/**/:/**/none/**/}</style><p class=a>秘
<style>@media screen{.a{display:none}}</style><p class=a>秘
<style>.o{& .a{display:none}}</style><div class=o><p class=a>秘</div>
<style>.o{.a{display:none}}</style><div class=o><p class=a>秘</div>
<style>p:nth-child(2){display:none}</style><div><p>x<p>秘</div>
<style>[data-x^=se]{display:none}</style><p data-x=secret>秘
<style>div:has(> b) p{visibility:hidden}</style><div><b>x</b><p>秘</div>
<style>p:not(.s){display:none}</style><p>秘
<style>#i{display:none}p{display:block}</style><p id=i>秘
<style>p{display:none!important}</style><p style="display:block">秘
<style>body{background:#000}p{color:#000}</style><p>秘
<style>*{color:#fff}</style><p>秘
<style>.a::before{content:"x"}.a{font-size:0}</style><p class=a>秘
<style media="screen">.a{display:none}</style><p class=a>秘
<style>p{color:red;}}.a{display:none}</style><p class=a>秘</p><style>.a{display:none}</style>
<div style="opacity:.2"><div style="opacity:.2">秘</div></div>
<div style="visibility:hidden"><p>秘</p></div>
<div style="font-size:1px"><b style="font-size:2em">秘</b></div>
<div style="display:none"><p style="display:block">秘</p></div>
<div style="opacity:0"><p style="opacity:1">秘</p></div>
<div style="background:#222"><div style="background:white"><p style="color:#fff">秘</div></div>
<div style="position:absolute;left:-9999px"><p style="position:relative;left:100px">秘</div>
<details open><summary>a</summary><p style="display:none">秘</p></details>
<label style="position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden">秘</label>
<p><span style="color:inherit"><span style="color:#fffffe">秘</span></span></p>
<style>p{color:light-dark(white,black)}</style><p>秘
<!-- 秘 --><p>x
<p title="秘" data-a="秘" aria-label="秘">x
<img alt="秘" src="a.png">
<input type=hidden value=秘><input placeholder=秘>
<meta name=description content=秘><p>x
<div style="position:relative;overflow:hidden"><p>x</p><p style="position:absolute;right:100%;margin:0">秘</p></div>
<style><!-- .a{display:none} --></style><p class=a>秘</p>
<style type="">.a{display:none}</style><p class=a>秘</p>
<style type="TEXT/CSS">.a{display:none}</style><p class=a>秘</p>
<svg><style>.a{display:none}</style></svg><p class=a>秘</p>
<style>.o{@media screen{.a{display:none}}}</style><div class=o><p class=a>秘</p></div>
<style>.o{&.a{display:none}}</style><p class="o a">秘</p>
<style>.a{.o &{display:none}}</style><div class=o><p class=a>秘</p></div>
<style>p:nth-child(2 of .x){display:none}</style><div><p class=x>a</p><b>b</b><p class=x>秘</p></div>
<style>p:nth-last-child(1){display:none}</style><div><i>x</i><p>秘</p></div>
<style>p:only-of-type{display:none}</style><div><p>秘</p></div>
<style>input:placeholder-shown + p{display:none}</style><input placeholder=x><p>秘</p>
<style>input:not(:checked) ~ p{display:none}</style><input type=checkbox><p>秘</p>
<style>input:disabled + p{display:none}</style><input disabled><p>秘</p>
<style>:enabled + p{display:none}</style><input><p>秘</p>
<style>:required + p{display:none}</style><input required><p>秘</p>
<style>:optional + p{display:none}</style><input><p>秘</p>
<style>:read-only.a{display:none}</style><p class=a>秘</p>
<style>a:link{display:none}</style><a href=x>秘</a>
<style>a:any-link{display:none}</style><a href=x>秘</a>
<style>:root:not(.js) .a{display:none}</style><p class=a>秘</p>
<style>[class=A i]{display:none}</style><p class=a>秘</p>
<style>p[class~=a]{display:none}</style><p class="b a">秘</p>
<style>[lang|=en]{display:none}</style><p lang=en-US>秘</p>
<style>div + p{display:none}</style><div>x</div><p>秘</p>
<style>div ~ p{display:none}</style><div>x</div><i>y</i><p>秘</p>
<style>*|p{display:none}</style><p>秘</p>
<style>P.a{display:none}</style><p class=a>秘</p>
<p STYLE="DISPLAY:NONE">秘</p>
<svg width=300 height=50><defs><text x=10 y=20>秘</text></defs></svg>
<svg width=300 height=50><symbol id=s><text x=10 y=20>秘</text></symbol></svg>
<svg width=300 height=50><clipPath id=c><text x=10 y=20>秘</text></clipPath></svg>
<math><mphantom><mi>秘</mi></mphantom></math>
<video src=x>秘</video>
<audio>秘</audio>
<iframe srcdoc="x">秘</iframe>
<noframes>秘</noframes>
<progress>秘</progress>
<meter>秘</meter>
<datalist><option>秘</option></datalist>
<select><option>x<option>秘</select>
<table><tr style="visibility:collapse"><td>秘</td></tr></table>
<table><tr><td hidden>秘</td><td>x</td></tr></table>
<table style="color:#fff"><tr><td>秘</td></tr></table>
<table><tr bgcolor=#000000><td><font color=#000000>秘</font></td></tr></table>
<table><caption style="display:none">秘</caption><tr><td>x</td></tr></table>
<body text=white>秘
<font color="#fff">秘</font>
<h1 style="font-size:0">秘</h1>
<dialog open style="display:none">秘</dialog>
<ruby>漢<rt hidden>秘</rt></ruby>
<input type=button value=x><label hidden>秘</label>
<fieldset hidden>秘</fieldset>
<div style="color:#fff"><p style="color:revert">秘</p></div>
<div style="color:#fff"><p style="color:unset">秘</p></div>
<div style="color:red"><p style="all:initial;color:white">秘</p></div>
<div style="opacity:0"><p style="position:fixed;opacity:1">秘</p></div>
<div style="content-visibility:hidden"><p>秘</p></div>
<div style="visibility:hidden"><p style="visibility:inherit">秘</p></div>
<div style="background:red"><div style="background:rgba(255,255,255,1)"><span style="color:#fff">秘</span></div></div>
"""
_SEEN_STYLES = """
display:block
display:inline-block;visibility:visible
opacity:.6
opacity:50%
filter:opacity(80%)
filter:grayscale(1)
filter:blur(1px)
filter:none
font-size:9px
font-size:.7em
font:small-caps bold 12px/1.2 serif
font:100 10pt sans-serif
font:400 1rem/0.9 serif
zoom:0.8
color:#777
color:#ccc
color:lightgray
color:rgba(0,0,0,.5)
color:hsl(0 0% 50%)
color:oklch(60% 0.1 200)
color:#fff;background:#000
color:white;background:navy
color:#fff;background:url(a.png)
color:#fff;background-image:linear-gradient(#036,#069)
color:#fff;text-shadow:1px 1px 2px black
color:#fff;-webkit-text-stroke:1px black
color:transparent;background:linear-gradient(red,blue);-webkit-background-clip:text
color:#fff;color:nonsense;color:black
color:whitesmoke;background:rgb(0 0 0 / .7)
color:#fff;color:#000
position:absolute;left:20px
position:relative;left:-10px;top:-5px
position:fixed;bottom:0;right:0
position:sticky;top:-1px
position:absolute;top:-20px;left:0
position:absolute;left:50%;transform:translate(-50%,-50%)
position:absolute;inset:0
left:-9999px
top:-9999px
clip:rect(0,0,0,0)
z-index:-1
margin-left:-20px
margin:-1px
margin-top:-2em
text-indent:-1em;padding-left:1em
text-indent:2em
transform:translateX(-10px)
transform:translateY(-50%)
transform:scale(.9)
transform:scale(1.05)
transform:rotate(90deg)
transform:rotate(180deg)
transform:scaleX(-1)
transform:rotateX(20deg)
transform:matrix(1,0,0,1,0,0)
transform:skewX(10deg)
transform:none
translate:0 10px
scale:1
rotate:45deg
clip-path:inset(0)
clip-path:inset(5% round 10px)
clip-path:circle(50%)
clip-path:polygon(0 0,100% 0,100% 100%,0 100%)
clip-path:none
height:0
max-height:0
width:1px
height:20px;overflow:hidden
overflow:hidden
max-height:200px;overflow:auto
height:0;overflow:visible
height:0;padding-bottom:50px;overflow:hidden
line-height:0
line-height:1;overflow:hidden
letter-spacing:-.05em
letter-spacing:.2em
white-space:nowrap;overflow:hidden;text-overflow:ellipsis
content-visibility:auto
content-visibility:visible
mask-image:linear-gradient(black,transparent)
display:none;display:block
display:nonsense
visibility:hide
opacity:none
display:none;all:revert
-x-display:none
--display:none
/* display:none */
background:white
background:black;color:lime
text-shadow:0 0 2px #fff
animation:none
user-select:none
pointer-events:none
float:right;width:10em
columns:2
writing-mode:vertical-rl
text-transform:uppercase
color:GrayText
color:#0008
direction:rtl
opacity:max(0,1)
opacity:min(1,.9)
opacity:calc(0.5 + 0.5)
color:color-mix(in srgb, black 90%, white)
color:buttonface;background:buttonface
color:light-dark(#000,#fff)
filter:invert(1);background:#fff
filter:contrast(0)
filter:url(#none)
mask-image:radial-gradient(#000,#000)
clip-path:circle(300px at 0 0)
clip-path:path('M0 0H400V400H0Z')
clip-path:inset(0 0 0 0)
clip-path:url(#missing)
contain:size;height:0
contain:paint
height:0%;overflow:hidden
position:fixed;top:10px
transform:translateZ(-1px)
transform:scale(-1,1)
color:transparent;background:red;background-clip:text
color:transparent;text-shadow:2px 2px 0 black
mix-blend-mode:screen;color:#888
mix-blend-mode:lighten;color:#000
mix-blend-mode:plus-lighter;color:#000
mix-blend-mode:color-dodge;color:#888
mix-blend-mode:difference;color:black
mix-blend-mode:exclusion;color:black
mix-blend-mode:multiply;color:#333
mix-blend-mode:darken;color:#333
mix-blend-mode:overlay;color:#333
mix-blend-mode:hard-light;color:#333
mix-blend-mode:screen;color:#eee
{display:none}
display:none!ie
color:#fffffff
opacity:0px
display:none none
font-size:-1px
visibility:none
display:none;display:block!important
display:no/**/ne
color:#eee
perspective:1px;transform:translateZ(5px)
line-height:0;height:10px;overflow:visible
font-stretch:0%
color:white;background-color:white;background-image:linear-gradient(90deg,#000 50%,#000 0)
color:#000;background:linear-gradient(90deg,#000,#fff)
visibility:visible;content-visibility:auto
outline:1px solid
text-overflow:clip;width:200px;overflow:hidden
hyphens:auto;line-height:.1
transition:opacity 1s;opacity:1
-webkit-box-reflect:below
position:absolute;left:-100px;width:300px;text-align:right
position:absolute;top:-100px;height:200px;padding-top:150px
"""
_SEEN_PAGES = """
<p>x<span style="transform:scale(0)">秘</span>
<p>x<span style="text-indent:-9999px">秘</span>
<div style="max-height:0;min-height:40px;overflow:hidden">秘</div>
<table><tr><td style="height:0;overflow:hidden">秘</table>
<div style="display:flex"><div style="flex:1;width:0;overflow:hidden">秘</div></div>
<style>.h::before{content:"";position:absolute;inset:0;background:#000}</style><div class=h><p style="position:relative;color:#fff">秘</div>
<div style="box-shadow:inset 0 0 0 99vw #123"><p style="color:#fff">秘</div>
<body style="background:#fff"><p style="mix-blend-mode:difference;color:#fff">秘
<style>@container (max-width:200px){.a{display:none}}</style><p class=a>秘
<style>@supports (display:nonsense){.a{display:none}}</style><p class=a>秘
<style>@supports (such-a:thing){.a{display:none}}</style><p class=a>秘
<div style="position:relative">秘<div style="position:absolute;inset:0;background:rgba(255,220,0,.2)"></div></div>
<style>@media (2000px <= width){.a{display:none}}</style><p class=a>秘
<style>#t:checked ~ .a{display:block}.a{display:none}</style><input id=t type=checkbox checked><p class=a>秘
<details><summary>開く</summary>秘</details>
<dialog open>秘</dialog>
<p hidden style="display:block">秘
<style>[hidden]{display:block}</style><p hidden>秘
<font color=white><font color=black>秘</font></font>
<table bgcolor=black><tr><td><font color=white>秘</font></table>
<body bgcolor="#112233" text="#ffffff">秘
<svg><text x=1 y=9>秘</text></svg>
<svg style="background:#000"><text fill="white">秘</text></svg>
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
<style>@media (prefers-color-scheme:dark){.a{opacity:0}}</style><p class=a>秘
<style>@media screen and (min-width:2000px){.a{display:none}}</style><p class=a>秘
<style>@media not screen{.a{display:none}}</style><p class=a>秘
<style>@supports not (display:grid){.a{display:none}}</style><p class=a>秘
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
<style>body{background:#000;color:#fff}</style><p>秘
<style>html{background:#111}body{color:#eee}</style><p>秘
<style>body{background:#000}div{background:#fff}p{color:#000}</style><div><p>秘</div>
<style>.dark{background:#222}.dark p{color:#fff}</style><div class=dark><p>秘</div>
<style>:root{color-scheme:dark}</style><p>秘
<style>html{color-scheme:dark}p{color:white}</style><p>秘
<style>.btn{background:#06c;color:#fff}</style><a href=x class=btn>秘</a>
<div style="color:#fff"><a href="x">秘</a></div>
<div style="color:#fff"><mark>秘</mark></div>
<div style="color:#fff"><button>秘</button></div>
<div style="visibility:hidden"><p style="visibility:visible">秘</p></div>
<div style="font-size:0"><span style="font-size:16px">秘</span></div>
<div style="color:transparent"><span style="color:#333">秘</span></div>
<div style="text-indent:-9999px"><p style="text-indent:0">秘</div>
<div style="position:absolute;left:-9999px"><p style="position:absolute;left:9999px">秘</div>
<div style="position:absolute;left:-9999px"><p style="position:fixed;left:10px">秘</div>
<div style="height:0;overflow:hidden"><p style="position:absolute;top:5px">秘</div>
<div style="height:0;padding-bottom:56%;overflow:hidden;position:relative"><p style="position:absolute;top:0">秘</div>
<p>x<span style="height:0;overflow:hidden">秘</span>
<p>x<span style="width:0;overflow:hidden;margin-top:-9999px">秘</span>
<div style="overflow:hidden;height:200px"><p style="margin-top:20px">秘</div>
<div style="position:relative;overflow:hidden;width:300px;height:100px"><p style="position:absolute;left:40px">秘</div>
<p style="position:relative;z-index:-1">秘
<div style="isolation:isolate;background:#fff"><p style="position:relative;z-index:-1">秘</div>
<div style="display:contents"><p>秘</div>
<p aria-hidden=true>秘
<p class="hidden sr-only visually-hidden d-none">秘
<p id=hidden data-hidden=true>秘
<p style="">秘
<p style="display:">秘
<p style="display:none" style="display:block"></p><p>秘
<table><tr><td style="color:#fff;background:#333">秘</table>
<textarea>秘</textarea>
<pre style="color:#fff;background:#1e1e1e">秘</pre>
<ul><li style="list-style:none">秘</ul>
<small><small>秘</small></small>
<sup style="font-size:8px">秘</sup>
<blockquote style="opacity:.7">秘
<div style="background:url(x.jpg)"><h2 style="color:#fff">秘</h2></div>
<div style="background:rgba(0,0,0,.8)"><p style="color:#fff">秘</div>
<div style="background:#fff"><div style="background:rgb(10 20 60)"><p style="color:#fff">秘</div></div>
<div style="background:black"><div style="background:transparent"><p style="color:#fff">秘</div></div>
<div style="background:#333"><div style="background:inherit"><p style="color:#eee">秘</div></div>
<div style="opacity:.5"><div style="opacity:.5">秘</div></div>
<marquee>秘</marquee>
<center><font size=1>秘</font></center>
<p style="color:#000;background:#000;background:#fff">秘
<style>@import url(x.css);.b{display:none}</style><p class=a>秘
<svg width=0 height=0><clipPath id=c><rect width=500 height=500 /></clipPath></svg><p style="clip-path:url(#c)">秘</p>
<div style="display:grid;grid-template-rows:1fr"><div style="overflow:hidden">秘</div></div>
<style>body{overflow:hidden;height:100vh}</style><p>秘</p>
<style>body{overflow-x:hidden}</style><p style="position:absolute;left:110vw">秘</p>
<div style="transform:scale(.1)"><div style="transform:scale(.1)">秘</div></div>
<style>p::first-line{color:#f00}</style><p>秘</p>
<style>p::first-letter{color:#fff}</style><p>あ秘</p>
<style>@media (scripting:none){.a{display:none}}</style><p class=a>秘</p>
<style>@media (max-aspect-ratio:1/1){.a{display:none}}</style><p class=a>秘</p>
<style>@media (forced-colors:active){.a{display:none}}</style><p class=a>秘</p>
<style>@media (monochrome){.a{display:none}}</style><p class=a>秘</p>
<style>@media tv{.a{display:none}}</style><p class=a>秘</p>
<style>@media (orientation:portrait){.a{display:none}}</style><p class=a>秘</p>
<style>@supports (display:foo) and (display:grid){.a{display:none}}</style><p class=a>秘</p>
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
<svg width=300 height=50><g transform="translate(5,5)"><text x=10 y=20>秘</text></g></svg>
<svg width=300 height=50><rect width=300 height=50 fill=black /><text x=10 y=20 fill=white>秘</text></svg>
<svg width=300 height=50><foreignObject width=300 height=50><p>秘</p></foreignObject></svg>
<svg width=300 height=50 viewBox="0 0 30000 5000"><text x=10 y=2000 font-size=16>秘</text></svg>
<math><mtext>秘</mtext></math>
<object>秘</object>
<table><thead bgcolor=black><tr><th><font color=white>秘</font></th></tr></thead></table>
<table><tr><td width=0 style="overflow:hidden">秘</td></tr></table>
<table><tr height=0><td>秘</td></tr></table>
<body text=white bgcolor=black>秘
<font size=-7>秘</font>
<font color=nonsense>秘</font>
<marquee scrollamount=0>秘</marquee>
<div popover style="display:block">秘</div>
<div inert>秘</div>
<details open>秘</details>
<xmp>秘</xmp>
<slot>秘</slot>
<div style="position:relative;height:60px"><p>秘</p><div style="position:absolute;inset:0"></div></div>
<div style="position:relative;height:60px"><p style="position:relative;z-index:2">秘</p><div style="position:absolute;inset:0;background:#fff"></div></div>
<div style="position:relative;height:60px"><p>秘</p><div style="position:absolute;inset:0;background:#fff;z-index:-1"></div></div>
<div style="position:relative;height:60px"><p>秘</p><div style="position:absolute;inset:0;background:rgba(0,0,0,.3)"></div></div>
<div style="position:relative;height:60px"><p>秘</p><div style="position:absolute;inset:0;background:#fff;opacity:.2"></div></div>
<div style="position:relative;height:60px"><div style="position:absolute;inset:0;background:#000"></div><p style="color:#fff;position:relative">秘</p></div>
<style>.o{position:relative;height:60px}.o::after{content:"";position:absolute;left:0;bottom:0;height:2px;width:100%;background:#c00}</style><div class=o><p>秘</p></div>
<div style="overflow:hidden;max-height:3em"><p>秘</p></div>
<div style="color:#fff"><p style="color:initial">秘</p></div>
<div style="font-size:1px"><p style="font-size:2rem">秘</p></div>
<div style="font-size:2px"><p style="font-size:200%">秘</p></div>
<style>body{overflow-x:hidden}.full{margin:0 -9999px;padding:0 9999px}</style><div class=full>秘</div>
<style>.hero{position:relative}.hero img{position:absolute;inset:0;z-index:-1}h1{color:#fff}</style><div class=hero><img src=a.jpg><h1>秘</h1></div>
<div style="position:relative"><div style="position:absolute;inset:0;background:#000;z-index:-1"></div><p style="color:#fff">秘</p></div>
<div style="display:grid"><img src=a.jpg style="grid-area:1/1"><h2 style="grid-area:1/1;color:#fff">秘</h2></div>
<img src=a.jpg><h2 style="margin-top:-80px;color:#fff">秘</h2>
<link rel=stylesheet href=dark.css><p style="color:#fff">秘
<style>@media (min-width:600px){.a{background:#036}}.a{color:#fff}</style><p class=a>秘
<style>@media (prefers-color-scheme:dark){body{background:#000}}p{color:#fefefe}body{background:navy}</style><p>秘
<style>:root{--ink:#fff}body{background:var(--paper);color:var(--ink)}</style><p>秘
<style>.a{display:none}@media (min-width:600px){.a{display:block}}</style><p class=a>秘
<style>.a{display:none}@supports (display:grid){.a{display:grid}}</style><p class=a>秘
<style>.a{display:none}.o{& .a{display:block}}</style><div class=o><p class=a>秘</div>
<style>.a{opacity:0;animation:show 1s both}@keyframes show{to{opacity:1}}</style><p class=a>秘
<style>.a{display:none}.a:lang(ja){display:block}</style><p class=a lang=ja>秘
<style>@layer base{p{display:none}}@layer base,over;@layer over{p{display:block}}</style><p>秘
<style>p{background:#000;background:color-mix(in srgb,red,blue)}</style><p style="color:#fff">秘
<div><template shadowrootmode=open><style>p{display:none}</style></template></div><p>秘
<table background=a.gif><tr><td><font color=white>秘</font></table>
<div style="height:0;overflow:hidden"><p style="position:fixed;top:5px">秘</div>
"""
HIDDEN_HTML = [
    *(f'<p style="{line}">秘</p>' for line in _HIDDEN_STYLES.strip().splitlines()),
    *_HIDDEN_PAGES.replace("\\\\", "\\").strip().splitlines(),
]
SEEN_HTML = [
    *(f'<p style="{line}">秘</p>' for line in _SEEN_STYLES.strip().splitlines()),
    *_SEEN_PAGES.replace("\\\\", "\\").strip().splitlines(),
]
#: Hidden, and read all the same: one of each kind that is not looked at.
KNOWN_MISSES = [
    '<p style="opacity:calc(0 * 1)">秘</p>',
    "<style>:root{--x:none}.a{display:var(--x)}</style><p class=a>秘",
    "<style>@media (min-width:1px){.a{display:none}}</style><p class=a>秘",
    "<style>@supports (display:grid){.a{display:none}}</style><p class=a>秘",
    "<style>@layer x{.a{display:none}}</style><p class=a>秘",
    "<style>@keyframes k{to{opacity:0}}.a{animation:k 0s forwards}</style><p class=a>秘",
    "<style>p:lang(ja){display:none}</style><p lang=ja>秘",
    '<link rel=stylesheet href="data:text/css,.a%7Bdisplay:none%7D"><p class=a>秘',
    '<p style="display:none;display:nonsense">秘',
    '<p style="transform:scale(0)">秘',
    '<p style="clip-path:inset(50%)">秘',
    '<p style="position:absolute;clip:rect(0,0,0,0)">秘',
    '<p style="mask:linear-gradient(#0000 0 0)">秘',
    '<p style="filter:opacity(0)">秘',
    '<p style="letter-spacing:-2em">秘',
    '<p style="zoom:0.01">秘',
    '<p style="margin-inline-start:-9999px">秘',
    '<p style="color:oklch(100% 0 0)">秘',
    '<p style="color:#fff;text-shadow:0 0 0 white">秘',
    '<p style="-webkit-text-fill-color:transparent">秘',
    '<p style="color:#fff;position:relative">秘',
    "<style>p::before{content:''}.a{color:#fff}</style><p class=a>秘",
    '<link rel=stylesheet href=a.css><p style="color:#fff">秘',
    '<p style="color:#fff;background:url(white.gif)">秘',
    "<svg><text fill=white>秘</text></svg>",
    "<svg width=300 height=50><text x=-1000 y=20>秘</text></svg>",
    '<div style="position:relative">秘<div style="position:absolute;inset:0;background:#fff"></div></div>',
    '<div style="overflow:hidden;height:20px"><p style="margin-top:500px">秘</div>',
    '<div style="display:grid;grid-template-rows:0fr"><div style="overflow:hidden">秘</div></div>',
    "<div><template shadowrootmode=open></template>秘</div>",
]
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
    "- a <b style='color:#fff'>秘</b>",
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
