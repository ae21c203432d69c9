"""The game of Tron."""

from cw.author import in_folder

ENTRY = in_folder("tron")
