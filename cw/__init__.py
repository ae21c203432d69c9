"""Circuit Wars: one arena for bot-programming games."""

__version__ = "0.1.0"
