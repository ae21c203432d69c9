"""The players of a match: their programs and secrets, and the task sent to a player process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

from cw.arena.bot_settings import SECRET_SETTINGS
from cw.arena.bots import BotSpec
from cw.errors import Failure
from cw_hub.bots import programs
from cw_hub.bots.seats import ClaimedSeat, Hosting
from cw_hub.matches import replays
from cw_hub.matches.claims import Claim
from cw_hub.matches.kinds import Guests, Kind
from cw_hub.matches.playing.specs import spec_of
from cw_hub.operation.resources import Resources
from cw_hub.players.messages import Built, Match, Played, Program
from cw_hub.players.spectating import is_shown


@dataclass(slots=True)
class LineUp:
    """The players of a match when an attempt starts."""

    resources: Resources
    claim: Claim
    kind: Kind
    runs_programs: bool
    """Whether programs may run that were seated only when the match began."""
    programs: dict[str, BotSpec] = field(default_factory=dict)
    """Bots, by name, that player processes unpack or that the format has brought."""
    guests: Guests = field(default_factory=Guests)
    """Bots brought by the format."""
    secrets: dict[str, dict[str, str]] = field(default_factory=dict)
    """Secrets by bot name; updated when one is rotated during play."""

    @property
    def hosting(self) -> Hosting:
        """How uploaded programs are run here."""
        if not self.runs_programs:
            return "off"
        claim = self.claim
        return programs.hosting_here(self.resources.settings, claim.tournament, claim.hosting)

    @property
    def own_seats(self) -> list[ClaimedSeat]:
        """The seats of bots with a row of their own."""
        return [seat for seat in self.claim.seats if seat.bot_id]

    @property
    def outcome_key(self) -> str | None:
        """The key for the whole result of a game, or None if it is not needed."""
        return None if self.kind.report is None else self.kind.report(self.claim)

    def take_bots(self) -> None:
        """Collect the bots that player processes unpack, and those brought by the format."""
        self.programs.update(
            {
                seat.name: programs.placeholder(seat, self.hosting)
                for seat in programs.uploads(self.own_seats)
            }
        )
        if self.kind.invite is not None:
            self.guests = self.kind.invite(self.resources, self.claim)
            self.programs.update(self.guests.bots)
            self.secrets.update(
                {name: dict(secrets) for name, secrets in self.guests.secrets.items()}
            )

    def take_secrets(self, seats: Iterable[ClaimedSeat]) -> None:
        """Sign requests with the secrets of these bots from now on."""
        for seat in seats:
            if seat.secret is not None:
                secret = self.resources.sealer.open(seat.secret, seat.secret_row).decode()
                self.secrets[seat.name] = dict.fromkeys(SECRET_SETTINGS, secret)

    def task(self, number: int) -> Match:
        """Return the task of a player process for one game of the match."""
        claim = self.claim.battle(number)
        key = replays.replay_key(claim.match_id, claim.planned_at, claim.attempt, number)
        return Match(
            spec_of(claim, self.resources.settings, self.programs),
            replays.keys_for(claim.game, key),
            claim.credits,
            {name: dict(secrets) for name, secrets in self.secrets.items()},
            run=f"{claim.attempt}.{number}" if is_shown(claim.game) else "",
            first=self.claim.first_slot(number),
            names_apart=self.kind.names_apart,
            wants_outcome=self.outcome_key is not None,
        )

    def sent_programs(self) -> Iterator[Program]:
        """Yield the programs that take part."""
        uploads = programs.sent(self.resources.objects, self.own_seats, self.hosting)
        return chain(uploads, self.guests.programs())

    def store_built(self, built: Built) -> None:
        """Store a program compiled by a player process."""
        programs.store_built(self.resources.objects, self.own_seats, built)


def refuse_unfit(task: Match, played: Played) -> None:
    """Raise Failure if a result does not fit its game.

    A program that escaped its sandbox might have written it.
    """
    keys = {task.keys.own, task.keys.viewed, task.keys.archive}
    names = [name for name, _ in played.replay.objects]
    if not (names and played.replay.key == names[0] and keys.issuperset(names)):
        raise Failure("the replay of a player has other keys than it was given")
    if len(played.slots) != len(task.spec.bots):
        raise Failure("the result of a player has another number of slots than its match")
