"""The embedded language model: its weights, and the server inside the process."""

from naisei.models.local.notice import NOTICE_EN, NOTICE_JA
from naisei.models.local.pull import pull, remove
from naisei.models.local.server import LocalServer, serve
from naisei.models.local.weights import DEFAULT, Weights, catalogue, find, locate

__all__ = [
    "DEFAULT",
    "NOTICE_EN",
    "NOTICE_JA",
    "LocalServer",
    "Weights",
    "catalogue",
    "find",
    "locate",
    "pull",
    "remove",
    "serve",
]
