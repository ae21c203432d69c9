"""Pages of championships: the report, and what its teams are handed."""
