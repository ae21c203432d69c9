"""What the pages of all subjects are made with."""
