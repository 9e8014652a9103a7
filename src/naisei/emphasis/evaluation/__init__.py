"""Taggers compared on a corpus: folds by document, seeds, tables, paired tests."""
