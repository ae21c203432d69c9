"""What boards are drawn with: shapes, colours, and a moment of a match as a game is given it."""
