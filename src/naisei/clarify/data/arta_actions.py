"""Natural names for ARTA's system actions, in place of its offers with gaps (〇〇)."""

from __future__ import annotations

__all__ = ["action_text"]

#: Applications whose offers have a gap to fill, or name the application but not the deed.
_APPLICATIONS = {
    "アラーム": "アラームをセットする",
    "カメラ": "カメラを起動する",
    "ブラウザ": "ブラウザで情報を調べて表示する",
    "メッセージ": "メッセージアプリを起動する",
    "乗り換え": "電車の乗り換えを調べる",
    "写真": "撮った写真を表示する",
    "地図": "地図で行き方を調べる",
    "天気": "天気予報を表示する",
    "電話": "電話をかける",
    "音楽": "音楽を再生する",
}

#: Categories that are no places: what is looked for is where to find them.
_PLACES = {
    "お土産": "お土産を買える店",
    "中華": "中華料理の店",
    "抹茶": "抹茶を味わえる店",
    "価格帯が安いレストラン": "手頃な値段のレストラン",
    "価格帯が普通なレストラン": "普通の値段のレストラン",
    "価格帯が高いレストラン": "高級なレストラン",
    "人力車": "人力車に乗れる場所",
    "桜": "桜の名所",
    "紅葉": "紅葉の名所",
    "着物レンタル": "着物をレンタルできる店",
    "自然・風景": "自然や風景を楽しめる場所",
    "朝食": "朝食を食べられる店",
}

_ALREADY_A_PLACE = (
    "レストラン",
    "レストラン街",
    "ファミレス",
    "カフェ",
    "屋",
    "店",
    "バー",
    "フード",
)


def action_text(category: str, *, function: str = "", response: str = "") -> str:
    """What the assistant does for a category, as a plain verb phrase.

    function, response: the corpus's own fields; for unknown categories they tell whether
    something is searched for or started.
    """
    if category in _APPLICATIONS and function in ("", "アプリ起動"):
        return _APPLICATIONS[category]
    if "起動" in function or "起動" in response:
        return f"{category}を起動する"
    place = _PLACES.get(category, category)
    if place == category and "レストラン" in function and not category.endswith(_ALREADY_A_PLACE):
        place = f"{category}の店"
    return f"周辺の{place}を検索する"
