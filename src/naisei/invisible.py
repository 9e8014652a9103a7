"""Invisible characters, which can hide prompt injections, reverse the direction of text, and break
words for a search.
"""

#: Contents of a regular expression's character class: soft hyphen, fillers, zero-width, direction,
#: tag and annotation characters. Source: Unicode 16, Default_Ignorable_Code_Point.
INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff"
    "\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e007f"
)
#: Also invisible, but they join characters into one letter or emoji: Persian, Hindi, families.
JOINERS = "\u200c\u200d"
