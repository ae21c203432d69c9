"""A league of one's own: the bots of a folder and their earlier versions, which play on and on."""
