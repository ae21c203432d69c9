"""Pictures of people and competitions: uploaded, decoded in a separate process, stored small."""
