"""The pages of the hub: a blueprint for each family."""
