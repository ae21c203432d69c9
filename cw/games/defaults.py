"""Defaults for games without their own wire protocol, checks, play options or pictures."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from textwrap import TextWrapper
from typing import Any, Final, TypeAlias

import msgspec
from rich.color import Color
from rich.console import Console
from rich.style import Style
from rich.text import Text as RichText

from cw import documents
from cw.drawing import Picture, Point, Rectangle, Scene, Shape, Text
from cw.errors import IllegalAction, ProtocolError, UsageError, short
from cw.games.codec import DefaultCodec, Game, is_fault
from cw.games.entry import Moves, PlayOptions
from cw.games.rules import Fault, Json, Player, Strategy
from cw.games.wire import (
    BotContext,
    CheckReport,
    Ignore,
    LineMessage,
    Query,
    QueryLimits,
    Referee,
    Reply,
    Request,
    Transport,
    Trial,
    as_json,
    compact,
    read_json,
    status_fault,
)

FEWEST_PLAYERS: Final = 2
MOST_PLAYERS: Final = 6
"""The maximum number of seats in a form."""


def default_play_options(game: Game, strategies: Sequence[str]) -> PlayOptions:
    """Return play options for matches between strategies, which are listed weakest first.

    There are no game options. By default the strongest strategies take the required seats.
    """
    seats = game.rules.seats
    usual = tuple(reversed(strategies))[: max(seats.start, FEWEST_PLAYERS)]
    return PlayOptions(strategies=usual, most_players=min(seats.stop - 1, MOST_PLAYERS))


TIMEOUT: Final = 1.0
"""Default seconds per action."""

LONGEST_TIMEOUT: Final = 3600.0
STARTING: Final = 5.0
"""Extra seconds for a program's first reply, because it has to start."""

GRACE: Final = 0.05
"""Extra seconds for the arena's own scheduling; not promised to bots."""

PATH: Final = "/act"
MOST_ACTIONS: Final = 200
"""The maximum number of actions listed in a question."""

EXAMPLES: Final = 8
"""The number of examples to sample in a game that does not list its actions."""

QUOTED: Final = 200
"""The number of bytes of a reply quoted in a message."""

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class Question(msgspec.Struct, frozen=True):
    """A question to a bot: its view, and which player it is."""

    game: str
    match: str
    """An id shared by all questions of a match, and different in every other match."""
    player: Player
    turn: int
    """The number of turns played before; the reply must repeat it."""
    view: Any
    actions: list[Any] = []
    """Allowed actions: all of them if the game lists them, otherwise examples."""


class Answer(msgspec.Struct, frozen=True):
    """A bot's reply to a question."""

    action: Any
    turn: int | None = None


class DefaultProtocol:
    """Asks all players who are to move concurrently, turn by turn.

    The option `timeout` is the time per action in seconds; built-in strategies and human players
    have no limit.
    """

    transports: Sequence[Transport] = ("lines", "http")
    signed_with: str | None = None
    options: Sequence[str] = ("timeout",)

    def __init__(self, game: Game, moves: Moves | None = None) -> None:
        """Prepare matches of a game; `moves` lists a player's actions, if available."""
        self.rules = game.rules
        self.moves = moves

    def players(self, names: Sequence[str]) -> Sequence[Player]:
        """Return the players of a new game with as many players as names."""
        number = max(len(names), self.rules.seats.start)
        return self.rules.players(self.rules.new(number, 0))[: len(names)]

    async def conduct(self, referee: Referee) -> None:
        """Run a match."""
        questions = Questions(referee, self.moves)
        referee.begin(referee.rules.new(len(referee.names), referee.seed, **referee.options))
        while referee.rules.outcome(referee.state) is None:
            await questions.play_turn()


