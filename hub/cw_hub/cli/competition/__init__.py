"""`cw hub competition`: competitions of every format, for the operator."""
