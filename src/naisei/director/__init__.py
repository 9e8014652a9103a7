"""The director: a line is checked before it is spoken, and rejected lines leave no trace."""
