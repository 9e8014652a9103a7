"""A small folder of documents, made for these tests, and its index by words and n-grams."""

# ruff: noqa: E501  (documents and questions are read best on one line)

from naisei.retrieval.build import build
from retrieval.documents import written

DOCUMENTS = {
    "leave/annual.md": "# 年次有給休暇\n\n施行日: 2024年4月1日\n\n## 付与日数\n\n入社から6か月で10日を付与する。\n\n"
    "## 申請期限\n\n有給休暇の申請は、取得日の3日前までに上長へ行う。\n\n## 繰り越し\n\n残りは翌年度に限り繰り越せる。\n",
    "leave/nursing.md": "# 看護休暇\n\n## 対象者\n\n小学校入学前の子を育てる社員が対象である。\n\n"
    "## 看護休暇の日数\n\n子が1人なら年5日、2人以上なら年10日を取得できる。\n",
    "leave/care.md": "# 介護休業\n\n## 介護休業の期間\n\n家族一人につき通算93日まで休業できる。\n",
    "leave/special.md": "# 慶弔休暇\n\n## 慶弔休暇の日数\n\n本人の結婚は5日、父母の死亡は5日とする。\n",
    "expense/travel.md": "# 出張旅費\n\n## 宿泊費の上限\n\n宿泊費は1泊1万2千円を上限とする。\n\n"
    "## 出張の精算期限\n\n帰着から7日以内に精算する。\n",
    "it/vpn.md": "# VPNの使い方\n\n## 接続手順\n\n社外からはVPNアプリにログインして接続する。\n\n"
    "## VPNの故障\n\n接続できないときは情報システム課に連絡する。\n",
}


#: Documents that tell kinds of persons apart.
KINDS = {
    "kyuka.md": "# 休暇規程\n\n## 年次有給休暇\n\n常勤職員には年20日、非常勤職員には年10日の年次有給休暇を与える。\n\n"
    "## 忌引\n\n忌引休暇は常勤、非常勤とも同じで、父母の死亡は5日とする。\n",
    "tosho.md": "# 図書館\n\n## 貸出\n\n| 資料 | 学部生 | 大学院生 | 教職員 |\n|---|---|---|---|\n"
    "| 図書 | 10冊2週間 | 20冊1か月 | 30冊3か月 |\n| 雑誌 | 不可 | 2冊3日 | 5冊1週間 |\n\n"
    "## 開館時間\n\n平日は9時から20時まで開館する。\n",
    "pool.md": "# 市民プール\n\n## 使用料\n\n| 区分 | 1回 | 回数券 |\n|---|---|---|\n"
    "| 市内の方 | 300円 | 3,000円 |\n| 市外の方 | 600円 | 6,000円 |\n\n"
    "## 休館日\n\n毎週月曜日は休館する。\n",
    "gym.md": "# ジム\n\n## 料金\n\n- 会員: 月8千円\n- 一般: 1回1,500円\n\n"
    "## 駐車場\n\n駐車場は会員、一般とも無料です。\n",
    "gakubu.md": "# 学部生の手引き\n\n## 休学\n\n休学は通算4年まで認める。学期の始まる1か月前までに願い出る。\n",
    "in.md": "# 大学院生の手引き\n\n## 休学\n\n休学は通算2年まで認める。学期の始まる2か月前までに願い出る。\n",
}


def write_index(folder, documents=DOCUMENTS, embedder="ngram"):
    """Documents and index below `folder`; returns the index's folder."""
    build(folder / "index", written(folder / "docs", documents), embedder=embedder)
    return folder / "index"
