"""The hub: a site where many people meet, bring bots, and watch them play.

Workers and schedulers begin without its pages, which application.py has.
"""
