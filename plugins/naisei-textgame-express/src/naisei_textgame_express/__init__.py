"""Games of TextWorldExpress, a second engine, for the players of text games."""
