"""What a line claims: scope, denials, settings, stage directions."""
