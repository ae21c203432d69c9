"""The settings of a hub, read from CW_... environment variables, and their validation."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any, Final, NamedTuple, cast
from urllib.parse import urlsplit

from cw.errors import UsageError, short
from cw.server.names import LOCAL_NAMES, read_name
from cw_hub.players.process import hide_process
from cw_hub.store.sealing import read_keys

Read = Callable[[str], Any]
"""A function that parses a setting's text, or raises ValueError with the expected format."""


def address(*schemes: str, path: bool = True) -> Read:
    """Return a parser for URLs with one of these schemes."""

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
    """Parse the URL of this or another site, without a trailing slash."""
    address("http", "https")(text)
    parts = urlsplit(text)
    if not parts.hostname or parts.query or parts.fragment or parts.username is not None:
        raise ValueError("http:// or https:// with a host, and optionally a port and a path")
    return text.rstrip("/")


def link(text: str) -> str:
    """Parse a path on this site, or the URL of another site."""
    return text if re.fullmatch(r"/([^/\\\s][^\\\s]*)?", text) else site_address(text)


def path_of_site(text: str) -> str:
    """Parse a path on this site."""
    if not re.fullmatch(r"/([a-z0-9][a-z0-9/_-]*)?", text):
        raise ValueError("a path of this site, such as /ranking")
    return text


def switch(text: str) -> bool:
    """Parse 0 or 1."""
    if text not in ("0", "1"):
        raise ValueError("0 or 1")
    return text == "1"


def seconds(least: float, most: float) -> Read:
    """Return a parser for a number of seconds in a range."""

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
    """Parse a number of days."""
    if not re.fullmatch(r"[1-9][0-9]{0,4}", text):
        raise ValueError("days, 1 to 99999")
    return int(text)


def hourly(text: str) -> int:
    """Parse a rate per hour."""
    if not re.fullmatch(r"[1-9][0-9]{0,4}", text):
        raise ValueError("a number an hour, 1 to 99999")
    return int(text)


