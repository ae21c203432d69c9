"""Drawing game boards: shapes, colours, and scenes of a match."""
