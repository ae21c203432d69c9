"""Reads bots' answers, and names errors as the document does."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from cw.errors import FaultKind, ProtocolError, short
from cw.games.codec import is_fault
from cw.games.end_of_codes.rules.replies import cited, wrong_whole
from cw.games.rules import Fault, Json
from cw.games.status_faults import status_fault
from cw.games.wire import Reply, read_json

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
"""The same checks, as the statements that hold once they are passed."""

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
"""Names of errors, without `initiate_`, by the sanity check that they fail."""

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
"""Causes of failures as transports name them, and kinds -> their names in the document."""

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
    """Rename a failure of the exchange as the document does."""
    name = FAILURES.get(fault.cause or fault.kind, "broken_reply")
    kind: FaultKind = "disconnected" if name in DISCONNECTED else fault.kind
    named = f"{request}_{name}"
    return Fault(kind, named, fault.cause, fault.sentence, fault.lasting)


def read_reply(request: str, reader: Read, reply: Reply) -> Json | Fault:
    """Check a reply as every reply is checked, then for its request; return the first failure."""
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
    """Read JSON; raise ProtocolError for invalid JSON, null, and duplicate keys."""
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
    """Return the reply to POST /round as it is, unless it has a key `fault`, which is wrong.

    Among the actions of a round such an object records what the grader saw.
    """
    wrong = wrong_whole(value) if is_fault(value) else None
    return value if wrong is None else replace(wrong, detail=wrong.detail.removeprefix("round_"))


def malformed(name: str, expected: str, got: str, actual: str) -> Fault:
    """Return a fault by its name in the document, without the request; `got` is for its note."""
    note = f"expected {expected}, got {got}"
    return Fault("malformed", name, note=note, expected=expected, actual=actual)


def quoted(reply: Reply) -> str:
    """Return the beginning of a reply for a message."""
    return repr(reply.body[:QUOTED].decode(errors="replace"))


def sanity(error: str | None) -> list[bool | None]:
    """Return the results of the seven sanity checks; those after a failed one are None."""
    if error is None:
        return [True] * len(TEXTS)
    name = error.removeprefix("initiate_")
    failed = next(number for number, names in enumerate(FAILED_BY) if name in names)
    return [True] * failed + [False] + [None] * (len(TEXTS) - failed - 1)
