"""The daily game: all ready bots play at a due time of each day."""
