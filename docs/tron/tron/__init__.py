"""The game of Tron."""

from cw.games.entry import in_folder

ENTRY = in_folder("tron")
