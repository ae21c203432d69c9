"""Pictures of people: uploaded, read by a process of their own, and kept small."""
