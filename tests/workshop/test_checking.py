"""A check of a bot in the workshop: it is told where the files of the bot are."""

from __future__ import annotations

from pathlib import Path

from cw.arena.bots import read_bot
from cw.workshop.runs import whole


def test_files_of_the_folder_are_named_by_whole_paths(tmp_path: Path) -> None:
    folder = tmp_path / "a bot"
    folder.mkdir()
    (folder / "bot.py").write_text("pass")
    bot = read_bot("mine", "exec:python -u bot.py 3", {}, folder)
    again = read_bot("mine", whole(bot), {})
    assert again.command == ["python", "-u", str(folder / "bot.py"), "3"]
