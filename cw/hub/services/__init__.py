"""The verbs of the hub: plain functions of a session, a clock and values; each one transaction."""
