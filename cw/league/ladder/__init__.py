"""A ladder: rounds in which every two meet, and points that depend on who stands higher.

Entries are any hashable values with an order, such as the ids of teams. All functions are pure. A
tournament of a hub plays them round after round; `contest` is a ladder as any other contest.
"""
