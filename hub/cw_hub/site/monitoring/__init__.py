"""Monitoring: metrics, the request log, and readiness of a process."""
