"""Circuit Wars: one arena for bot-programming games."""

__version__ = "1.0.0"
