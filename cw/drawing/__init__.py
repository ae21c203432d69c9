"""What the games' boards are drawn with: shapes, colours, and scenes of a match."""
