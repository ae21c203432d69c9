"""`cw replay ask`: asks a bot the questions of a recorded match."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from cw.arena.bots import SECRET_SETTINGS, BotSpec, place_of, read_settings, split_name
from cw.cli.options import SANDBOX, VERBOSE
from cw.cli.output.announcements import Announcements
from cw.cli.output.stderr import Stderr
from cw.cli.replay.line import player_of
from cw.cli.replay.reading import FILE, read
from cw.errors import UsageError, choices, visible
from cw.games.registry import load_endings, load_strategies
from cw.games.rules import Json, Player
from cw.games.wire import compact
from cw.lab.ask import AskedAnswer, Asking, ask
from cw.matches.spec import Isolation, SandboxPolicy
from cw.replays.document import Document

LONGEST: Final = 2000
"""Maximum characters printed of a question or an output; --json prints all."""

WIDTH: Final = 60
"""Maximum characters of a reply in the list of `--every`."""


@click.command("ask")
@click.argument("file", type=FILE)
@click.argument("bot", metavar="BOT")
@click.option(
    "--turn", type=click.IntRange(0), help="Send the query of this turn, after all earlier ones."
)
@click.option(
    "--every", is_flag=True, help="Send the queries of all turns; list where the answers differ."
)
@click.option("--player", help="Bot or player that BOT replaces.  [default: itself, if it played]")
@click.option("--cold", is_flag=True, help="With --turn: skip the earlier turns.")
@click.option("--wait", is_flag=True, help="Switch off time limits, for a debugger.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME.KEY=VALUE",
    help="A setting of the bot, as for `cw play`; may be repeated.",
)
@SANDBOX
@VERBOSE
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object for each answer.")
def ask_command(
    file: Path,
    bot: str,
    turn: int | None,
    every: bool,
    player: str | None,
    cold: bool,
    wait: bool,
    settings: tuple[str, ...],
    sandbox: SandboxPolicy,
    verbose: bool,
    as_json: bool,
) -> None:
    """Ask BOT the questions of the match in the replay FILE.

    The match is played again as recorded, with BOT in the place of one player: it gets the queries
    that this player got, in the same order and format, and nothing else. With --turn the command
    prints the query, the answer then and now with its time, whether it is legal, and the standard
    error of BOT. Turns are counted from 1, in End of Codes from 0. BOT is anything that `cw play`
    accepts.

    \b
      cw replay ask match.json.gz ./bot.py --turn 20
      cw replay ask match.json.gz ./bot.py --every
      cw replay ask match.json.gz builtin:greedy --turn 20 --player bot.py
      cw replay ask match.json.gz ./bot.py --turn 20 --wait --sandbox off

    Exit code 1 if an answer is illegal, or if BOT stopped answering.
    """
    if (turn is None) != every:
        raise click.UsageError("choose a turn with --turn N, or all turns with --every")
    if cold and every:
        raise click.UsageError("--cold asks about one turn: choose it with --turn N")
    document = read(file)
    asking = asking_of(document, bot, player, settings, turn, sandbox, cold=cold, wait=wait)
    stderr = Stderr()
    answers: list[AskedAnswer] = []

    def tell(answer: AskedAnswer) -> None:
        answers.append(answer)
        if as_json:
            click.echo(json.dumps(answer.to_json()))
        elif every and (answer.is_changed or not answer.is_legal):
            click.echo(visible(in_a_line(answer, load_endings(document["game"]).turn)))

    if wait:
        stderr.say("The bot has no time limit; stop with Ctrl-C.", "dim")
    problem = asyncio.run(ask(asking, tell, Announcements(stderr, verbose=verbose)))
    if not as_json:
        word = load_endings(document["game"]).turn
        lines = (summary if every else whole)(answers, word)
        click.echo("\n".join(map(visible, lines)))
    if problem:
        stderr.say(f"Stopped asking it: {problem}")
    if problem or not all(answer.is_legal for answer in answers):
        raise SystemExit(1)


def asking_of(
    document: Document,
    bot: str,
    player: str | None,
    settings: Sequence[str],
    turn: int | None,
    sandbox: SandboxPolicy,
    *,
    cold: bool,
    wait: bool,
) -> Asking:
    """Return the requested questions; raise UsageError if invalid."""
    place = place_of(split_name(bot)[1], load_strategies(document["game"]))
    spec = BotSpec(place.name, place.kind, place.target)
    seat = seat_of(document, spec, player)
    values = read_settings(settings, [seat["name"]]).get(seat["name"], {})
    public = {key: value for key, value in values.items() if key not in SECRET_SETTINGS}
    return Asking(
        document,
        seat["player"],
        spec.with_settings(public),
        {key: value for key, value in values.items() if key in SECRET_SETTINGS},
        turn,
        is_cold=cold,
        is_patient=wait,
        isolation=Isolation(sandbox),
    )


def seat_of(document: Document, bot: BotSpec, player: str | None) -> dict[str, Json]:
    """Return the player whose seat a bot takes: the named one, or the one that the bot played.

    Raises UsageError if the bot did not play, or played more than once.
    """
    seats = document["players"]
    if player is not None:
        wanted: Player = player_of(document, player)
        return next(seat for seat in seats if str(seat["player"]) == wanted)
    own = [seat for seat in seats if seat.get("bot") == bot.public]
    own = own or [seat for seat in seats if seat["name"] == bot.name]
    if len(own) != 1:
        names = [seat["name"] for seat in own or seats]
        known = f"{bot.name} played {len(own)} times" if own else f"{bot.name} did not play"
        raise UsageError(
            f"{known} in this match: choose the player that it stands in for with --player; "
            f"{choices('', names)}"
        )
    return dict(own[0])


def whole(answers: Sequence[AskedAnswer], word: str) -> list[str]:
    """Return the lines about a single reply, with all its details."""
    if not answers:
        return []
    [answer] = answers
    lines = [f"{word.capitalize()} {answer.turn}. It was asked:", *indented(answer.question)]
    lines += [answer_line("Then", answer.before, answer.seconds_before, answer.verdict_before)]
    lines += [answer_line("Now", answer.after, answer.seconds, answer.verdict)]
    lines += ["The answers differ." if answer.is_changed else "The answers are the same."]
    if answer.stderr:
        lines += ["It wrote to its standard error:", *indented(answer.stderr)]
    return lines


def answer_line(when: str, action: Json, seconds: float | None, verdict: str) -> str:
    """Return a line about a recorded or new reply."""
    time = "" if seconds is None else f"after {in_milliseconds(seconds)}, "
    return f"{when}: {cut(printed(action), LONGEST)}  ({time}{verdict})"


def indented(text: str) -> list[str]:
    """Return the lines of a text, indented; a long text is cut."""
    return [f"  {line}" for line in cut(text, LONGEST).splitlines()]


def cut(text: str, most: int) -> str:
    """Return a text; if it is too long, its beginning and its length."""
    if len(text) <= most:
        return text
    return f"{text[:most]} ... ({len(text)} characters; --json prints all)"


def in_a_line(answer: AskedAnswer, word: str) -> str:
    """Return a reply as one line of the list."""
    texts = [printed(action) for action in (answer.before, answer.after)]
    then, now = (text if len(text) <= WIDTH else f"{text[:WIDTH]}..." for text in texts)
    verdict = "" if answer.is_legal else f", {answer.verdict}"
    return (
        f"{word} {answer.turn}: then {then}, now {now} ({in_milliseconds(answer.seconds)}{verdict})"
    )


def printed(action: Json) -> str:
    """Return an action as JSON without spaces."""
    return compact(action).decode()


def summary(answers: Sequence[AskedAnswer], word: str) -> list[str]:
    """Return the summary below the list of replies that differ."""
    changed = [answer.turn for answer in answers if answer.is_changed]
    wrong = sum(not answer.is_legal for answer in answers)
    seconds = sum(answer.seconds for answer in answers)
    line = f"{len(answers)} questions, {seconds:.1f} s of thinking: {len(changed)} answers differ"
    if changed:
        line += f", the first in {word} {changed[0]}"
    return [f"{line}; {wrong} of them illegal or missing." if wrong else f"{line}."]


def in_milliseconds(seconds: float) -> str:
    """Return a time in milliseconds, as text."""
    return f"{seconds * 1000:.1f} ms"
