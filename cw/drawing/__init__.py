"""Drawing the boards of games: shapes, colours, and scenes of a match."""
