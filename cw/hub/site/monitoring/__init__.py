"""What operators watch: metrics, the log of requests, whether a process is ready."""
