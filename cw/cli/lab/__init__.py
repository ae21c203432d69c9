"""The commands of the lab: comparing two bots, and tuning one."""
