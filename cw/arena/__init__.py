"""Running a match between bots of any kind: seats, transports, the sandbox and the referee."""
