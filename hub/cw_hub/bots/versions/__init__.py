"""The versions of uploaded programs, of people and of teams alike."""
