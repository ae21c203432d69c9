"""The settings of a hub, each an environment variable CW_..."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from cw.errors import UsageError
from cw_hub.operation.setting_types import (
    Read,
    address,
    days,
    e_mail,
    host_names,
    hourly,
    is_loopback,
    keys,
    link,
    long_secret,
    mail_server,
    networks,
    one_of,
    path_of_site,
    proxies,
    seconds,
    site_address,
    size,
    slugs,
    socket_address,
    store_address,
    store_or_folder,
    switch,
)

DOMAIN: Final = "endofcodes.com"
"""The domain of the site that publishes the documents."""


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
        "Further host names under which the site may be visited, separated by commas.",
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
        "1: open the rooms of Circuit Wars, where anybody may move for a team;"
        " a local site always does.",
        switch,
    )
    hosting: str = setting(
        "",
        "Uploaded programs of people: sandboxed or off;"
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
        "Second store, for sealed copies of back-ups and for all objects: s3://..., or a folder.",
        store_or_folder,
        "nowhere",
    )
    log: str = setting(
        "auto",
        "Log format: text, json, or auto (a line that counts on a terminal, else json).",
        one_of("auto", "text", "json"),
    )

    def __post_init__(self) -> None:
        """Raise UsageError for settings that conflict."""
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
        """Whether the queue is in memory, within one process."""
        return self.broker_url.startswith("memory:")

    @property
    def is_local(self) -> bool:
        """Whether only this machine reaches the site: checks of people and bots are laxer then."""
        return not self.public_url and is_loopback(self.host)

    @property
    def address(self) -> str:
        """The address that all links begin with, without a trailing slash."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return self.public_url or f"http://{host}:{self.port}"

    @property
    def sender(self) -> str:
        """The sender of mails: by default the address that the documents name."""
        return self.mail_from or f"team@{DOMAIN}"

    @property
    def contact(self) -> str:
        """Whom people write to; without a sender address of its own, the site names nobody."""
        return self.mail_from or "the people who run this site"

    @property
    def signed_by(self) -> str:
        """The name under mails: only the site of the documents signs as End of Codes."""
        return "End of Codes" if self.sender.endswith(f"@{DOMAIN}") else "Circuit Wars"

    @property
    def has_safe_accounts(self) -> bool:
        """Whether passwords may be typed here: nobody can eavesdrop, or http is allowed."""
        address = urlsplit(self.address)
        return address.scheme == "https" or is_loopback(address.hostname or "") or self.allow_http

    @property
    def bots_need_https(self) -> bool:
        """Whether the addresses of bots must begin with https."""
        return not (self.bot_http or self.is_local)

    @property
    def has_rooms(self) -> bool:
        """Whether matches of Circuit Wars are played under /rooms/."""
        return self.rooms or self.is_local

    @property
    def bots_may_be(self) -> tuple[str, ...]:
        """`any`, or `public` followed by further networks that are allowed."""
        return self.bot_network or (("any",) if self.is_local else ("public",))
