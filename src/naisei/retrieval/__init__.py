"""Documents: read, cut, indexed and searched, by words and by meaning."""

from naisei.retrieval.build import build
from naisei.retrieval.chunking import Chunking
from naisei.retrieval.handler import SearchHandler, evidence
from naisei.retrieval.index import Index
from naisei.retrieval.limits import LoadLimits
from naisei.retrieval.load import load
from naisei.retrieval.types import Chunk, Document, Hit, IndexReport, Mode, Passage, Skipped
from naisei.retrieval.unreadable import Unreadable

__all__ = [
    "Chunk",
    "Chunking",
    "Document",
    "Hit",
    "Index",
    "IndexReport",
    "LoadLimits",
    "Mode",
    "Passage",
    "SearchHandler",
    "Skipped",
    "Unreadable",
    "build",
    "evidence",
    "load",
]