class Questions:
    """Asks the questions of one match."""

    def __init__(self, referee: Referee, moves: Moves | None = None) -> None:
        """Prepare the questions of a match; raise UsageError if the time limit is invalid."""
        self.referee = referee
        self.moves = moves
        self.rng = Random(referee.token())
        self.timeout = time_limit(referee.protocol_options.get("timeout", TIMEOUT))
        self.match = referee.token()[:16]
        self.turn = 0
        self.asked: set[Player] = set()

    async def play_turn(self) -> None:
        """Ask all players who are to move, and apply their actions."""
        self.apply(await self.ask(self.referee.rules.to_move(self.referee.state)))

    async def ask(self, players: Sequence[Player]) -> dict[Player, Any]:
        """Return the action or the fault of each player.

        A program that failed to start or crashed is not asked again.
        """
        answers = await self.referee.ask({player: self.query(player) for player in players})
        for player, answer in answers.items():
            if isinstance(answer, Fault) and answer.kind in ("startup", "crashed"):
                self.referee.disqualify(player, answer)
        return answers

    def apply(self, actions: Mapping[Player, Any]) -> None:
        """Apply actions and faults by the rules, and advance to the next turn."""
        self.referee.step(actions)
        self.turn += 1

    def query(self, player: Player) -> Query:
        """Return the query that asks a player for an action."""
        referee = self.referee
        view = referee.codec.view_to_json(referee.rules.observe(referee.state, player))
        actions = self.actions(player)
        question = Question(referee.rules.name, self.match, player, self.turn, view, actions)
        text = compact(msgspec.structs.asdict(question))
        reader = ActionReader(self.turn, partial(self.action_of, referee.state, player))
        if referee.transport(player) == "http":
            call = Request("POST", PATH, text, {"Content-Type": "application/json"})
            return Query(call, reader.from_response, QueryLimits(self.timeout, GRACE), action=True)
        limits = QueryLimits(self.timeout + self.starting(player), GRACE)
        return Query(LineMessage(text, numbered=True), reader.from_line, limits, action=True)

    def actions(self, player: Player) -> list[Json]:
        """Return legal actions of a player, at most MOST_ACTIONS."""
        rules, state = self.referee.rules, self.referee.state
        if self.moves is not None:
            moves = self.moves(state, player)
            return list(
                moves if len(moves) <= MOST_ACTIONS else self.rng.sample(moves, MOST_ACTIONS)
            )
        drawn = [rules.sample(state, player, self.rng) for _ in range(EXAMPLES)]
        documents = [self.referee.codec.action_to_json(action) for action in drawn]
        return [each for place, each in enumerate(documents) if each not in documents[:place]]

    def starting(self, player: Player) -> float:
        """Return the extra seconds for a program to start, for its first reply only."""
        first = player not in self.asked
        self.asked.add(player)
        return STARTING if first else 0.0

    def action_of(self, state: Any, player: Player, document: Json) -> Any:
        """Read a player's action; raise ProtocolError if it is not an action."""
        if is_fault(document):
            raise ProtocolError(f"expected an action, not {short(document)}")
        return self.referee.codec.actions_from_json(state, {str(player): document})[player]


@dataclass(frozen=True, slots=True)
class ActionReader:
    """Reads the replies to one question."""

    turn: int
    action_of: Callable[[Json], Any]

    def from_line(self, reply: Reply) -> Any | Fault | Ignore:
        """Return the action in a line; ignore a late reply to another turn."""
        answer = decoded(reply.body)
        if isinstance(answer, Fault):
            return self.unreadable(answer, reply)
        if answer.turn is None:
            return self.unreadable(Fault("malformed", "it names no turn"), reply)
        if answer.turn != self.turn:
            return Ignore(Fault("timeout", self.another_turn(answer)))
        return self.action(answer, reply)

    def from_response(self, reply: Reply) -> Any | Fault:
        """Return the action in a web service's response, which may omit the turn."""
        if not 200 <= reply.status <= 299:
            return status_fault(reply)
        answer = decoded(reply.body)
        if isinstance(answer, Fault):
            return self.unreadable(answer, reply)
        if answer.turn not in (None, self.turn):
            return Fault("malformed", self.another_turn(answer))
        return self.action(answer, reply)

    def unreadable(self, why: Fault, reply: Reply) -> Fault:
        """Return the fault for a malformed reply."""
        expected = f'expected {{"turn": {self.turn}, "action": ...}}'
        return Fault("malformed", f"{expected}, but it wrote {quote(reply.body)}: {why.detail}")

    def another_turn(self, answer: Answer) -> str:
        """Return the message for a reply to another turn."""
        return f"it answered turn {answer.turn}, but turn {self.turn} was asked for"

    def action(self, answer: Answer, reply: Reply) -> Any | Fault:
        """Return the action in a reply, or the fault `malformed`."""
        try:
            return self.action_of(answer.action)
        except ProtocolError as error:
            return Fault("malformed", f"{error}; it wrote {quote(reply.body)}")


def time_limit(timeout: Json) -> float:
    """Return the seconds as a float; raise UsageError unless above 0 and at most an hour."""
    number = isinstance(timeout, int | float) and not isinstance(timeout, bool)
    if number and 0 < timeout <= LONGEST_TIMEOUT:
        return float(timeout)
    raise UsageError(
        f"timeout must be a number of seconds above 0 and up to {LONGEST_TIMEOUT:g},"
        f" not {short(timeout)}"
    )


