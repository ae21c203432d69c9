"""Storage of the hub: database tables, object storage, and the encryption of secrets."""
