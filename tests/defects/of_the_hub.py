"""Defects of the hub: of its accounts, its matches and its competitions."""

from __future__ import annotations

from typing import Final

from tests.defects.defect import defect

ACCOUNTS: Final = (
    defect(
        "cw/hub/accounts/access/tickets.py",
        '        Ticket.expires_at > bindparam("now"),\n        User.locked_at',
        "        User.locked_at",
        "Sessions and access tokens never expire.",
        "hub/accounts/access/test_ticket_ends.py",
    ),
    defect(
        "cw/hub/accounts/access/tickets.py",
        "        User.locked_at.is_(None),\n",
        "",
        "A token of a locked account lets in.",
        "hub/accounts/access/test_tickets.py",
    ),
    defect(
        "cw/hub/accounts/access/tickets.py",
        '        Ticket.kind == bindparam("kind"),\n',
        '        bindparam("kind") != "",\n',
        "A session lets in where an access token is asked for, and the other way round.",
        "hub/accounts/access/test_tickets.py",
        "hub/site/test_api_permissions.py",
    ),
    defect(
        "cw/hub/accounts/access/tickets.py",
        "        Ticket.user_id.is_not(None),\n        Ticket.expires_at > now,\n",
        "        Ticket.user_id.is_not(None),\n",
        "Links of mails never expire.",
        "hub/accounts/access/test_ticket_ends.py",
    ),
    defect(
        "cw/hub/accounts/access/cards.py",
        "            Ticket.expires_at > now,\n",
        "",
        "The card of a team is good for ever.",
        "hub/accounts/access/test_ticket_ends.py",
    ),
    defect(
        "cw/hub/accounts/access/cards.py",
        '        Ticket.expires_at > bindparam("now"),\n',
        "",
        "The session of a host never expires.",
        "hub/accounts/access/test_ticket_ends.py",
    ),
    defect(
        "cw/hub/accounts/access/cards.py",
        '        _Card.expires_at > bindparam("now"),\n',
        "",
        "A session outlives the card that it was made from.",
        "hub/accounts/access/test_ticket_ends.py",
    ),
    defect(
        "cw/hub/accounts/access/cards.py",
        '        Competition.slug == bindparam("slug"),\n',
        "",
        "The team of one tournament acts in another.",
        "hub/competitions/tournament/test_tournament_roles.py",
        "hub/competitions/tournament/test_join.py",
    ),
    defect(
        "cw/hub/accounts/access/tokens.py",
        '    if "admin" in new.scopes and user.role != "admin":',
        "    if False:",
        "Anybody makes a token of an admin.",
        "hub/site/test_api_permissions.py",
    ),
    defect(
        "cw/hub/accounts/access/tokens.py",
        "Ticket.digest == digest, Ticket.user_id == user_id, Ticket.kind",
        "Ticket.digest == digest, Ticket.kind",
        "Anybody revokes the tokens of others.",
        "hub/site/test_api_permissions.py",
    ),
    defect(
        "cw/hub/accounts/people.py",
        "            User.password_hash == account.password_hash,\n",
        "",
        "A password that was just changed still logs in.",
        "hub/accounts/test_people.py",
    ),
    defect(
        "cw/hub/accounts/people.py",
        "    tickets.revoke_all(session, account.user_id, *PASSED_ON)\n",
        "",
        "A new password leaves the sessions of a thief open.",
        "hub/accounts/test_people.py",
    ),
    defect(
        "cw/hub/accounts/github.py",
        "if resources().clock() - came < TO_CHOOSE else None",
        "if came else None",
        "Who came from GitHub may choose a username for ever.",
        "hub/accounts/test_github.py",
    ),
    defect(
        "cw/hub/accounts/access/actor.py",
        "(self.user.scopes is None or scope in self.user.scopes)",
        "True",
        "A token allows everything.",
        "hub/site/test_api_permissions.py",
    ),
    defect(
        "cw/hub/accounts/access/actor.py",
        "        if request.path.startswith(API) or ticket is None:",
        "        if ticket is None:",
        "The API lets in by the cookie of a team.",
        "hub/competitions/tournament/test_tournament_roles.py",
    ),
)

