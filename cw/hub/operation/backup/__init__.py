"""Back-ups: written, read, and made once a day."""
