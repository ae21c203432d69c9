"""Fair shares of the places in which strangers' programs run."""
