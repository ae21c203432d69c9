"""What the owner of a hub may choose: each setting is a variable of the environment, CW_..."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any, Final, NamedTuple, cast
from urllib.parse import urlsplit

from cw.errors import UsageError, short
from cw.hub.store.sealing import read_keys
from cw.server.settings import LOCAL_NAMES

OF_OTHERS: Final = re.compile(
    r"CW_(PAUSE|SERVER|CHROMIUM|CASES|KILLS|MATCHES|BETWEEN|ALL_SCREENS|REQUIRE_[A-Z]+)"
)
"""Variables of the same kind that the arena and its tests read."""

SECRETS: Final = frozenset(
    {
        "CW_MASTER_KEYS",
        "CW_SECRET_KEY",
        "CW_MAIL",
        "CW_DATABASE_URL",
        "CW_DATABASE_READ_URL",
        "CW_BROKER_URL",
        "CW_GITHUB_SECRET",
    }
)
"""Settings that may hold a password: they are not shown."""

Read = Callable[[str], Any]
"""Reads the text of a setting; raises ValueError, which says what was expected."""


def address(*schemes: str, path: bool = True) -> Read:
    """Read an address of one of these schemes."""

    def read(text: str) -> str:
        try:
            parts = urlsplit(text)
            fits = parts.scheme in schemes and (parts.port is None or parts.port > 0)
        except ValueError:
            fits = False
        if not fits or (not path and parts.path not in ("", "/")):
            raise ValueError(" or ".join(f"{scheme}://..." for scheme in schemes))
        return text

    return read


def site_address(text: str) -> str:
    """Read the address of this or another site, without a final slash."""
    address("http", "https")(text)
    parts = urlsplit(text)
    if not parts.hostname or parts.query or parts.fragment or parts.username is not None:
        raise ValueError("http:// or https://, a host, and perhaps a port and a path")
    return text.rstrip("/")


def link(text: str) -> str:
    """Read a path of this site, or the address of another."""
    return text if re.fullmatch(r"/([^/\\\s][^\\\s]*)?", text) else site_address(text)


def path_of_site(text: str) -> str:
    """Read a path of this site."""
    if not re.fullmatch(r"/([a-z0-9][a-z0-9/_-]*)?", text):
        raise ValueError("a path of this site, such as /ranking")
    return text


def switch(text: str) -> bool:
    """Read 0 or 1."""
    if text not in ("0", "1"):
        raise ValueError("0 or 1")
    return text == "1"


def seconds(least: float, most: float) -> Read:
    """Read a number of seconds."""

    def read(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = -1.0
        if not least <= number <= most:
            raise ValueError(f"seconds, {least:g} to {most:g}")
        return number

    return read


def days(text: str) -> int:
    """Read a number of days."""
    if not re.fullmatch(r"[1-9][0-9]{0,4}", text):
        raise ValueError("days, 1 to 99999")
    return int(text)


UNITS: Final = {"": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
"""What a number of bytes may be followed by."""


def size(text: str) -> int:
    """Read a number of bytes."""
    found = re.fullmatch(r"([1-9][0-9]{0,14})([KMGT]iB)?", text)
    if found is None:
        raise ValueError("a number of bytes, such as 500MiB or 10GiB")
    return int(found[1]) * UNITS[found[2] or ""]


def networks(text: str) -> tuple[str, ...]:
    """Read `any`, or `public` with networks such as 10.20.0.0/16 after it."""
    first, *more = text.split(",")
    if first not in ("any", "public") or (first == "any" and more):
        raise ValueError("any, public, or public,10.20.0.0/16")
    try:
        return (first, *(str(ip_network(network)) for network in more))
    except ValueError:
        raise ValueError("any, public, or public,10.20.0.0/16") from None


def proxies(text: str) -> tuple[str, ...]:
    """Read addresses and networks, with commas between them."""
    try:
        return tuple(str(ip_network(part)) for part in text.split(",") if part)
    except ValueError:
        raise ValueError("addresses or networks, with commas between them") from None


def store_address(text: str) -> str:
    """Read where objects are kept."""
    if not re.fullmatch(r"s3://[a-z0-9][a-z0-9.-]{1,62}(/[\w./-]*)?", text):
        raise ValueError("s3://bucket/prefix, with AWS_... in the environment")
    return text.rstrip("/")


def store_or_folder(text: str) -> str:
    """Read where objects are copied."""
    return store_address(text) if "://" in text else str(Path(text))


def mail_server(text: str) -> str:
    """Read the address of a mail server; only one on this machine may be spoken to in clear."""
    address("smtp", "smtps")(text)
    parts = urlsplit(text)
    if not parts.hostname or parts.path not in ("", "/") or parts.query not in ("", "tls=off"):
        raise ValueError("smtp://user:password@host:587 or smtps://..., perhaps with ?tls=off")
    if parts.query and not is_loopback(parts.hostname):
        raise ValueError("?tls=off only with a server on this machine")
    return text


def keys(text: str) -> str:
    """Read master keys; they stay text, so that nothing prints them as bytes."""
    read_keys(text)
    return text


def long_secret(text: str) -> str:
    """Read what nobody may guess."""
    if len(text) < 32:
        raise ValueError("at least 32 random characters")
    return text


def e_mail(text: str) -> str:
    """Read an e-mail address, roughly."""
    if not re.fullmatch(r"[^@\s]+@[^@\s]+", text):
        raise ValueError("an e-mail address")
    return text


def one_of(*words: str) -> Read:
    """Read one of some words."""

    def read(text: str) -> str:
        if text not in words:
            raise ValueError(" or ".join(words))
        return text

    return read


def setting(default: str, words: str, read: Read = str, empty: str = "") -> Any:
    """Declare a setting; `empty` says what the default "" stands for."""
    metadata = {"default": default, "words": words, "read": read, "empty": empty}
    value = read(default) if default else default
    return field(default=value, metadata=metadata)


@dataclass(frozen=True, slots=True, kw_only=True)
class HubSettings:
    """The settings of a hub; those without a sentence are given by its commands."""

    host: str = "127.0.0.1"
    port: int = 8000

    data: Path = setting(  # noqa: RUF009 - a path is never changed
        "hub-data", "The folder of all that is not kept elsewhere.", Path
    )
    database_url: str = setting(
        "",
        "The database: postgresql://user:password@host/name, or sqlite:///FILE.",
        address("postgresql", "sqlite"),
        "SQLite in the data folder",
    )
    database_read_url: str = setting(
        "",
        "A replica of it for pages that nobody owns, as visitors read them: postgresql://.",
        address("postgresql"),
        "none",
    )
    broker_url: str = setting(
        "memory://",
        "The queue: memory:// within this process, or redis://host:6379/0.",
        address("memory", "redis", "rediss"),
    )
    store_url: str = setting(
        "",
        "Where replays and pictures are kept: s3://bucket/prefix, with AWS_... beside it.",
        store_address,
        "a folder in the data folder",
    )
    master_keys: str = setting(
        "",
        "The keys that seal secrets, id:base64 of 32 bytes each; the first seals, all open.",
        keys,
        "a file in the data folder",
    )
    secret_key: str = setting(
        "",
        "What cookies and links are signed with.",
        long_secret,
        "a file in the data folder",
    )
    public_url: str = setting(
        "",
        "The address under which people reach the site; all links are made from it.",
        site_address,
        "the address it listens on",
    )
    trusted_proxy: tuple[str, ...] = setting(
        "", "The proxies, with commas, whose forwarded headers count.", proxies, "none"
    )
    allow_http: bool = setting(
        "0", "1: account pages are there without https too, beyond this machine.", switch
    )
    home: str = setting("/", "The path of the page that visitors of / are shown.", path_of_site)
    blog_url: str = setting("/blog", "Where the link Blog leads.", link)
    contribute_url: str = setting("/contribute", "Where the link Contribute leads.", link)
    mail: str = setting(
        "",
        "The mail server: smtp://user:password@host:587 (STARTTLS), or smtps://.",
        mail_server,
        "mails are written to the data folder",
    )
    mail_from: str = setting("team@endofcodes.com", "The address that mails are sent from.", e_mail)
    github_id: str = setting(
        "", "The client id of this site at GitHub, for people who log in by it.", str, "no button"
    )
    github_secret: str = setting("", "The secret that goes with it.", str, "no button")
    github_url: str = setting(
        "https://github.com", "Where people log in; another server of that kind.", site_address
    )
    github_api: str = setting(
        "https://api.github.com", "Where that server is asked who they are.", site_address
    )
    bot_network: tuple[str, ...] = setting(
        "",
        "Where bots may be: any, public, or public,10.20.0.0/16.",
        networks,
        "any on a local site, else public",
    )
    bot_http: bool = setting(
        "0", "1: bots may be at http:// addresses too, as they may on a local site.", switch
    )
    tick: float = setting("10", "Seconds between two looks at what is due.", seconds(0.1, 3600))
    lease: float = setting(
        "600",
        "Seconds without progress after which a match is taken from its worker.",
        seconds(1, 86400),
    )
    health_every: float = setting(
        "900", "Seconds between two health checks of a bot.", seconds(1, 86400)
    )
    replay_days: int = setting(
        "90", "Days after which replays of rated and practice matches are deleted.", days
    )
    replay_quota: int = setting(
        "10GiB", "How much replays should take; above it nothing goes, but an alert fires.", size
    )
    metrics_network: tuple[str, ...] = setting(
        "", "The networks that may read /metrics, with commas.", proxies, "this machine"
    )
    backup_objects: str = setting(
        "",
        "Where the daily back-up copies replays, maps, uploads and pictures: s3://, or a folder.",
        store_or_folder,
        "nowhere",
    )
    log: str = setting(
        "auto",
        "How the log is written: text, json, or auto (text on a terminal).",
        one_of("auto", "text", "json"),
    )

    def __post_init__(self) -> None:
        """Raise UsageError for settings that do not go together."""
        for name in ("master_keys", "secret_key"):
            if not self.is_sqlite and not getattr(self, name):
                raise UsageError(f"CW_{name.upper()} must be set, as the database is not SQLite")
        if self.database_read_url and self.is_sqlite:
            raise UsageError("CW_DATABASE_READ_URL goes with a CW_DATABASE_URL of PostgreSQL")
        if bool(self.github_id) != bool(self.github_secret):
            raise UsageError("CW_GITHUB_ID and CW_GITHUB_SECRET go together: set both or neither")

    @property
    def database(self) -> str:
        """The address of the database."""
        return self.database_url or f"sqlite:///{self.data / 'hub.sqlite'}"

    @property
    def store(self) -> str:
        """The address, or the folder, of the object store."""
        return self.store_url or str(self.data / "objects")

    @property
    def is_sqlite(self) -> bool:
        """Whether the database is a file."""
        return self.database.startswith("sqlite:")

    @property
    def is_embedded(self) -> bool:
        """Whether the queue lives in one process."""
        return self.broker_url.startswith("memory:")

    @property
    def is_local(self) -> bool:
        """Whether only this machine reaches the site: less is asked of people and bots there."""
        return not self.public_url and is_loopback(self.host)

    @property
    def address(self) -> str:
        """The address that all links begin with, without a final slash."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.public_url or f"http://{host}:{self.port}"

    @property
    def bots_need_https(self) -> bool:
        """Whether the addresses of bots must begin with https."""
        return not (self.bot_http or self.is_local)

    @property
    def bots_may_be(self) -> tuple[str, ...]:
        """`any`, or `public` and the networks that are allowed beside."""
        return self.bot_network or (("any",) if self.is_local else ("public",))


