"""Pictures of people and competitions: uploaded, read by a process apart, and kept small."""
