"""The hub: a website where users meet, bring bots, and watch them play.

Workers and schedulers start without its pages, which are served by application.py.
"""

__version__ = "1.0.0"
"""The version of the arena; both are released together."""