class Shown(NamedTuple):
    """A setting as it is shown to people."""

    name: str
    value: str
    default: str
    words: str


def read_settings(
    environment: Mapping[str, str], given: Sequence[str] = (), **others: Any
) -> HubSettings:
    """Read the settings of an environment, and texts `CW_NAME=VALUE` that go before it.

    Raises UsageError for an unknown name and for a value that is none.
    """
    texts = {name: text for name, text in environment.items() if name.startswith("CW_")}
    texts = {name: text for name, text in texts.items() if not OF_OTHERS.fullmatch(name)}
    for pair in given:
        name, equals, text = pair.partition("=")
        if not equals:
            raise UsageError(f"--set takes CW_NAME=VALUE, not {short(pair)}")
        texts[name] = text
    known = {variable(one): one for one in declared()}
    for name in texts:
        if name not in known:
            raise UsageError(f"there is no setting {name}; cw hub settings shows those there are")
    values = {known[name].name: read(name, known[name], text) for name, text in texts.items()}
    return HubSettings(**values, **others)


def read(name: str, of: Field[Any], text: str) -> Any:
    """Read the value of a setting; an empty text is its default."""
    if not text:
        return of.default
    try:
        return cast(Read, of.metadata["read"])(text)
    except ValueError as error:
        said = "" if name in SECRETS else f", not {short(text)}"
        raise UsageError(f"{name} must be {error}{said}") from None


def declared() -> Iterator[Field[Any]]:
    """Give the fields that are settings."""
    return (one for one in fields(HubSettings) if one.metadata)


def variable(of: Field[Any]) -> str:
    """Return the name of a setting."""
    return f"CW_{of.name.upper()}"


def shown(settings: HubSettings) -> list[Shown]:
    """Return all settings for people; those that may hold a password as `(set)`."""
    return [show(one, getattr(settings, one.name)) for one in declared()]


def show(of: Field[Any], value: Any) -> Shown:
    """Return one setting for people."""
    name = variable(of)
    default = of.metadata["default"] or f"({of.metadata['empty']})"
    if value == of.default:
        return Shown(name, default, default, of.metadata["words"])
    return Shown(
        name, "(set)" if name in SECRETS else as_text(value), default, of.metadata["words"]
    )


def as_text(value: Any) -> str:
    """Return the text that is read as a value."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, tuple):
        return ",".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine alone."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host in LOCAL_NAMES
