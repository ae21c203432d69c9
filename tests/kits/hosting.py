"""The files of kits that take a bot to a container or to a host like Dokku and Heroku."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from cw.kits import LANGUAGES

PORTS = {"code-battle": 8080, "end-of-codes": 8801, "hexagon": 3000}
"""The games whose bots are web services, and where these listen."""

PUSHED = "hexagon"
"""The game whose bots are pushed to hosts like Dokku and Heroku."""

LIBRARY = "docker.io/library"
USER = 10001
DEBIAN = f"{LIBRARY}/debian:13-slim"
APT = "apt-get update && apt-get install -y --no-install-recommends"
FORGET = "rm -rf /var/lib/apt/lists/*"


@dataclass(frozen=True)
class Hosting:
    """How bots in a language get into an image, and what tells hosts the language."""

    run: tuple[str, ...]
    """The command that runs the bot in its folder, in an image as on a host."""
    image: str
    """What the image is made from, "" for Debian."""
    prepare: str = ""
    """What an image needs before the bot comes; for a compiled bot, before it runs."""
    builder: str = ""
    """What a compiled bot is built in."""
    build_prepare: str = ""
    build: str = ""
    """The command that builds a compiled bot."""
    product: str = ""
    """What of the build is run."""
    install: str = ""
    """What installs the packages that the file of the language names."""
    left: tuple[str, ...] = ()
    """What building or running leaves in the folder."""
    language_files: Mapping[str, str] | None = None
    """Files that tell the language; None where hosts need the Dockerfile for it."""


POM = """<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>bot</groupId>
  <artifactId>bot</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.source>17</maven.compiler.source>
    <maven.compiler.target>17</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <build>
    <sourceDirectory>${project.basedir}</sourceDirectory>
  </build>
</project>
"""
GEMFILE_LOCK = """GEM
  remote: https://rubygems.org/
  specs:

PLATFORMS
  ruby

DEPENDENCIES
"""
PACKAGE = {
    "name": "bot",
    "version": "1.0.0",
    "private": True,
    "engines": {"node": ">=18"},
    "scripts": {"start": "node bot.js"},
}


def compiled(language: str, runtime: str, command: str) -> Hosting:
    """Return how a language is hosted that Debian has the compiler of."""
    return Hosting(
        ("./bin/bot",),
        DEBIAN,
        f"RUN {APT} {runtime} && {FORGET}\n",
        builder=DEBIAN,
        build_prepare=f"RUN {APT} {LANGUAGES[language].packages} && {FORGET}\n",
        build=f"mkdir -p bin && {command}",
        product="bin/bot",
        left=("bin", "bot"),
    )


HOSTING: Mapping[str, Hosting] = {
    "python": Hosting(
        ("python3", "bot.py"),
        f"{LIBRARY}/python:3.13-slim",
        "# What the bot prints is in the log at once.\nENV PYTHONUNBUFFERED=1\n",
        install="RUN pip install --no-cache-dir -r requirements.txt\n",
        left=("__pycache__", ".venv"),
        language_files={"requirements.txt": "# Packages that your bot needs, one a line.\n"},
    ),
    "javascript": Hosting(
        ("node", "bot.js"),
        f"{LIBRARY}/node:22-alpine",
        install="RUN npm install --omit=dev\n",
        left=("node_modules",),
        language_files={"package.json": json.dumps(PACKAGE, indent=2) + "\n"},
    ),
    "php": Hosting(
        ("php", "bot.php"),
        f"{LIBRARY}/php:8.4-cli-alpine",
        "# Without pcntl the bot would not hear that it is to stop.\n"
        "RUN docker-php-ext-install pcntl\n",
        install=f"COPY --from={LIBRARY}/composer:2 /usr/bin/composer /usr/local/bin/composer\n"
        "RUN composer install --no-dev --no-interaction\n",
        left=("vendor",),
        language_files={"composer.json": "{}\n"},
    ),
    "ruby": Hosting(
        ("ruby", "bot.rb"),
        f"{LIBRARY}/ruby:3.4-alpine",
        install="RUN bundle install\n",
        language_files={"Gemfile": "source 'https://rubygems.org'\n", "Gemfile.lock": GEMFILE_LOCK},
    ),
    "go": Hosting(
        ("./bin/bot",),
        f"{LIBRARY}/alpine:3.21",
        builder=f"{LIBRARY}/golang:1.24-alpine",
        build="go build -o bin/bot .",
        product="bin/bot",
        left=("bin", "bot"),
        language_files={},
    ),
    "java": Hosting(
        ("java", "-cp", "target/classes", "Bot"),
        f"{LIBRARY}/eclipse-temurin:21-jre-alpine",
        builder=f"{LIBRARY}/eclipse-temurin:21-jdk-alpine",
        build="javac -d target/classes *.java",
        product="target/classes",
        left=("target", "classes", "bot.jar"),
        language_files={"pom.xml": POM, "system.properties": "java.runtime.version=21\n"},
    ),
    "c": compiled("c", "libcjson1", "cc -O2 -pthread -o bin/bot *.c -lcjson"),
    "cpp": compiled(
        "cpp", "libcjson1 libstdc++6", "c++ -std=c++17 -O2 -pthread -o bin/bot *.cpp -lcjson"
    ),
}


def files(game: str, language: str) -> Mapping[str, str]:
    """Return the files of a kit by their names; none for a game whose bots are not web services."""
    if game not in PORTS:
        return {}
    how = HOSTING[language]
    content = {"Dockerfile": dockerfile(game, how), ".dockerignore": ignored(how)}
    if game == PUSHED and how.language_files is not None:
        content |= {"Procfile": procfile(how), **how.language_files}
    return content


def dockerfile(game: str, how: Hosting) -> str:
    """Return the Dockerfile, which runs the bot as nobody in particular."""
    text = f"FROM {how.image}\n{how.prepare}WORKDIR /app\n"
    if how.builder:
        build = f"FROM {how.builder} AS build\n{how.build_prepare}WORKDIR /app\nCOPY . .\n"
        text = f"{build}RUN {how.build}\n\n{text}"
        text += f"COPY --from=build /app/{how.product} {how.product}\n"
    else:
        text += "COPY . .\n" + how.install * (game == PUSHED)
    text += f"USER {USER}\nENV BOT_HOST=0.0.0.0\n"
    if game == PUSHED:
        text += "# It listens on PORT or 3000. EXPOSE would make Dokku serve it there, not on 80.\n"
    else:
        text += f"EXPOSE {PORTS[game]}\n"
    return f"{text}CMD {json.dumps(how.run)}\n"


def procfile(how: Hosting) -> str:
    """Return the Procfile; `env` is a program, as Dokku starts the command without a shell."""
    return f"web: env BOT_HOST=0.0.0.0 {' '.join(how.run)}\n"


def ignored(how: Hosting) -> str:
    """Return the .dockerignore: what a folder may hold that is no part of the bot."""
    names = (".git", ".env", ".dockerignore", "Dockerfile", "README.md", "log", *how.left)
    return "".join(f"{name}\n" for name in names)
