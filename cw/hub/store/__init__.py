"""What the hub keeps: tables, objects, and secrets that lie sealed in both."""
