"""The tables of an index.

Documents and chunks are immutable and kept by content: (path, hash of the bytes, recipe). A
generation is a list of documents; it comes into being whole, in one transaction, and readers
follow the greatest. What a killed indexer leaves are documents that belong to no generation:
the next run takes them over.
"""

__all__ = ["READABLE", "SCHEMA", "VERSION"]

#: Changes with the tables. Version 1 had no `sentences`: such a store is still read, without a
#: second look, and becomes one of this version when it is indexed again.
VERSION = 2
READABLE = (1, VERSION)

SCHEMA = """
CREATE TABLE IF NOT EXISTS documents (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL, sha256 TEXT NOT NULL, recipe TEXT NOT NULL,
  title TEXT NOT NULL, format TEXT NOT NULL, date TEXT, version TEXT NOT NULL,
  meta TEXT NOT NULL, signature BLOB NOT NULL,
  UNIQUE (path, sha256, recipe));
CREATE TABLE IF NOT EXISTS chunks (
  id INTEGER PRIMARY KEY,
  document INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
  name TEXT NOT NULL, headings TEXT NOT NULL, page INTEGER, text TEXT NOT NULL,
  tokens TEXT NOT NULL, key BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS chunks_of ON chunks (document, id);
CREATE TABLE IF NOT EXISTS generations (
  id INTEGER PRIMARY KEY AUTOINCREMENT, embedder TEXT, report TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS members (
  generation INTEGER NOT NULL REFERENCES generations (id) ON DELETE CASCADE,
  document INTEGER NOT NULL REFERENCES documents (id),
  superseded_by TEXT, duplicate_of TEXT,
  PRIMARY KEY (generation, document)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS members_of ON members (document);
CREATE TABLE IF NOT EXISTS vectors (
  embedder TEXT NOT NULL, key BLOB NOT NULL, vector BLOB NOT NULL,
  PRIMARY KEY (embedder, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sentences (
  embedder TEXT NOT NULL, key BLOB NOT NULL, vectors BLOB NOT NULL,
  PRIMARY KEY (embedder, key));
"""
