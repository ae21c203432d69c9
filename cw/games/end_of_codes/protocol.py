"""The End of Codes wire protocol (rule book, "On the wire"): the grader's requests to the bots."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final
from urllib.parse import quote_plus

from cw.errors import FaultKind, ProtocolError, short
from cw.games.codec import is_fault
from cw.games.end_of_codes.codec import creatures
from cw.games.end_of_codes.rules.replies import cited, wrong_whole
from cw.games.end_of_codes.rules.resolution import expelled
from cw.games.end_of_codes.state import PlayerState, State
from cw.games.rules import Fault, Json, Player
from cw.games.wire import (
    Query,
    QueryLimits,
    Referee,
    Reply,
    Request,
    Transport,
    compact,
    read_json,
    status_fault,
)

IDENTITY: Final = ("botname", "version", "username")
HELLO: Final = f"three texts, {', '.join(IDENTITY)}"
QUOTED: Final = 200

TEXTS: Final = (
    "Your bot hostname is invalid. Did you enter a valid hostname?",
    "Your bot is unreachable on the network. Did you enter your public IP address?",
    "Your bot is refusing connections. Did you port forward correctly?",
    "Your bot is running, but not responding to initiation."
    " Did you write code to handle initiation?",
    "Your bot is not sending valid JSON. Did you write code to generate JSON correctly?",
    "You must set the bot name, version, and your username."
    " Did you build the correct JSON dictionary?",
    "Your bot is not using your username. Did you set your username correctly?",
)
"""The seven sanity checks of the seed, as the messages for their failures."""

PASSED: Final = (
    "The bot hostname resolves.",
    "The bot IP is accessible in the network.",
    "The bot is accepting connections to its designated port.",
    "The bot is responding to initiation requests with a 200 HTTP OK.",
    "The bot is responding with a valid JSON body.",
    "The bot is reporting a botname, version, and username.",
    "The username reported by the bot is associated with the user who is using the bot URL.",
)
"""The same checks, as the messages for passing them."""

FAILED_BY: Final = (
    ("malformed_url", "could_not_resolve"),
    ("unreachable",),
    ("could_not_connect",),
    ("tls_error", "timeout", "broken_reply", "http_code_not_ok"),
    ("oversize", "invalid_json"),
    (
        "error_key",
        "botname_not_set",
        "version_not_set",
        "username_not_set",
        "wrong_type",
        "additional_data",
    ),
    ("username_mismatch",),
)
"""The names of errors, without `initiate_`, grouped by the sanity check that they fail."""

FAILURES: Final = {
    "unresolved": "could_not_resolve",
    "unreachable": "unreachable",
    "forbidden": "unreachable",
    "refused": "could_not_connect",
    "tls": "tls_error",
    "timeout": "timeout",
    "oversize": "oversize",
    "startup": "could_not_connect",
    "unreadable": "invalid_json",
    "exception": "exception",
}
"""Causes of failures in transports, and fault kinds -> their error names in this protocol."""

DISCONNECTED: Final = (
    "could_not_resolve",
    "unreachable",
    "could_not_connect",
    "tls_error",
    "broken_reply",
)
"""Failures of the kind `disconnected`, however the transport names them."""

Read = Callable[[Json], Json | Fault]


def name_failure(request: str, fault: Fault) -> Fault:
    """Give a failure of the exchange its error name in this protocol."""
    name = FAILURES.get(fault.cause or fault.kind, "broken_reply")
    kind: FaultKind = "disconnected" if name in DISCONNECTED else fault.kind
    named = f"{request}_{name}"
    return Fault(kind, named, fault.cause, fault.sentence, fault.lasting)


def read_reply(request: str, reader: Read, reply: Reply) -> Json | Fault:
    """Run the checks of all replies, then those of its request; return the first failure."""
    if reply.status != 200:
        kind: FaultKind = "crashed" if reply.status >= 500 else "malformed"
        wrong = status_fault(reply)
        name, actual = f"{request}_http_code_not_ok", str(reply.status)
        return Fault(kind, name, wrong.cause, wrong.sentence, expected="200", actual=actual)
    try:
        document = strict_json(reply.body)
    except ProtocolError as error:
        name, note = f"{request}_invalid_json", f"{error}, in {quoted(reply)}"
        actual = reply.body[:QUOTED].decode(errors="replace")
        return Fault("malformed", name, note=note, expected="JSON", actual=actual)
    if isinstance(document, dict) and list(document) == ["error"]:
        note = f"the bot says {short(document['error'])}"
        actual = cited(document["error"])
        return Fault("crashed", f"{request}_error_key", note=note, actual=actual)
    value = reader(document)
    if isinstance(value, Fault):
        return replace(value, detail=f"{request}_{value.detail}")
    return value


def distinct(members: list[tuple[str, Json]]) -> dict[str, Json]:
    """Return an object; raise ProtocolError for a duplicate key."""
    document = dict(members)
    if len(document) < len(members):
        raise ProtocolError("a key comes twice")
    return document


STRICT: Final = json.JSONDecoder(object_pairs_hook=distinct)


def strict_json(body: bytes) -> Json:
    """Parse JSON; raise ProtocolError for invalid JSON, null, and duplicate keys."""
    if read_json(body) is None:
        raise ProtocolError("null is not an answer")
    return STRICT.decode(body.decode())


def read_bot(username: str, value: Json) -> Json | Fault:
    """Check the reply to GET /bot."""
    entry = value if isinstance(value, dict) else {}
    for name in IDENTITY:
        if entry.get(name) is None:
            return malformed(f"{name}_not_set", HELLO, short(value), cited(value))
    if not all(isinstance(entry[name], str) for name in IDENTITY):
        return malformed("wrong_type", HELLO, short(value), cited(value))
    if len(entry) > len(IDENTITY):
        return malformed("additional_data", HELLO, ", ".join(entry)[:QUOTED], additional(entry))
    if entry["username"] != username:
        came = entry["username"]
        return malformed("username_mismatch", repr(username), short(came), came[:QUOTED])
    return entry


def additional(entry: Mapping[str, Json]) -> str:
    """Return the keys that are not allowed in a reply to GET /bot."""
    return ", ".join(key for key in entry if key not in IDENTITY)[:QUOTED]


def read_created(value: Json) -> Json | Fault:
    """Check the reply to POST /game."""
    if value in ([], {}):
        return value
    return malformed("additional_data", "[]", short(value), cited(value))


def read_round(value: Json) -> Json | Fault:
    """Return the reply to POST /round unchanged, or a fault if it has a key `fault`.

    Among the recorded actions of a round, such an object is a fault that the grader saw.
    """
    wrong = wrong_whole(value) if is_fault(value) else None
    return value if wrong is None else replace(wrong, detail=wrong.detail.removeprefix("round_"))


def malformed(name: str, expected: str, got: str, actual: str) -> Fault:
    """Return a fault by its error name, without the request; `got` is for its note."""
    note = f"expected {expected}, got {got}"
    return Fault("malformed", name, note=note, expected=expected, actual=actual)


def quoted(reply: Reply) -> str:
    """Return the beginning of a reply, quoted for a message."""
    return repr(reply.body[:QUOTED].decode(errors="replace"))


def sanity(error: str | None) -> list[bool | None]:
    """Return the results of the seven sanity checks; those after a failed one are None."""
    if error is None:
        return [True] * len(TEXTS)
    name = error.removeprefix("initiate_")
    failed = next(number for number, names in enumerate(FAILED_BY) if name in names)
    return [True] * failed + [False] + [None] * (len(TEXTS) - failed - 1)


USER_AGENT: Final = "EndOfCodes/0.1.0 (grader) <grader@endofcodes.com>"
HEADERS: Final = {"User-Agent": USER_AGENT, "Accept": "application/json"}
BOUNDARY: Final = "end-of-codes-0f2c7d31"
FORM_HEADERS: Final = {**HEADERS, "Content-Type": "application/x-www-form-urlencoded"}
MULTIPART_HEADERS: Final = {
    **HEADERS,
    "Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
}
MAP_SIGNS: Final = {sign: quote_plus(sign) for sign in '[]{}":,'}
"""The characters of a map other than letters and digits, with their encoding in forms."""

NOTHING: Final[Mapping[str, str]] = {}
TIMEOUT: Final = 5.0
CONNECT_TIMEOUT: Final = 3.0
"""The default seconds for a request, and for connecting."""
MOST_REPLY: Final = 64 * 1024
MOST_INTENTS: Final = 256 * 1024


class EndOfCodesProtocol:
    """GET /bot, POST /game, then POST /round until the end and once more, concurrently."""

    transports: Sequence[Transport] = ("http",)
    signed_with: str | None = None
    options: Sequence[str] = ()

    def players(self, names: Sequence[str]) -> Sequence[Player]:
        """Return the userids, numbered from 1."""
        return range(1, len(names) + 1)

    async def conduct(self, referee: Referee) -> None:
        """Run a game."""
        grader = Grader(referee)
        players = await grader.initiate()
        state = await grader.create(players)
        referee.begin(state)
        while referee.rules.to_move(state):
            state = referee.step(await referee.ask(grader.round_queries(state)))
        # Show all players the final position; their replies have no effect.
        queries = grader.round_queries(state)
        await referee.ask(
            {player: replace(query, noted=False) for player, query in queries.items()}
        )


class Grader:
    """The requests of one game."""

    def __init__(self, referee: Referee) -> None:
        """Read the limits from the options of the game."""
        self.referee = referee
        options = referee.options
        self.number = options.get("gameid", 1)
        limits = partial(
            QueryLimits,
            float(options.get("timeout", TIMEOUT)),
            connect_seconds=float(options.get("connect_timeout", CONNECT_TIMEOUT)),
        )
        self.limits, self.action_limits = (
            limits(most_body=MOST_REPLY),
            limits(most_body=MOST_INTENTS),
        )

    async def initiate(self) -> list[PlayerState]:
        """Ask all bots for their identity; return the players whose bots pass."""
        users = {player: self.referee.username(player) for player in self.referee.names}
        queries = {player: self.initiation(player, name) for player, name in users.items()}
        answers = await self.referee.ask(queries)
        players = []
        for player, name in users.items():
            answer = answers[player]
            if isinstance(answer, Fault):
                fault = replace(answer, kind="startup")
                self.referee.note(player, fault)
                self.referee.disqualify(player, fault)
            else:
                players.append(PlayerState(int(player), name, None, None))
        return players

    def initiation(self, player: Player, username: str) -> Query:
        """Return the query that asks a bot for its identity."""
        path = f"/bot?api_key={self.key(player)}"
        return self.question(
            "initiate", Request("GET", path, None, HEADERS), partial(read_bot, username)
        )

    async def create(self, players: Sequence[PlayerState]) -> State:
        """Announce the game to all bots; those that fail start without a living creature."""
        named = [{"userid": player.userid, "username": player.username} for player in players]
        state: State = self.referee.rules.new(named, self.referee.seed, **self.referee.options)
        listing = compact([{"username": p["username"], "userid": p["userid"]} for p in named])
        fields = {
            "gameid": self.number,
            "players": listing,
            "W": state.width,
            "H": state.height,
            "M": len(state.ids) // max(len(players), 1),
            "MAX_HP": state.most_hp,
        }
        answers = await self.referee.ask(
            {p.userid: self.post("game", p.userid, fields, read_created) for p in players}
        )
        faults = {int(p): answer for p, answer in answers.items() if isinstance(answer, Fault)}
        return expelled(state, faults)

    def round_queries(self, state: State) -> dict[Player, Query]:
        """Return the queries that send a round to all connected players."""
        fields = {
            "round": state.round,
            "map": compact(creatures(state)),
            "gameid": self.number,
            "myid": None,
            "W": state.width,
            "H": state.height,
        }
        encoded = encoded_once(fields)
        return {
            player.userid: self.post(
                "round", player.userid, {**fields, "myid": player.userid}, read_round, encoded
            )
            for player in state.players
            if player.fault is None
        }

    def post(
        self,
        request: str,
        player: Player,
        fields: Mapping[str, Any],
        reader: Read,
        encoded: Mapping[str, str] = NOTHING,
    ) -> Query:
        """Return the query that posts a form; `encoded` holds the fields that all bots share."""
        order = {"method": "create", "api_key": self.key(player), **fields}
        if self.referee.setting(player, "form") == "multipart":
            call = Request("POST", f"/{request}", multipart(order), MULTIPART_HEADERS)
        else:
            call = Request("POST", f"/{request}", urlencoded(order, encoded), FORM_HEADERS)
        return self.question(request, call, reader, action=request == "round")

    def question(self, request: str, call: Request, reader: Read, *, action: bool = False) -> Query:
        """Return a query whose failures get the error names of this protocol."""
        return Query(
            call,
            partial(read_reply, request, reader),
            self.action_limits if action else self.limits,
            action=action,
            explain=partial(name_failure, request),
            noted=request != "initiate",
        )

    def key(self, player: Player) -> str:
        """Return the API key that a bot may check."""
        return self.referee.setting(player, "api_key") or "0" * 32


def encoded_once(fields: Mapping[str, Any]) -> dict[str, str]:
    """Encode the fields of a round that are the same for all bots."""
    return {
        name: encoded_map(value) if name == "map" else encoded_text(value)
        for name, value in fields.items()
        if value is not None
    }


def encoded_map(world: bytes) -> str:
    """Encode a map like `quote_plus`, but many times faster: it has few kinds of characters."""
    text = world.decode()
    for sign, code in MAP_SIGNS.items():
        text = text.replace(sign, code)
    return text


def encoded_text(value: Any) -> str:
    """Encode any field for a form."""
    text = plain(value)
    # Keys and numbers stay as they are; calling `quote_plus` took a quarter of a query's time.
    return text if text.isascii() and text.isalnum() else quote_plus(text)


def urlencoded(fields: Mapping[str, Any], encoded: Mapping[str, str]) -> bytes:
    """Encode a form; fields that are already encoded are used unchanged."""
    parts = [
        f"{name}={encoded[name] if name in encoded else encoded_text(value)}"
        for name, value in fields.items()
    ]
    return "&".join(parts).encode()


def multipart(fields: Mapping[str, Any]) -> bytes:
    """Encode a form as multipart/form-data; no value holds the boundary: all are JSON or plain."""
    parts = [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{plain(value)}\r\n'
        for name, value in fields.items()
    ]
    return ("".join(parts) + f"--{BOUNDARY}--\r\n").encode()


def plain(value: Any) -> str:
    """Return a field as text."""
    return value.decode() if isinstance(value, bytes) else str(value)
