"""A ladder: rounds in which every two meet, with points that depend on who stands higher.

Entries are any hashable, ordered values, such as team ids. All functions are pure. A tournament of
a hub plays the rounds one by one; `contest` presents a ladder like any other contest.
"""
