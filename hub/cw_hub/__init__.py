"""The hub: a website where people meet, bring bots, and watch them play.

Workers and schedulers start without its pages, which application.py serves.
"""

__version__ = "1.0.0"
"""That of the arena; both are released together."""
