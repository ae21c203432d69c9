"""All that a format of competitions is made of; `hub/docs/add-a-format.md` builds one from it.

`competitions` finds, locks and changes competitions; `planning` creates matches.
"""

from cw_hub.bots.service import BotView
from cw_hub.competitions import service as competitions
from cw_hub.competitions.format import BotPart, Format, Leader, NewCompetition, NewsItem
from cw_hub.competitions.forms import SettingField
from cw_hub.competitions.service import CompetitionFacts
from cw_hub.matches import planning
from cw_hub.matches.lookup import views_of
from cw_hub.matches.match_types import MatchPart, MatchTypes, MatchView
from cw_hub.matches.pages import shown_kinds
from cw_hub.matches.planning import Plan, Seat
from cw_hub.matches.results import OPEN, BattleResult, Claim
from cw_hub.pages.layout import address_of, part_of_page
from cw_hub.pages.request import one_reading
from cw_hub.store.database import Session
from cw_hub.store.models import Bot, Competition, Match, MatchParticipant

__all__ = [
    "OPEN",
    "BattleResult",
    "Bot",
    "BotPart",
    "BotView",
    "Claim",
    "Competition",
    "CompetitionFacts",
    "Format",
    "Leader",
    "Match",
    "MatchPart",
    "MatchParticipant",
    "MatchTypes",
    "MatchView",
    "NewCompetition",
    "NewsItem",
    "Plan",
    "Seat",
    "Session",
    "SettingField",
    "address_of",
    "competitions",
    "one_reading",
    "part_of_page",
    "planning",
    "shown_kinds",
    "views_of",
]
