"""Analyses the claims of a line: scope, denials, settings, stage directions."""
