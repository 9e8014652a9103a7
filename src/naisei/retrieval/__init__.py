"""Documents: read, cut, indexed and searched, by words and by meaning."""