SITE: Final = (
    defect(
        "cw/hub/api/operations.py",
        "    if scope is not None and not who.may(scope):",
        "    if False:",
        "The API asks for no scope.",
        "hub/site/test_api_permissions.py",
    ),
    defect(
        "cw/hub/site/api/writing.py",
        "    if not actor().is_user(bot.user_id):",
        "    if False:",
        "Anybody changes the bots of others by the API.",
        "hub/site/test_api.py",
    ),
    defect(
        "cw/hub/site/admin/pages.py",
        "        if not actor().is_admin:",
        "        if False:",
        "The page of admins is for every player.",
        "hub/pages/test_security.py",
        "hub/competitions/rated/test_rated_pages.py",
    ),
    defect(
        "cw/hub/pages/security.py",
        "    if request.endpoint not in WITH_FILE and count_fields() > most:",
        "    if False:",
        "A form may have any number of fields.",
        "hub/pages/test_security.py",
    ),
    defect(
        "cw/hub/pages/security.py",
        '        is_proxy = self._trusts(unmapped(environ.get("REMOTE_ADDR", "")))',
        "        is_proxy = True",
        "Anybody says from which address a request comes.",
        "hub/pages/test_public_site.py",
    ),
    defect(
        "cw/hub/pages/security.py",
        "    guard_forms(app)\n",
        "",
        "Another site posts forms in the name of a player.",
        "hub/pages/test_security.py",
    ),
    defect(
        "cw/hub/site/limits.py",
        '    named = user.username if user else request.form.get("username", "")\n'
        "    return named.lower()[:100]",
        '    named = user.username if user else request.form.get("username", "")\n'
        "    return named[:100]",
        "Another case of a name gives ten more guesses of its password.",
        "hub/pages/test_request_limits.py",
    ),
    defect(
        "cw/hub/site/limits.py",
        'if request.endpoint in WITH_PASSWORD and not g.get("wrong_password"):',
        "if request.endpoint in WITH_PASSWORD:",
        "Wrong passwords are not counted.",
        "hub/pages/test_request_limits.py",
    ),
    defect(
        "cw/hub/store/sealing.py",
        'if not keys or len(keys) < len(text.split(",")):',
        "if not keys:",
        "A master key that cannot be read is passed over.",
        "hub/operation/test_settings.py",
    ),
    defect(
        "cw/hub/operation/backup/backups.py",
        "[-DAILY:], *list(by_week.values())[-WEEKLY:]}",
        "[-DAILY:]}",
        "The back-ups of earlier weeks are deleted.",
        "hub/operation/backup/test_backups.py",
    ),
    defect(
        "cw/hub/matches/replays.py",
        "        Match.finished_at < now - ages.usual,\n",
        "",
        "Replays are given up on the day they were played.",
        "hub/operation/test_upkeep.py",
    ),
)

MATCHES: Final = (
    defect(
        "cw/hub/matches/claims.py",
        '.where(Match.id == match, Match.state == "queued", has_message)',
        ".where(Match.id == match, has_message)",
        "A message that comes twice is played twice.",
        "hub/matches/test_matches.py",
    ),
    defect(
        "cw/hub/matches/claims.py",
        'Match.attempt == claim.attempt, Match.state == "in_progress")',
        'Match.state == "in_progress")',
        "A worker that lost its match finishes the attempt of another.",
        "hub/matches/test_matches.py",
    ),
    defect(
        "cw/hub/matches/interruptions.py",
        "return reap_where(session, clock, Match.lease_until < clock())",
        "return reap_where(session, clock, Match.lease_until > clock())",
        "Matches are taken from the workers that live.",
        "hub/matches/test_matches.py",
    ),
    defect(
        "cw/hub/matches/interruptions.py",
        "is_last = Match.troubles + 1 >= MOST_TROUBLES",
        "is_last = Match.troubles >= MOST_TROUBLES",
        "A match fails after six troubles.",
        "hub/matches/test_matches.py",
    ),
    defect(
        "cw/hub/matches/sending.py",
        "Match.sent_at <= now - lost_after)",
        "Match.sent_at <= now + lost_after)",
        "Every tick sends every match again.",
        "hub/matches/test_matches.py",
    ),
    defect(
        "cw/hub/matches/pages.py",
        "    return match.kind.is_public or any(sees(seat) for seat in match.seats)",
        "    return True",
        "Practice matches are for everybody.",
        "hub/matches/test_hub_match.py",
        "hub/bots/test_player_bots.py",
    ),
    defect(
        "cw/hub/matches/objects.py",
        "unsign(signed, max_age=int(LASTS.total_seconds()))",
        "unsign(signed)",
        "A link to a replay is good for ever.",
        "hub/matches/test_object_links.py",
    ),
)

