"""A local league: the bots of a folder and their earlier versions play until stopped."""
