"""Contest formats, standings and ratings: pure computation on results, independent of any game."""
