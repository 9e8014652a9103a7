"""The profile that a visitor writes in a form, in place of a bundled one."""

from __future__ import annotations

from collections.abc import Mapping

from naisei.lengths import PROFILE
from naisei.web.html import Refused, check_length


def profile_field(fields: Mapping[str, str], sample: str, *, used: bool) -> str:
    """Return the profile of a form. sample: the field's prefilled text. used: whether the form
    needs it.

    Raises:
        HTTPException: it is too long, required but empty, or written but not used.
    """
    text = fields.get("profile", "").strip()
    check_length(text, PROFILE)
    if not used and text not in ("", sample.strip()):
        raise Refused(
            422,
            "書いたプロフィールが選ばれていません。「自分で書いた」ものを選ぶか、欄を空にしてください",
            "the profile that you wrote is not chosen: choose your own, or empty its field",
        )
    if used and not text:  # the field is collapsed, so name its location
        raise Refused(
            422,
            "自分のプロフィールが空です。「設定」を開いて書いてください",
            "your own profile is empty: open “Settings” and write it",
        )
    return text
