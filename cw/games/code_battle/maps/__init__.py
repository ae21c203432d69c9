"""Maps of Code Battle (rule book, "Maps"): their files, their making, their checks, the library."""