UNITS: Final = {"": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
"""The unit suffixes of a number of bytes."""


def size(text: str) -> int:
    """Parse a number of bytes."""
    match = re.fullmatch(r"([1-9][0-9]{0,14})([KMGT]iB)?", text)
    if match is None:
        raise ValueError("a number of bytes, such as 500MiB or 10GiB")
    return int(match[1]) * UNITS[match[2] or ""]


def slugs(text: str) -> tuple[str, ...]:
    """Parse slugs, separated by commas."""
    names = tuple(text.split(","))
    if not all(re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?", name) for name in names):
        raise ValueError("the slugs of tournaments, such as spring-2027,club")
    return names


def socket_address(text: str) -> str:
    """Parse the path of a Unix socket."""
    if not re.fullmatch(r"unix:/.+", text):
        raise ValueError("unix:PATH, such as unix:/run/circuit-wars/players.sock")
    return text


def host_names(text: str) -> tuple[str, ...]:
    """Parse host names, separated by commas."""
    try:
        return tuple(map(read_name, text.split(",")))
    except UsageError:
        raise ValueError("host names without port, separated by commas") from None


def networks(text: str) -> tuple[str, ...]:
    """Parse `any`, or `public` optionally followed by networks such as 10.20.0.0/16."""
    first, *more = text.split(",")
    if first not in ("any", "public") or (first == "any" and more):
        raise ValueError("any, public, or public,10.20.0.0/16")
    try:
        return (first, *(str(ip_network(network)) for network in more))
    except ValueError:
        raise ValueError("any, public, or public,10.20.0.0/16") from None


def proxies(text: str) -> tuple[str, ...]:
    """Parse IP addresses and networks, separated by commas."""
    try:
        return tuple(str(ip_network(part)) for part in text.split(",") if part)
    except ValueError:
        raise ValueError("addresses or networks, separated by commas") from None


def store_address(text: str) -> str:
    """Parse the URL of an object store."""
    if not re.fullmatch(r"s3://[a-z0-9][a-z0-9.-]{1,62}(/[\w./-]*)?", text):
        raise ValueError("s3://bucket/prefix, with AWS_... in the environment")
    return text.rstrip("/")


def store_or_folder(text: str) -> str:
    """Parse the URL of an object store, or a folder."""
    return store_address(text) if "://" in text else str(Path(text))


def mail_server(text: str) -> str:
    """Parse the URL of a mail server; only a local one may be used without TLS."""
    address("smtp", "smtps")(text)
    parts = urlsplit(text)
    if not parts.hostname or parts.path not in ("", "/") or parts.query not in ("", "tls=off"):
        raise ValueError("smtp://user:password@host:587 or smtps://..., optionally with ?tls=off")
    if parts.query and not is_loopback(parts.hostname):
        raise ValueError("an address on this machine if it has ?tls=off")
    return text


def keys(text: str) -> str:
    """Validate master keys; they stay text, so that they are never printed as bytes."""
    read_keys(text)
    return text


def long_secret(text: str) -> str:
    """Parse a secret, which must be too long to guess."""
    if len(text) < 32:
        raise ValueError("at least 32 random characters")
    return text


def e_mail(text: str) -> str:
    """Parse an email address; only its form is checked."""
    if not re.fullmatch(r"[^@\s]+@[^@\s]+", text):
        raise ValueError("an email address")
    return text


def one_of(*words: str) -> Read:
    """Return a parser for one of these values."""

    def read(text: str) -> str:
        if text not in words:
            raise ValueError(" or ".join(words))
        return text

    return read


def is_loopback(host: str) -> bool:
    """Return whether a host name or IP address is this host."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host in LOCAL_NAMES


DOMAIN: Final = "endofcodes.com"
"""The domain of the site that publishes the documentation."""


def setting(default: str, words: str, read: Read = str, empty: str = "") -> Any:
    """Declare a setting; `empty` describes the default ""."""
    metadata = {"default": default, "words": words, "read": read, "empty": empty}
    value = read(default) if default else default
    return field(default=value, metadata=metadata)


@dataclass(frozen=True, slots=True, kw_only=True)
class HubSettings:
    """The settings of a hub; host and port are options of its commands."""

    host: str = "127.0.0.1"
    port: int = 8000

    data: Path = setting(  # noqa: RUF009 - a path is never changed
        "hub-data", "Directory for all data not stored elsewhere.", Path
    )
    database_url: str = setting(
        "",
        "Database: postgresql://user:password@host/name, or sqlite:///FILE.",
        address("postgresql", "sqlite"),
        "SQLite in the data folder",
    )
    database_read_url: str = setting(
        "",
        "Read replica of the database, used for anonymous visitors: postgresql://...",
        address("postgresql"),
        "none",
    )
    broker_url: str = setting(
        "memory://",
        "Queue: memory:// (within this process), or redis://host:6379/0.",
        address("memory", "redis", "rediss"),
    )
    store_url: str = setting(
        "",
        "Object store for replays and pictures: s3://bucket/prefix; set AWS_... as well.",
        store_address,
        "a folder in the data folder",
    )
    store_public_url: str = setting(
        "",
        "Address at which browsers reach the S3 server; without it the site passes objects on.",
        site_address,
        "none",
    )
    master_keys: str = setting(
        "",
        "Keys that encrypt secrets, id:base64 of 32 bytes each; the first encrypts, all decrypt.",
        keys,
        "a file in the data folder",
    )
    secret_key: str = setting(
        "",
        "Key that signs cookies and links.",
        long_secret,
        "a file in the data folder",
    )
    public_url: str = setting(
        "",
        "Public address of the site; all links begin with it.",
        site_address,
        "the address it listens on",
    )
    allowed_hosts: tuple[str, ...] = setting(
        "",
        "Additional host names of the site, separated by commas.",
        host_names,
        "only that of the public URL, and local names",
    )
    trusted_proxy: tuple[str, ...] = setting(
        "", "Proxies whose X-Forwarded-* headers are trusted, separated by commas.", proxies, "none"
    )
    allow_http: bool = setting(
        "0", "1: allow account pages without https on other machines too.", switch
    )
    home: str = setting(
        "/",
        "Path of the page shown at /, such as /ranking; the home page is then at /home.",
        path_of_site,
    )
    blog_url: str = setting("/blog", "Target of the link Blog.", link)
    contribute_url: str = setting("/contribute", "Target of the link Contribute.", link)
    mail: str = setting(
        "",
        "Mail server: smtp://user:password@host:587 (STARTTLS), or smtps://...",
        mail_server,
        "mail is written to the data folder",
    )
    mail_from: str = setting(
        "",
        "Sender address of mail; required with CW_MAIL on a public site.",
        e_mail,
        f"team@{DOMAIN}",
    )
    github_id: str = setting(
        "", "Client ID of the GitHub OAuth app for log-in with GitHub.", str, "no button"
    )
    github_secret: str = setting("", "Client secret of the GitHub OAuth app.", str, "no button")
    github_url: str = setting(
        "https://github.com",
        "GitHub server for log-in; set it for GitHub Enterprise.",
        site_address,
    )
    github_api: str = setting("https://api.github.com", "API address of that server.", site_address)
    bot_network: tuple[str, ...] = setting(
        "",
        "Networks where bots may run: any, public, or public,10.20.0.0/16.",
        networks,
        "any on a local site, else public",
    )
    house_network: tuple[str, ...] = setting(
        "",
        "Networks where bots of the site itself may run too, over http:// as well.",
        proxies,
        "none",
    )
    bot_http: bool = setting(
        "0", "1: allow bots at http:// addresses; a local site always does.", switch
    )
    rooms: bool = setting(
        "0",
        "1: open the rooms of Circuit Wars, where anyone can move for a team;"
        " a local site always does.",
        switch,
    )
    hosting: str = setting(
        "",
        "Programs uploaded by people: sandboxed or off;"
        " for tournaments see CW_TRUSTED_TOURNAMENTS.",
        one_of("sandboxed", "off"),
        "sandboxed where bubblewrap works, else off",
    )
    trusted_tournaments: tuple[str, ...] = setting(
        "",
        "Tournaments whose uploaded programs may run without a sandbox, by slug.",
        slugs,
        "none",
    )
    players: str = setting(
        "",
        "Where matches are played: unix:PATH, the socket of cw-players.socket.",
        socket_address,
        "in processes of the same user",
    )
    tick: float = setting("10", "Seconds between two ticks of the scheduler.", seconds(0.1, 3600))
    lease: float = setting(
        "45",
        "Seconds without progress after which a match is taken from its worker.",
        seconds(1, 86400),
    )
    health_every: float = setting(
        "900", "Seconds between two health checks of a bot.", seconds(1, 86400)
    )
    challenges: int = setting(
        "30", "Matches of challenges that a player may begin in an hour.", hourly
    )
    replay_days: int = setting(
        "90", "Days after which replays of rated and practice matches are deleted.", days
    )
    replay_days_long: int = setting(
        "365",
        "Days after which those of challenges, and of matches in which a bot crashed, are deleted.",
        days,
    )
    replay_quota: int = setting(
        "10GiB",
        "Disk space that replays should take; above it an alert fires, and nothing is deleted.",
        size,
    )
    metrics_network: tuple[str, ...] = setting(
        "", "Networks that may read /metrics, separated by commas.", proxies, "this machine"
    )
    backup_objects: str = setting(
        "",
        "Second store, for sealed copies of backups and for all objects: s3://..., or a folder.",
        store_or_folder,
        "nowhere",
    )
    log: str = setting(
        "auto",
        "Log format: text, json, or auto (a line that counts on a terminal, else json).",
        one_of("auto", "text", "json"),
    )

    def __post_init__(self) -> None:
        """Raise UsageError for conflicting settings."""
        for name in ("master_keys", "secret_key"):
            if not self.is_sqlite and not getattr(self, name):
                raise UsageError(f"CW_{name.upper()} must be set unless the database is SQLite")
        if self.database_read_url and self.is_sqlite:
            raise UsageError("CW_DATABASE_READ_URL requires a PostgreSQL CW_DATABASE_URL")
        if self.trusted_tournaments and self.is_sqlite:
            raise UsageError("CW_TRUSTED_TOURNAMENTS requires a PostgreSQL CW_DATABASE_URL")
        if self.mail and self.public_url and not self.mail_from:
            raise UsageError("CW_MAIL_FROM must be set with CW_MAIL on a public site")
        if bool(self.github_id) != bool(self.github_secret):
            raise UsageError("set both CW_GITHUB_ID and CW_GITHUB_SECRET, or neither")

    @property
    def database(self) -> str:
        """The URL of the database."""
        return self.database_url or f"sqlite:///{self.data / 'hub.sqlite'}"

    @property
    def store(self) -> str:
        """The URL, or the folder, of the object store."""
        return self.store_url or str(self.data / "objects")

    @property
    def is_sqlite(self) -> bool:
        """Whether the database is a file."""
        return self.database.startswith("sqlite:")

    @property
    def is_embedded(self) -> bool:
        """Whether the queue is in memory, within one process."""
        return self.broker_url.startswith("memory:")

    @property
    def is_local(self) -> bool:
        """Whether only this host can reach the site; user and bot checks are less strict then."""
        return not self.public_url and is_loopback(self.host)

    @property
    def address(self) -> str:
        """The base URL of all links, without a trailing slash."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.public_url or f"http://{host}:{self.port}"

    @property
    def sender(self) -> str:
        """The sender of emails; the default is the email address named in the documentation."""
        return self.mail_from or f"team@{DOMAIN}"

    @property
    def contact(self) -> str:
        """Whom users can contact; without a sender of its own, the site names no email address."""
        return self.mail_from or "the people who run this site"

    @property
    def signed_by(self) -> str:
        """The name under emails: only the documentation's own site signs as End of Codes."""
        return "End of Codes" if self.sender.endswith(f"@{DOMAIN}") else "Circuit Wars"

    @property
    def has_safe_accounts(self) -> bool:
        """Whether passwords may be entered here: no one can eavesdrop, or http is allowed."""
        address = urlsplit(self.address)
        return address.scheme == "https" or is_loopback(address.hostname or "") or self.allow_http

    @property
    def bots_need_https(self) -> bool:
        """Whether the URLs of bots must begin with https."""
        return not (self.bot_http or self.is_local)

    @property
    def has_rooms(self) -> bool:
        """Whether matches of Circuit Wars are played under /rooms/."""
        return self.rooms or self.is_local

    @property
    def bots_may_be(self) -> tuple[str, ...]:
        """`any`, or `public` followed by further networks that are allowed."""
        return self.bot_network or (("any",) if self.is_local else ("public",))


OF_OTHERS: Final = re.compile(
    r"CW_(PAUSE|SERVER|CHROMIUM|CASES|GAMES|KILLS|MATCHES|BETWEEN|PYTHONS|ALL_SCREENS|THOROUGH"
    r"|PEOPLE|PICTURES|REQUIRE_[A-Z]+)"
)
"""Variables named CW_... that belong to the arena and its tests."""


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
"""Settings that may hold a password: their values are never printed."""


class SettingRow(NamedTuple):
    """A setting as shown in listings."""

    name: str
    value: str
    default: str
    words: str


def read_settings(
    environment: Mapping[str, str], overrides: Sequence[str] = (), **others: Any
) -> HubSettings:
    """Read the settings of an environment; overrides `CW_NAME=VALUE` take precedence.

    Raises UsageError for an unknown name or an invalid value.
    """
    texts = {name: text for name, text in environment.items() if name.startswith("CW_")}
    texts = {name: text for name, text in texts.items() if not OF_OTHERS.fullmatch(name)}
    for pair in overrides:
        name, equals, text = pair.partition("=")
        if not equals:
            raise UsageError(f"--set takes CW_NAME=VALUE, not {short(pair)}")
        texts[name] = text
    by_name = {variable(setting): setting for setting in declared()}
    for name in texts:
        if name not in by_name:
            raise UsageError(f"unknown setting {name}; cw hub settings lists all settings")
    values = {by_name[name].name: read(name, by_name[name], text) for name, text in texts.items()}
    return HubSettings(**values, **others)


def read(name: str, setting: Field[Any], text: str) -> Any:
    """Parse the value of a setting; an empty text means its default."""
    if not text:
        return setting.default
    try:
        return cast(Read, setting.metadata["read"])(text)
    except ValueError as error:
        value = "" if name in SECRETS else f", not {short(text)}"
        raise UsageError(f"{name} must be {error}{value}") from None


def declared() -> Iterator[Field[Any]]:
    """Return the fields that are settings."""
    return (setting for setting in fields(HubSettings) if setting.metadata)


def variable(setting: Field[Any]) -> str:
    """Return the name of a setting's environment variable."""
    return f"CW_{setting.name.upper()}"


def setting_rows(settings: HubSettings) -> list[SettingRow]:
    """Return all settings for display; secret ones are shown as `(set)`."""
    return [row_of(setting, getattr(settings, setting.name)) for setting in declared()]


def row_of(setting: Field[Any], value: Any) -> SettingRow:
    """Return one setting for display."""
    name, about = variable(setting), setting.metadata
    default = about["default"] or f"({about['empty']})"
    text = default if value == setting.default else as_text(value)
    if name in SECRETS and value != setting.default:
        text = "(set)"
    return SettingRow(name, text, default, about["words"])


def as_text(value: Any) -> str:
    """Return the text form of a value, as `read` accepts it."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, tuple):
        return ",".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


KEY_FILES: Final = ("master.key", "secret.key")
"""Key files in the data folder, used for keys that are not set in the environment."""

IS_LINUX: Final[bool] = sys.platform == "linux"


def begin_to_trust(settings: HubSettings) -> None:
    """Hide the secrets of this process from programs that it may run without a sandbox.

    Does nothing unless CW_TRUSTED_TOURNAMENTS is set. Raises UsageError if keys would be readable.
    """
    if not settings.trusted_tournaments:
        return
    problem = problem_of_trust(settings.data, is_root=sys.platform != "win32" and os.geteuid() == 0)
    if problem is not None:
        raise UsageError(f"CW_TRUSTED_TOURNAMENTS: {problem}")
    hide_process()


def problem_of_trust(data: Path, *, is_root: bool) -> str | None:
    """Return why a process must not run trusted programs, or None if it may."""
    if not IS_LINUX:
        return "only Linux hides the environment of a process from other programs of its user"
    if is_root:
        return "run the hub as an ordinary user, as root can read the keys wherever they are"
    readable = [data / name for name in KEY_FILES if os.access(data / name, os.R_OK)]
    if readable:
        return f"remove {readable[0]}, which programs could read: keys are set in the environment"
    return None