def decoded(body: bytes) -> Answer | Fault:
    """Parse a reply; return the fault `malformed` if it is invalid."""
    try:
        return documents.convert(read_json(body.removeprefix(BYTE_ORDER_MARK)), Answer)
    except (ProtocolError, msgspec.ValidationError) as error:
        return Fault("malformed", str(error))


def quote(body: bytes) -> str:
    """Return the beginning of a reply, quoted for a message."""
    return repr(body[:QUOTED].decode(errors="replace"))


MOST_SEATS: Final = 64
"""The maximum number of seats to remember; the oldest is evicted."""


class DefaultBotHandler:
    """Replies to every question; a match's first question for a seat creates its strategy."""

    def __init__(self, context: BotContext, codec: DefaultCodec[Any, Any, Any]) -> None:
        """Start with no seats."""
        self.context = context
        self.codec = codec
        self.seats: dict[tuple[str, Player], Strategy[Any, Any]] = {}

    def answer(self, message: Request | LineMessage) -> Reply | None:
        """Reply to a question; an invalid one gets None on a line, or status 400 as a request."""
        body = message.text if isinstance(message, LineMessage) else message.body or b""
        try:
            return self.act(documents.decode(body, Question))
        except (ProtocolError, msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            if isinstance(message, LineMessage):
                return None
            return as_json({"error": str(error)}, 400)

    def act(self, question: Question) -> Reply:
        """Return the strategy's action, or a reply without an action if it returns a fault."""
        action = self.seat(question).act(self.codec.view_from_json(question.view))
        members = {} if isinstance(action, Fault) else {"action": self.codec.action_to_json(action)}
        return as_json({"turn": question.turn, **members})

    def seat(self, question: Question) -> Strategy[Any, Any]:
        """Return the strategy of a player in a match."""
        key = (question.match, question.player)
        if key not in self.seats:
            while len(self.seats) >= MOST_SEATS:
                del self.seats[next(iter(self.seats))]
            self.seats[key] = self.context.make(question.player)
        return self.seats[key]


STEPS: Final = ("answers its first turn", "answers its second turn", "answers its third turn")
FLUSH: Final = "flush standard output after each line, and print everything else to stderr"
FORM: Final = (
    'answer each line with one line {"turn": N, "action": ACTION}, with the N of the question,'
    " or POST /act with status 200 and that object; docs/default-protocol.md has an example"
)


class DefaultChecks:
    """Asks a few questions one by one, then plays a whole match against each built-in strategy."""

    def __init__(self, game: Game, strategies: Sequence[str], moves: Moves | None = None) -> None:
        """Prepare the checks; `strategies` lists the weakest first."""
        self.rules = game.rules
        self.moves = moves
        others = max(1, game.rules.seats.start - 1)
        self.trials: Sequence[Trial] = tuple(
            Trial(f"plays a whole match against {name}", {}, (name,) * others)
            for name in strategies
        )

    def steps(self, transport: Transport) -> int:
        """Return 3, for matches in which the bot has that many turns."""
        return len(STEPS)

    async def probe(self, referee: Referee, player: Player, report: CheckReport) -> None:
        """Ask the bot for a few actions in a match whose other players move at random."""
        number = max(2, self.rules.seats.start)
        referee.begin(self.rules.new(number, 0))
        questions, rng = Questions(referee, self.moves), Random(0)
        for name in STEPS:
            if not self.reach(questions, player, rng):
                return
            answer = (await questions.ask((player,)))[player]
            problem = self.problem(referee, player, answer)
            if not report.step(name, problem, fix_for(problem)):
                return
            questions.apply(self.by_chance(referee, player, rng) | {player: answer})

    def reach(self, questions: Questions, player: Player, rng: Random) -> bool:
        """Play on until the player is to move; return False if the match ends first."""
        referee = questions.referee
        while self.rules.outcome(referee.state) is None:
            if player in self.rules.to_move(referee.state):
                return True
            questions.apply(self.by_chance(referee, player, rng))
        return False

    def by_chance(self, referee: Referee, player: Player, rng: Random) -> dict[Player, object]:
        """Return a random action for every other player who is to move."""
        others = [other for other in self.rules.to_move(referee.state) if other != player]
        return {other: self.rules.sample(referee.state, other, rng) for other in others}

    def problem(self, referee: Referee, player: Player, answer: object) -> Fault | None:
        """Return what is wrong with a reply, including an illegal action, or None."""
        if isinstance(answer, Fault):
            return answer
        try:
            self.rules.check(referee.state, player, answer)
        except IllegalAction as error:
            return Fault(error.kind, str(error))
        return None


def fix_for(problem: Fault | None) -> str:
    """Return how to fix a fault, or "" if there is none."""
    if problem is None:
        return ""
    if problem.kind == "timeout" and "answered turn" in problem.detail:
        return "copy turn from the question into its answer"
    if problem.kind == "timeout":
        return f"answer within the time limit, 1 s by default, and {FLUSH}"
    if problem.kind == "illegal":
        return "check the action against the rules before you send it; `cw step` tries a rule"
    if problem.kind in ("startup", "crashed", "disconnected"):
        return "run it by hand with the same input, and read what it prints"
    return f"{FORM}; {FLUSH}"


Board: TypeAlias = Callable[[Json], RichText]
"""Renders a frame in the terminal."""

COLUMNS: Final = 80
ROWS: Final = 24
"""The maximum number of lines of text in a picture; the rest is omitted."""

MOST_COLUMNS: Final = 200
MOST_ROWS: Final = 100
"""The maximum number of lines of a terminal board in a picture."""

WIDTH: Final = 0.6
"""The width of a character, relative to a line height of 1."""

WRAPPER: Final = TextWrapper(COLUMNS, max_lines=ROWS, placeholder=" ...", break_on_hyphens=False)


def text_picture(game: str) -> Picture[Any]:
    """Return a picture that shows a game's frames as lines of JSON."""
    return Picture(
        title=game.replace("-", " ").title(),
        frame=object,
        extent=lambda _: (COLUMNS / 2, ROWS),
        draw=draw,
        scores=lambda _: (),
        counted=("", ""),
    )


def draw(scene: Scene[Json]) -> Iterator[Shape]:
    """Render the frame as text."""
    for row, line in enumerate(WRAPPER.wrap(json.dumps(scene.frame))):
        yield Text(0, row + 0.5, line, 0.7, scene.inks.ink, "start")


def draw_in_terminal(frame: Json) -> RichText:
    """Return a frame as JSON text."""
    return RichText(json.dumps(frame))


def terminal_picture(game: str, draw_board: Board) -> Picture[Any]:
    """Return the picture of a game that has only a terminal board, on a dark background.

    It is as large as the first frame that it shows.
    """
    board = TerminalBoard(draw_board)
    return Picture(
        title=game.replace("-", " ").title(),
        frame=object,
        extent=board.extent,
        draw=board.draw,
        scores=lambda _: (),
        counted=("", ""),
        dark=True,
    )


class TerminalBoard:
    """Renders a terminal board as shapes; each character has its own position, in any font."""

    def __init__(self, draw_board: Board) -> None:
        """Initialize the board with an unknown size."""
        self.draw_board = draw_board
        self.size: tuple[float, float] | None = None

    def extent(self, frame: Json) -> tuple[float, float]:
        """Return the width and the height of all frames."""
        if self.size is None:
            lines = lines_of(self.draw_board, frame)
            self.size = (WIDTH * max(1, *map(len, lines)), max(1, len(lines)))
        return self.size

    def draw(self, scene: Scene[Json]) -> Iterator[Shape]:
        """Render the characters in their terminal colours."""
        console = Console()
        for row, line in enumerate(lines_of(self.draw_board, scene.frame)):
            column = 0
            for part in line.render(console):
                style = part.style or Style()
                for sign in part.text:
                    yield from shapes_of(sign, style, (WIDTH * column, row), scene.inks.ink)
                    column += 1


def shapes_of(sign: str, style: Style, place: Point, ink: str) -> Iterator[Shape]:
    """Yield the shapes of a character and its background; `place` is its upper left corner."""
    left, top = place
    ground = colour_of(style.bgcolor)
    if ground is not None:
        yield Rectangle(left, top, WIDTH, 1, ground)
    if sign.isprintable() and not sign.isspace():
        yield Text(left + WIDTH / 2, top + 0.5, sign, 0.9, colour_of(style.color) or ink)


def colour_of(colour: Color | None) -> str | None:
    """Return a terminal colour as hex code, or None for the default colour."""
    return None if colour is None or colour.is_default else colour.get_truecolor().hex


def lines_of(draw_board: Board, frame: Json) -> list[RichText]:
    """Return the lines of a terminal board, truncated if they are too many or too long.

    Raises ProtocolError for a frame that cannot be rendered.
    """
    try:
        lines = list(draw_board(frame).split("\n"))[:MOST_ROWS]
    # The frame comes from a file, but the code that renders it trusts its contents.
    except Exception as error:
        raise ProtocolError(f"the frame cannot be drawn: {type(error).__name__}") from None
    return [line[:MOST_COLUMNS] for line in lines]
