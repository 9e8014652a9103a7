"""A small learned scorer whose features know no names, only roles; numpy alone."""
