"""Texts that report the agent's actions in the persona's language."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from naisei.japanese.morph import is_japanese, tokens
from naisei.lang import Language
from naisei.retrieval.chunking import spans

_PHRASES = {
    "cannot": (
        "すみません、「{}」はできません。",
        'I am sorry, I cannot do this: "{}".',
    ),
    "left alone": ("わかりました。やめておきます。", "All right, I will leave it."),
    "was it": ("{}ことですか。", "Is it: {}?"),
    "remembered": ("前に「{}」と話していましたね。", 'You told me before: "{}"'),
    "noted": ("はい、覚えておきます。", "All right, I will remember that."),
    "forgotten": (
        "すみません、そのお話は覚えていません。",
        "I am sorry, I do not remember that.",
    ),
    "not known": ("すみません、それは分かりません。", "I am sorry, I do not know that."),
    "japanese only": (
        "すみません、日本語でお願いします。 I am sorry, please speak Japanese with me.",
        "I am sorry, please speak English with me.",
    ),
    "more": ("「{}」のことを、もう少し聞かせてください。", 'Tell me a little more about "{}".'),
}
#: Least length of a long answer in characters. In long answers, words of at least this probability
#: are bold, up to this share of all words.
_LONG, _LIKELY, _SHARE = 120, 0.2, 0.2
#: A table row and the source numbers after it.
_ROW = re.compile(r"(\|.*\|)((?:\[\d+\])*)$")
#: The last sound of the stem of a five-row verb before ます, by the last letter of its plain form.
_STEMS = dict(zip("うくぐすつぬぶむる", "いきぎしちにびみり", strict=True))


def phrase(name: str, language: Language, *given: str) -> str:
    """A phrase of the table. given: inserted items."""
    return _PHRASES[name][language == "en"].format(listed(given, language))


def listed(items: Sequence[str], language: Language) -> str:
    return ("、", "; ")[language == "en"].join(items)


@lru_cache(maxsize=256)
def emphasised(answer: str) -> str:
    """An answer in Markdown for display; the important words are bold if it is long and contains
    no table row."""
    rows = (line for line in answer.split("\n") if "、" in line and "。" not in line)
    if len(answer) < _LONG or any(not row.startswith("（") for row in rows):
        return answer
    # Slow to import, and few answers are long.
    from naisei.emphasis.corpus.read import read_bytes
    from naisei.emphasis.tag import marked, suggest
    from naisei.emphasis.taggers.editor import bundled_tagger

    document = read_bytes(answer.encode(), "markdown")
    found = suggest(document, bundled_tagger(), threshold=_LIKELY, max_share=_SHARE)
    # Pages show no HTML: marks without Markdown syntax stay plain.
    return re.sub(r"</?strong>", "", marked(found)[0].decode())


def in_words(answer: str) -> str:
    """Write table rows as text: 「勤続年数 1年6か月、付与日数 13日[1]」."""
    out, header = [], ""
    for line in answer.split("\n"):
        row = _ROW.match(line)
        if row and not header and not row[2]:
            header = row[1]
            continue
        out.append(spans(f"{header}\n{row[1]}".strip())[0].said + row[2] if row else line)
        header = header if row else ""
    return "\n".join(out)


def did(actions: Sequence[str], language: Language) -> str:
    """Report actions, given in plain form, as done."""
    if language == "en":
        return f"Done: {'; '.join(actions)}."
    return "、".join(map(_polite_past, actions)) + "。"


def _polite_past(action: str) -> str:
    """持ってくる → 持ってきました。 Text without a final verb is quoted as is."""
    if not is_japanese(action):
        return f"Done: {action}"
    last = tokens(action)[-1]
    if last.pos != "動詞" or not action.endswith(last.surface):
        return f"「{action}」をしました"
    stem, verb = action[: -len(last.surface)], last.surface
    if verb in ("くる", "来る"):
        return f"{stem}{'き' if verb == 'くる' else '来'}ました"
    if verb.endswith("する"):
        return f"{stem}{verb[:-2]}しました"
    if _drops_ru(verb):
        return f"{stem}{verb[:-1]}ました"
    return f"{stem}{verb[:-1]}{_STEMS.get(verb[-1], verb[-1])}ました"


def _drops_ru(verb: str) -> bool:
    """Whether a verb in る is ichidan, so that it drops る: 入れる → 入れた."""
    return verb.endswith("る") and tokens(f"{verb[:-1]}た")[0].lemma == verb
