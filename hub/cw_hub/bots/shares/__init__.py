"""Fair shares of the places that run strangers' programs."""
