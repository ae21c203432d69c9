"""Rate limits of pages and API operations, and the keys by which they count."""

from __future__ import annotations

from typing import Final, cast

from flask import Flask, Response, g, request

from cw_hub.accounts import account_limits, place_of_request
from cw_hub.accounts import service as accounts_service
from cw_hub.accounts.account_limits import MoreIfInvited, OwnAmount, registrant
from cw_hub.accounts.actor import actor
from cw_hub.bots import service as bots_service
from cw_hub.pages import request_counts
from cw_hub.pages.request import one_reading, resources
from cw_hub.pages.request_counts import Limit, network

READS: Final = "120 per minute"
READS_WITH_TOKEN: Final = "300 per minute"  # noqa: S105
WRITES: Final = "30 per minute"
"""Limit of API requests that change data."""


POLLED: Final = (
    "ranking.now",
    "tournaments.ladder_json",
    "tournaments.team_json",
    "tournaments.events_json",
)


LIVE: Final = ("matches.document", "live.document")
"""Endpoints polled by pages of live matches."""

WORKSHOP: Final = (
    "workshop.run",
    "workshop.turn",
    "workshop.answer",
    "workshop.series",
    "workshop.series_match",
    "workshop.check",
    "workshop.run_document",
)
"""Endpoints polled by the workshop's pages while a worker processes a draft."""

STOPS: Final = ("workshop.end_run", "workshop.end_series", "workshop.end_check")

UNCOUNTED: Final = (
    "static",
    "home.health",
    "ready.ready",
    "metrics.metrics",
    *LIVE,
    *POLLED,
    *WORKSHOP,
)
"""Endpoints exempt from the limit of all other pages: served from memory or limited separately."""

UNLIMITED: Final = ("api", "room", "lobby")
"""Blueprints without a limit per page.

The API has its own for all reads, and in rooms the programs of many users may play from one IP
address.
"""


def name() -> str:
    """Return the account whose password is tried: the current user's, or the named one."""
    user = actor().user
    named = user.username if user else request.form.get("username", "")
    return named.lower()[:100]


def known_place() -> str:
    """Return the requesting browser or network if the named account was entered from it before."""
    if "known_place" not in g:
        g.known_place = place_of_request.known_here(name())
    return cast(str, g.known_place)


def name_and_place() -> str:
    """Return the account whose password is tried, and from where."""
    return f"{name()} {known_place() or network()}"


def name_for_strangers() -> str:
    """Return the account whose password is tried; known places are counted separately."""
    return name_and_place() if known_place() else name()


def network_of_strangers() -> str:
    """Return where a password is tried from; known places are counted separately."""
    return name_and_place() if known_place() else network()


def user() -> str:
    """Return the current account, or the network of a visitor."""
    holder = actor().user
    return str(holder.user_id) if holder else network()


def visitor() -> str:
    """Return whose share of live matches is counted: a player with a confirmed email address.

    Otherwise it is the network, as one user may have many accounts there.
    """
    holder = actor().user
    if holder is not None:
        with one_reading() as reading:
            if accounts_service.is_confirmed(reading, holder.user_id):
                return f"user {holder.user_id}"
    return network()


def bot() -> str:
    """Return the current account and the requested bot, on pages or in the API."""
    names = request.view_args or {}
    with one_reading() as reading:
        if "bot_id" in names:
            view = bots_service.find_by_id(reading, names["bot_id"])
        else:
            view = bots_service.find(reading, request.values.get("game") or None, names["name"])
    return f"{user()} {view.bot_id if view else request.path.lower()}"


def team() -> str:
    """Return the current team, otherwise the network."""
    slug = (request.view_args or {}).get("slug", "")
    holder = actor().team(slug)
    return f"team {holder.team_id}" if holder else network()


def token() -> str:
    """Return the digest of the request's access token, or its network without one."""
    holder = actor().user
    return holder.digest if holder else network()


def reads() -> str:
    """Return the limit of API requests that read data."""
    return READS_WITH_TOKEN if actor().user else READS


def give_back_guess(response: Response) -> Response:
    """Undo the count of a password request unless the password was wrong.

    Requests are counted before the password is checked, so that a burst of them cannot try more
    passwords than the limit allows.
    """
    if request.endpoint in WITH_PASSWORD and not g.get("wrong_password"):
        request_counts.give_back_of(GUESSES)
    return response


WITH_PASSWORD: Final = (
    "account.login_post",
    "settings.change_password",
    "settings.change_email",
    "settings.delete",
    "tokens.create",
    "github.confirm_connection",
    "github.disconnect",
)


REGISTER: Final = ("account.register", "github.welcome")
CALLBACK: Final = ("github.callback",)

GUESSES: Final = ("guess", "guess-name", "guess-network")
"""The limits that count only wrong passwords."""


