"""Processes that play games for a hub: they run untrusted code, without database or keys."""
