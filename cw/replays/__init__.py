"""A match as a document: enough to draw it, and to play it again."""
