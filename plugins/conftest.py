"""The fixtures of naisei's own tests, for those of the packages here."""

from conftest import english, naisei, no_remote_models

__all__ = ["english", "naisei", "no_remote_models"]
