"""What the pages of all subjects share."""
