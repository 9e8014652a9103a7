"""The language of what is printed; see `naisei.lang`."""

from naisei.lang import language, say, use

__all__ = ["language", "say", "use"]
