"""Building blocks of API routes, for the hub and for formats that add routes."""
