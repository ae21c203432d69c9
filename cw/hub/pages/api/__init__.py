"""The API: what the pages show and do, for programs; answers are JSON, and no cookie is read."""
