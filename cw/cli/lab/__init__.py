"""The commands of the lab: they compare two bots, tune one, and run a local league."""