BOTS: Final = (
    defect(
        "cw/hub/bots/verbs.py",
        "    if session.scalars(mine).one() >= MOST:",
        "    if session.scalars(mine).one() > MOST:",
        "A player has eleven bots.",
        "hub/bots/test_player_bots.py",
    ),
    defect(
        "cw/hub/players/packages.py",
        'any(part.strip() in ("", ".", "..") for part in parts)',
        'any(part.strip() in ("", ".") for part in parts)',
        "A zip writes outside of its folder.",
        "hub/competitions/tournament/test_team_bots.py",
    ),
    defect(
        "cw/hub/players/packages.py",
        "            read = file.read(left + 1)",
        "            read = file.read()",
        "A zip unpacks to any size in memory.",
        "hub/competitions/tournament/test_team_bots.py",
    ),
)

COMPETITIONS: Final = (
    defect(
        "cw/hub/competitions/rated/ratings.py",
        "        _RATINGS.c.playing_id.is_(None),\n",
        "",
        "A bot is sent into two rated matches at once.",
        "hub/competitions/rated/test_rated.py",
    ),
    defect(
        "cw/hub/competitions/rated/ratings.py",
        "            streak = standing.crash_streak + 1 if bot.crashed else 0",
        "            streak = standing.crash_streak + 1 if bot.crashed else standing.crash_streak",
        "Crashes count although a match without one lay between them.",
        "hub/competitions/rated/test_rated.py",
    ),
    defect(
        "cw/hub/competitions/rated/pairing.py",
        '    if competition.state != "running":\n',
        "    if False:\n",
        "A paused competition goes on.",
        "hub/competitions/rated/test_rated.py",
    ),
    defect(
        "cw/hub/competitions/daily/verbs.py",
        "    if now - due > LATE:",
        "    if False:",
        "A game of yesterday is played after an outage.",
        "hub/competitions/daily/test_daily.py",
    ),
    defect(
        "cw/hub/competitions/daily/verbs.py",
        "    elif not is_free:",
        "    elif False:",
        "Two daily games are played at once.",
        "hub/competitions/daily/test_daily.py",
    ),
    defect(
        "cw/hub/competitions/tournament/host/rounds.py",
        '        .where(Entry.status == "disqualified")\n',
        '        .where(Entry.status == "nobody")\n',
        "Matches of a disqualified team are played again.",
        "hub/competitions/tournament/test_host_pages.py",
    ),
    defect(
        "cw/hub/competitions/tournament/host/rounds.py",
        'is not None:\n        raise UsageError("this round is over',
        'is not None and False:\n        raise UsageError("this round is over',
        "Matches of a closed round are called off after its points were given.",
        "hub/competitions/tournament/rounds/test_ladder_rounds.py",
    ),
    defect(
        "cw/hub/competitions/tournament/rounds/opening.py",
        "    if due is not None and tournament.now < due:",
        "    if due is not None and tournament.now <= due:",
        "The next round begins after its time, and not at it.",
        "hub/competitions/tournament/rounds/test_ladder_rounds.py",
    ),
    defect(
        "cw/hub/competitions/verbs.py",
        "    if lock(session, competition).state != before:",
        "    if False:",
        "A competition that is over goes on.",
        "hub/competitions/daily/test_daily.py",
    ),
    defect(
        "cw/hub/competitions/cup/parcels.py",
        "    if data is None or sha256(data).hexdigest() != digest:",
        "    if data is None:",
        "A program that was changed in the store is run.",
        "hub/competitions/cup/test_queued_championship.py",
    ),
)
