"""The files that take kits to containers and hosts: up to date, and what they start."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

import pytest

from cw import kits
from cw.kits import LANGUAGES, games, new_bot
from tests.kits import containers
from tests.kits.hosting import PORTS, PUSHED, files
from tests.kits.judging import vectors
from tests.kits.running import PATIENCE, Kit, running, shell
from tests.tools import require

ANY_ADDRESS = "127.0.0.2" if sys.platform == "linux" else "127.0.0.1"
"""An address of this machine that only those have who listen on all."""
OTHERS = [language for language in LANGUAGES if language != "python"]
"""The languages that the fast suite leaves out."""


@dataclass(frozen=True)
class Image:
    """A Dockerfile, taken apart."""

    stages: list[list[tuple[str, str]]]
    """The instructions of each stage, with what follows them."""

    @property
    def last(self) -> dict[str, str]:
        """Return the last of each instruction of the stage that is run."""
        return dict(self.stages[-1])

    @property
    def command(self) -> tuple[str, ...]:
        return tuple(json.loads(self.last["CMD"]))

    @property
    def builds(self) -> list[str]:
        """Return the commands that build the bot, without those that get packages."""
        runs = [text for stage in self.stages[:-1] for word, text in stage if word == "RUN"]
        return [run for run in runs if not run.startswith("apt-get")]


def read(folder: Path) -> Image:
    """Read the Dockerfile of a folder."""
    stages: list[list[tuple[str, str]]] = []
    for line in (folder / "Dockerfile").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            word, text = line.split(" ", 1)
            stages += [[]] * (word == "FROM")
            stages[-1] = [*stages[-1], (word, text)]
    return Image(stages)


@pytest.mark.parametrize("game", games())
def test_every_kit_has_its_files_and_they_are_up_to_date(game: str) -> None:
    for language in LANGUAGES:
        kit_files = files(game, language)
        assert bool(kit_files) == (game in PORTS)
        kit = kits.files(game, language)
        for name, text in kit_files.items():
            assert kit[name].read_text("utf-8") == text, (language, name)


ENGINE = """#!/bin/sh
for folder; do :; done
mkdir -p "$OUT/$4" && cp "$folder"/* "$folder"/.[!.]* "$OUT/$4"
"""
"""Takes `build --quiet -t IMAGE FOLDER`, and copies the folder."""


@pytest.mark.skipif(os.name != "posix", reason="the engine is a script for a shell")
def test_images_are_built_from_whole_kits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUT", str(tmp_path / "out"))
    engine = tmp_path / "engine"
    engine.write_text(ENGINE)
    engine.chmod(0o755)
    containers.build_all(str(engine))
    for game in PORTS:
        for language in LANGUAGES:
            context = tmp_path / "out" / containers.image(game, language)
            assert {file.name for file in context.iterdir()} == {*kits.files(game, language)}


@pytest.mark.parametrize("game", PORTS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_dockerfile_copies_what_there_is_and_starts_it_as_nobody(
    game: str, language: str
) -> None:
    image = read(kits.folder(game, language))
    words = [word for word, _ in image.stages[-1]]
    assert words.count("CMD") == 1
    assert words.index("USER") < words.index("CMD")
    assert int(image.last["USER"]) > 0
    assert image.last["ENV"] == "BOT_HOST=0.0.0.0"
    assert image.last.get("EXPOSE") == (None if game == PUSHED else str(PORTS[game]))
    built = " ".join(image.builds)
    places: set[str] = set()
    for word, text in [each for stage in image.stages for each in stage]:
        if word == "COPY" and text.startswith("--from=build /app/"):
            _, target, place = text.split(" ")
            assert target == f"/app/{place}"
            assert place in built
            places.add(place)
        elif word == "COPY" and not text.startswith("--from="):
            assert text == ". ."
            if len(image.stages) == 1:
                places |= {*kits.files(game, language)}
    program, *rest = image.command
    assert places & {program.removeprefix("./"), *rest}
    # A program that is not the bot itself is the one that the image is named after.
    runtime = image.last["FROM"].rpartition("/")[2].replace("eclipse-temurin", "java")
    assert program == "./bin/bot" or program.rstrip("3") == runtime.partition(":")[0]


@pytest.mark.parametrize(
    "language",
    ["python", *(pytest.param(each, marks=pytest.mark.thorough) for each in OTHERS)],
)
def test_a_host_starts_the_bot_on_all_addresses_and_it_answers(
    language: str, tmp_path: Path
) -> None:
    require(language)
    new_bot(PUSHED, language, tmp_path / "bot")
    image = read(tmp_path / "bot")
    command = ("env", image.last["ENV"], *image.command)
    if (tmp_path / "bot" / "Procfile").exists():
        kind, _, words = (tmp_path / "bot" / "Procfile").read_text("utf-8").partition(": ")
        # Dokku uses the Procfile in an image too.
        assert (kind, tuple(shlex.split(words))) == ("web", command)
    for build in image.builds:
        # Optimised or not, it starts in the same way.
        shell(build.replace("-O2", "-O0"), tmp_path / "bot")
    kit = Kit(PUSHED, language, tmp_path / "bot", command)
    begin = vectors(PUSHED)[0]["steps"][0]["request"]
    with running(kit) as (_, _, output):
        line = output.readline().decode()
        match = re.fullmatch(r"listening on http://(?:0\.0\.0\.0|\[::\]):(\d+)\n", line)
        assert match, (line, kit.log())
        with closing(HTTPConnection(ANY_ADDRESS, int(match[1]), timeout=PATIENCE)) as connection:
            connection.request(begin["method"], begin["path"], begin["body"])
            reply = connection.getresponse()
            assert (reply.status, json.loads(reply.read())) == (200, {"status": "ok"})
