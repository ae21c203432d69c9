"""The hub: a website where people meet, bring bots, and watch them play.

Workers and schedulers start without its pages, which application.py serves.
"""
