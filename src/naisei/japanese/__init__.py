"""Everything in the project that parses Japanese."""
