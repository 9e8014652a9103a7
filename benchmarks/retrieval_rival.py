"""Plain Haystack and LlamaIndex set-ups on a folder: `python retrieval_rival.py FOLDER`.

Runs in an environment of its own, without naisei; prints one JSON object. Both read the files,
cut them and search by words (BM25) as their own introductions have it, without a Japanese
analyser: quicker work than naisei's, and for speed only.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

QUERIES = ["年次有給休暇の申請はいつまでですか", "経費精算 承認 担当", "入館証を返却するには"] * 10


def texts(folder: Path) -> list[tuple[str, str]]:
    """(name, text), in the encodings of the corpus: neither set-up guesses them."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return [
        (str(path), path.read_text(encoding="cp932" if path.suffix == ".txt" else "utf-8"))
        for path in files
    ]


def haystack(folder: Path) -> dict[str, Any]:
    import haystack
    from haystack.components.preprocessors import DocumentSplitter
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    began = time.perf_counter()
    read = texts(folder)
    documents = [haystack.Document(content=text, meta={"file": name}) for name, text in read]
    splitter = DocumentSplitter(split_by="passage", split_length=2)
    splitter.warm_up()
    chunks = splitter.run(documents=documents)["documents"]
    store = InMemoryDocumentStore()
    store.write_documents(chunks)
    wall = time.perf_counter() - began
    retriever = InMemoryBM25Retriever(store, top_k=5)
    took = timed(lambda query: retriever.run(query=query))
    return found("haystack", haystack.__version__, len(documents), len(chunks), wall, took)


def llama_index(folder: Path) -> dict[str, Any]:
    import llama_index.core
    from llama_index.core import Document
    from llama_index.core.node_parser import SentenceSplitter
    from llama_index.retrievers.bm25 import BM25Retriever

    began = time.perf_counter()
    read = texts(folder)
    documents = [Document(text=text, metadata={"file": name}) for name, text in read]
    nodes = SentenceSplitter(chunk_size=512, chunk_overlap=80).get_nodes_from_documents(documents)
    retriever = BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=5)
    wall = time.perf_counter() - began
    took = timed(retriever.retrieve)
    version = llama_index.core.__version__
    return found("llama_index", version, len(documents), len(nodes), wall, took)


def timed(search: Any) -> float:
    """The median in milliseconds, the first ten aside."""
    times = []
    for query in QUERIES:
        began = time.perf_counter()
        search(query)
        times.append(1000 * (time.perf_counter() - began))
    return sorted(times[10:])[len(times[10:]) // 2]


def found(
    name: str, version: str, documents: int, chunks: int, wall: float, took: float
) -> dict[str, Any]:
    return {
        f"{name}": version,
        f"{name}_chunks": chunks,
        f"{name}_documents_per_s": documents / wall,
        f"{name}_search_bm25_ms": took,
    }


def main() -> int:
    result: dict[str, Any] = {}
    for name, run in (("haystack", haystack), ("llama_index", llama_index)):
        try:
            result |= run(Path(sys.argv[1]))
        except ImportError as error:
            result[name] = f"skipped: {error}"
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
