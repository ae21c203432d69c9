"""The pictures of matches that other sites show beside a link."""
