"""Drafts that are compiled: once as long as they do not change."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from cw.matches.spec import Isolation
from cw.workshop.project import BotFolder, Project
from cw.workshop.runs import BuildFailed
from cw_hub.bots.jobs import CompiledDrafts
from cw_hub.players import programs as players_programs
from cw_hub.players.drafts import SandboxBuilder
from cw_hub.players.messages import Built, Message
from cw_hub.players.packages import UnfitUpload
from cw_hub.players.programs import Build


def test_a_draft_is_compiled_once_for_each_of_its_states(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled: list[Path] = []

    def compile_one(folder: Path, *_: object) -> Build:
        compiled.append(folder)
        if len(compiled) == 1:
            raise UnfitUpload("It could not be built: no.\nbot.c:1: error")
        return Build(b"program", "")

    monkeypatch.setattr(players_programs, "compiled", compile_one)
    programs = CompiledDrafts()

    def build(name: str, digest: str) -> Path:
        place = tmp_path / name
        place.mkdir()
        project = Project("paint", "c", BotFolder(place), Isolation())

        def keep(message: Message) -> None:
            assert isinstance(message, Built)
            programs.keep("c", digest, message.data)

        builder = SandboxBuilder(project, programs.find("c", digest), keep)
        asyncio.run(builder.build())
        asyncio.run(builder.build())
        return place / "bot"

    with pytest.raises(BuildFailed, match="could not be built"):
        build("failed", "one")
    for name, digest in (("first", "one"), ("again", "one"), ("changed", "two")):
        program = build(name, digest)
        assert program.read_bytes() == b"program"
        assert program.stat().st_mode & 0o777 == 0o700
    assert [folder.name for folder in compiled] == ["failed", "first", "changed"]


def test_programs_that_were_not_used_for_long_make_room() -> None:
    programs = CompiledDrafts(most=10)
    programs.keep("c", "one", b"12345")
    programs.keep("c", "two", b"12345")
    assert programs.find("c", "one") == b"12345"
    programs.keep("cpp", "one", b"1")
    assert programs.find("c", "two") is None
    assert programs.find("c", "one") == b"12345"
    assert programs.find("cpp", "one") == b"1"
