"""The pages of the current user's End of Codes bot."""
