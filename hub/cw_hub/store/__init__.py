"""Storage of the hub: tables, objects, and the encrypted secrets in both."""
