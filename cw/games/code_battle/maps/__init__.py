"""Maps of Code Battle (rule book, "Maps"): files, generation, checks, and the library."""
