"""What commands print and show."""
