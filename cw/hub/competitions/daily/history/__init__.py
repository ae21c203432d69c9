"""Daily games over time: those of a month, and how a person and a bot have fared in them."""
