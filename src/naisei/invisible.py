"""Characters that no reader sees: they smuggle instructions past people to models, turn the
direction of text on a screen, and break words for a search."""

#: As the inside of a class of a regular expression: soft hyphen, fillers, zero-width, direction
#: and tag characters, and those of annotations. Source: Unicode 16, Default_Ignorable_Code_Point.
INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff"
    "\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e007f"
)
#: Invisible as well, but they make one letter or emoji of several: Persian, Hindi, families.
JOINERS = "\u200c\u200d"
