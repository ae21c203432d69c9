"""The tests of the arena, and what they share with those of the site."""
