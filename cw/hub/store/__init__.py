"""What the hub stores: tables, objects, and the encrypted secrets in both."""
