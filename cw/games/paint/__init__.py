"""Paint: avatars walk and shoot at the same time; who owns most squares at the end wins."""
