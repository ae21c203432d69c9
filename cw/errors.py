"""Every error that the arena raises on purpose, on one page."""


class ArenaError(Exception):
    """Something came that cannot be used; the message says what, why and what to do."""


class ProtocolError(ArenaError):
    """A message or a document that cannot be read as what it should be."""


class IllegalAction(ArenaError):
    """An action that the rules do not allow in this position."""


class OutOfTurn(IllegalAction):
    """An action by a player who does not owe one now."""


class UsageError(ArenaError):
    """A request that is understood and not granted: a bad option, a seat that is not free."""


class UnfitProgram(UsageError):
    """A bot's program that cannot be started as it is: not there, or its folder holds too much."""


class Abandoned(ArenaError):
    """A match that ends without a result, because somebody has left it."""


class InvalidTeamId(UsageError):
    """A team id of the wrong form."""


class TeamIdTaken(UsageError):
    """A team id that another team of this game already bears."""


class GameStarted(UsageError):
    """A registration that comes when both seats are taken."""


class UnknownTeam(UsageError):
    """A move by a team that is not registered in this game."""
