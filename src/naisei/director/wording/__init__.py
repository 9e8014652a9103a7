"""What a line says, by its words: claims and their scope, denials, settings, stage directions."""
