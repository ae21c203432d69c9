"""Pictures of people and competitions: uploaded, read by a separate process, and kept small."""
