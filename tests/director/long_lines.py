"""Lines that repeat one thing, for a judge who must not look back again and again."""

from __future__ import annotations

_REPEATED = (
    "あ 「 」 （「 は まだ なく 未 ね。 さかな 海は青い。 の話 別居 一人暮らし すごい "
    "姉様は すごい。 すごい姉様 ! ｶﾞ です（ です。 ない やなの家に \u200b！ \ud800 あa "
    "「あ」 ごはんは まだね もし一人暮らし やな： 電車"
)
_UNITS = [*_REPEATED.split(" "), "\n", " \n", "姉様、すごい、"]


def long_lines(size: int) -> list[str]:
    """Lines of about `size` bytes each."""
    lines = [unit * (size // len(unit.encode(errors="surrogatepass"))) for unit in _UNITS]
    deep = size // 6
    lines += ["「" * deep + inner + "」" * deep for inner in ("", "あ。")]
    half = deep // 2
    lines += [
        "「（" * half + "）」" * half,
        "「（" * half + "」）" * half,
        "「あ」\n" * (size // 10),
    ]
    return lines