REPLAYS: Final = ("match.document", "match.download", "objects.read")
"""Endpoints that read and unpack a replay of several megabytes."""

SMALL: Final = (
    "invited.form_team",
    "invited.join_team",
    "invited.leave",
    "invited.rename",
    "settings.save",
    "settings.want_mails",
    "tokens.revoke",
    "github.confirm_connection",
    "github.disconnect",
    "profile.befriend",
    "profile.unfriend",
)
"""Endpoints by which an account writes a few rows."""

KITS: Final = ("my_team.kit", "my_team.kit_of_tournament")
"""Endpoints that pack the files of a kit into a zip."""
VERSIONS: Final = (
    "bots.version_file",
    "bots.compare",
    "bot_settings.version_file",
    "bot_settings.compare",
    "api.bot_version",
    "my_team.version_file",
    "my_team.compare",
)
"""Endpoints that read and compare uploads."""

PICTURES: Final = ("settings.change_avatar", "organising.change_picture", "host.change_picture")
"""Endpoints that process an image; counted together."""

CHALLENGES: Final = ("challenges.begin", "api.begin_challenge")
"""Endpoints that start challenge matches, whose number is also limited separately."""

OWN_BOT: Final = (
    "bot_settings.save",
    "bot_settings.renew",
    "bot_settings.upload",
    "bot_settings.use_version",
)
"""Endpoints that change a player's End of Codes bot."""

CHECKED: Final = ("bots.check", "bots.edit", "api.check_bot", "api.change_bot")
"""Endpoints that check a bot, or may do so; counted together."""

UPLOADS: Final = ("bots.upload", "api.save_version")
USE_VERSION: Final = ("bots.use_version", "api.use_version")
TEAM_BOT: Final = ("my_team.bot", "my_team.rotate", "my_team.ssh_key")
TEAM_UPLOADS: Final = ("my_team.upload", "my_team.own_program")

REGISTERED: Final = ("bots.register", "bots.register_program", "api.register_bot")
PRACTICE: Final = ("bots.practise", "api.test_match")


LIMITS: Final = (
    Limit("guess", "10 per 15 minutes", name_and_place, WITH_PASSWORD),
    Limit("guess-name", "100 per hour", name_for_strangers, WITH_PASSWORD),
    Limit("guess-network", "300 per hour", network_of_strangers, WITH_PASSWORD),
    Limit("register", MoreIfInvited("100 per hour"), registrant, REGISTER),
    Limit("github", MoreIfInvited("20 per hour"), registrant, ("github.begin",), ("GET",)),
    Limit("github-callback", MoreIfInvited("20 per hour"), registrant, CALLBACK, ("GET",)),
    Limit("token", "10 per hour", user, ("tokens.create",), only_done=True),
    Limit("forgot-network", "60 per hour", network, ("account.forgot",)),
    Limit("verify", "3 per hour", user, ("account.send_verification",)),
    Limit("email", "3 per hour", user, ("settings.change_email",), only_done=True),
    Limit("bot-hour", OwnAmount("bots", 5, "hour"), user, REGISTERED, only_done=True),
    Limit("bot-day", OwnAmount("bots", 20, "day"), user, REGISTERED, only_done=True),
    Limit("bot-forms", "60 per hour", user, REGISTERED),
    Limit("check", "10 per hour", bot, CHECKED, ("POST", "PATCH"), only_done=True),
    Limit("rotate", "10 per hour", bot, ("bots.rotate", "api.rotate_secret"), only_done=True),
    Limit("upload", OwnAmount("uploads", 20, "hour"), bot, UPLOADS, only_done=True),
    Limit("upload-forms", "60 per hour", user, (*UPLOADS, "bot_settings.upload")),
    Limit("draft", "120 per minute", user, ("workshop.save",), ("PUT",)),
    Limit("draft-version", "30 per hour", user, ("workshop.save_version",)),
    Limit("draft-match", "30 per hour", user, ("workshop.play",)),
    Limit("draft-run", "30 per minute", user, ("workshop.begin_run",)),
    Limit("draft-ask", "30 per minute", user, ("workshop.begin_ask",)),
    Limit("draft-series", "30 per hour", user, ("workshop.begin_series",)),
    Limit("draft-check", "60 per hour", user, ("workshop.begin_check",)),
    Limit("draft-stop", "60 per minute", user, STOPS),
    Limit("draft-watching", "1800 per minute", user, WORKSHOP, ("GET",)),
    Limit("draft-open", "30 per minute", user, ("workshop.open_version", "workshop.set_language")),
    Limit("use-version", "30 per hour", bot, USE_VERSION, only_done=True),
    Limit("versions", "30 per minute", user, VERSIONS, ("GET",)),
    Limit("bot-settings", "20 per hour", user, OWN_BOT, only_done=True),
    Limit("test-match", OwnAmount("practice", 6, "hour"), bot, PRACTICE, only_done=True),
    Limit(
        "comparison",
        OwnAmount("comparisons", 10, "day"),
        user,
        ("bots.begin_comparison",),
        only_done=True,
    ),
    Limit("team-check", "6 per minute", team, ("my_team.check",)),
    Limit("team-bot", "20 per hour", team, TEAM_BOT, only_done=True),
    Limit("team-practice", "12 per hour", team, ("my_team.practice",), only_done=True),
    Limit("team-upload", "10 per hour", team, TEAM_UPLOADS, only_done=True),
    Limit("team-upload-forms", "60 per hour", team, TEAM_UPLOADS),
    Limit(
        "live-match",
        "60 per minute",
        network,
        ("matches.begin", "play_on.from_match", "play_on.from_replay"),
    ),
    Limit("frames", "60 per minute", network, ("games.frames",)),
    Limit("live-watching", "6000 per minute", network, LIVE, ("GET",)),
    Limit("avatar", "10 per hour", user, PICTURES, only_done=True),
    Limit("avatar-forms", "60 per hour", user, PICTURES),
    Limit("replay", "120 per minute", network, REPLAYS, ("GET",)),
    Limit("card", "60 per minute", network, ("cards.picture",), ("GET",)),
    Limit(
        "shared-picture",
        "120 per minute",
        network,
        ("shared_pictures.of_bot", "shared_pictures.of_competition"),
        ("GET",),
    ),
    Limit("search", "120 per minute", network, ("leaderboard.matches",), ("GET",)),
    Limit("report", "30 per minute", network, ("cups.form",), ("GET",)),
    Limit("export", "12 per hour", network, ("host.export",), ("GET",)),
    Limit("own-data", "6 per hour", user, ("profile.own_data_zip",), ("GET",)),
    Limit("team-change", "30 per hour", team, ("my_team.use_version",), only_done=True),
    Limit("host", "120 per minute", network, ("host.post",)),
    Limit("small", "60 per minute", user, SMALL),
    Limit("kit", "30 per minute", network, KITS, ("GET",)),
)


