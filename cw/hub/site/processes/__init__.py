"""What the processes of a site do, put together from all subjects."""
