"""A local league: the bots of a folder and their earlier versions, which play until stopped."""