LINKS: Final = Limit("api-links", "60 per minute", token, ("api.match_replay",), ("GET",))


def told_of_api() -> dict[str, str]:
    """Return the API's limits as text."""
    amounts = {limit.scope: str(limit.amount) for limit in LIMITS}
    return {
        "Reads, per token": READS_WITH_TOKEN,
        "Reads without a token, per address": READS,
        "Links to replays": str(LINKS.amount),
        "Changes, per token": WRITES,
        "New bots, per account": f"{amounts['bot-hour']}; {amounts['bot-day']}",
        "Checks and changes, per bot": amounts["check"],
        "New secrets, per bot": amounts["rotate"],
        "Versions, per bot": amounts["upload"],
        "Practice matches, per bot": amounts["test-match"],
        "Challenge matches, per account": f"{resources().settings.challenges} per hour",
    }


def limits_of_api(app: Flask) -> tuple[Limit, ...]:
    """Return the limits of the API: for all reads together, and for all writes."""
    of_api = [rule for rule in app.url_map.iter_rules() if rule.endpoint.startswith("api.")]
    read = tuple(rule.endpoint for rule in of_api if "GET" in (rule.methods or ()))
    done = tuple(rule.endpoint for rule in of_api if rule.endpoint not in read)
    return (
        LINKS,
        Limit("api-reads", reads, token, read, ("GET", "HEAD")),
        Limit("api-writes", WRITES, token, done, ("POST", "PATCH")),
    )


def lockable() -> dict[str, str]:
    """Return, by endpoint, the name of the limit that an admin may set to zero for a user."""
    begun = dict.fromkeys(CHALLENGES, "challenges")
    own = [limit for limit in LIMITS if isinstance(limit.amount, OwnAmount)]
    return begun | {
        endpoint: limit.amount.name
        for limit in own
        if isinstance(limit.amount, OwnAmount)
        for endpoint in limit.endpoints
    }


def all_limits(app: Flask) -> tuple[Limit, ...]:
    """Return all limits except the general one of pages without their own."""
    return (*LIMITS, *limits_of_api(app))


def install(app: Flask, storage: str) -> None:
    """Register the limits, which are applied before an app's views."""
    request_counts.install(app, storage, all_limits(app), is_exempt)
    account_limits.refuse_locked_activities(app, lockable())
    app.after_request(give_back_guess)


def is_exempt() -> bool:
    """Return whether a request is exempt from the general limit of pages."""
    return request.blueprint in (None, *UNLIMITED) or request.endpoint in UNCOUNTED
