"""Defects of the games, of contests, and of drawings."""

from __future__ import annotations

from typing import Final

from tests.defects.defect import defect

GAMES: Final = (
    defect(
        "cw/games/hexagon/rules/__init__.py",
        "placed[index] % 2 == 0",
        "placed[index] % 2 == 1",
        "A jump is earned by the first multiplication of two.",
        "games/hexagon",
    ),
    defect(
        "cw/games/hexagon/rules/__init__.py",
        "for mover in (color, 3 - color):",
        "for mover in (color,):",
        "A battle ends when one colour cannot move.",
        "games/hexagon",
    ),
    defect(
        "cw/games/circuit_wars/rules.py",
        "winner=(1 if scores[0] > scores[1] else 2)",
        "winner=(1 if scores[0] < scores[1] else 2)",
        "The player with fewer squares wins.",
        "games/circuit_wars/test_rules.py",
    ),
    defect(
        "cw/games/circuit_wars/rules.py",
        'raise OutOfTurn(f"it is player {state.player}',
        'OutOfTurn(f"it is player {state.player}',
        "A player may move in the turn of the other one.",
        "games/circuit_wars",
        "test_every_game.py",
    ),
    defect(
        "cw/games/paint/rules/turn.py",
        "and (shot.row, shot.col) not in painted",
        "",
        "A shot passes avatars and fresh paint.",
        "games/paint",
    ),
    defect(
        "cw/games/paint/rules/turn.py",
        "            if state.is_free((row + down, col + right)):",
        "            if True:",
        "Avatars walk through obstacles, and off the board.",
        "games/paint",
    ),
    defect(
        "cw/games/end_of_codes/rules/resolution.py",
        " & (state.owners[victims] != state.owners[attacks.who])",
        "",
        "Creatures hit those of their own player.",
        "games/end_of_codes",
    ),
    defect(
        "cw/games/end_of_codes/rules/resolution.py",
        "crowded = counts[y[movers] * width + x[movers]] > 1",
        "crowded = counts[y[movers] * width + x[movers]] > 2",
        "Two living creatures may share a cell.",
        "games/end_of_codes",
    ),
    defect(
        "cw/games/end_of_codes/rules/__init__.py",
        "if state.round >= state.max_rounds else None",
        "if state.round > state.max_rounds else None",
        "A game has one round too many.",
        "games/end_of_codes",
    ),
    defect(
        "cw/games/code_battle/rules/turn.py",
        "if len(enemies[enemy]) <= len(near)}",
        "if len(enemies[enemy]) < len(near)}",
        "In an even fight nobody dies.",
        "games/code_battle",
    ),
    defect(
        "cw/games/code_battle/rules/turn.py",
        "5 * bots[slot] >= 4 * total",
        "5 * bots[slot] > 4 * total",
        "Four fifths of all bots do not dominate.",
        "games/code_battle",
    ),
    defect(
        "cw/games/code_battle/rules/turn.py",
        "(core.owner, core.last_spawn, core.id, number)",
        "(core.owner, core.id, core.last_spawn, number)",
        "Bots are made at the first core, not at the longest idle one.",
        "games/code_battle",
    ),
    defect(
        "cw/games/code_battle/protocol.py",
        'if not hmac.compare_digest(sent_signature.encode(errors="replace"), expected.encode()):',
        "if len(sent_signature) != len(expected):",
        "Any signature of the right length is taken.",
        "games/code_battle/test_code_battle_protocol.py",
    ),
    defect(
        "cw/games/wire.py",
        "> DEEPEST and is_deep(value, DEEPEST):",
        "> DEEPEST and False:",
        "Answers of bots may be nested as deeply as they like.",
        "games/test_wire.py",
    ),
)

LEAGUE: Final = (
    defect(
        "cw/league/bracket.py",
        'return replace(tie, winner=ahead, reason="score ratio")',
        'return replace(tie, winner=next(t for t in teams if t != ahead), reason="score ratio")',
        "The worse score ratio decides a tie.",
        "league/test_bracket.py",
    ),
    defect(
        "cw/league/bracket.py",
        "if above != (number in upper))",
        "if above == (number in upper))",
        "Two teams of a group meet before the final.",
        "league/test_bracket.py",
    ),
    defect(
        "cw/league/standings.py",
        "equal[merit(team, record), record.ratio].append(team)",
        "equal[record.ratio, merit(team, record)].append(team)",
        "Score ratio counts before wins.",
        "league/test_standings.py",
    ),
    defect(
        "cw/league/standings.py",
        "wins = sum(other > rank for other in result.ranks)",
        "wins = sum(other >= rank for other in result.ranks) - 1",
        "Draws count as wins.",
        "league/test_standings.py",
    ),
    defect(
        "cw/league/statistics/glicko2.py",
        "return Rating(rating.mu, SCALE * sqrt(deviation**2 + rating.sigma**2), rating.sigma)",
        "return rating",
        "A rating stays as sure as it was, however long its bot rests.",
        "league/statistics/test_glicko2.py",
    ),
    defect(
        "cw/league/statistics/glicko2.py",
        "return mu - 2 * phi",
        "return mu",
        "A rating is shown as if it were sure.",
        "league/statistics/test_glicko2.py",
    ),
    defect(
        "cw/league/matchmaking.py",
        "(crash_streak < CRASHES or rested >= CRASH_REST)",
        "(crash_streak <= CRASHES or rested >= CRASH_REST)",
        "A bot rests after the fourth crash in a row, not after the third.",
        "league/test_matchmaking.py",
    ),
    defect(
        "cw/league/matchmaking.py",
        " if self._owner_of(candidate) not in owners]",
        "]",
        "Two bots of one owner meet.",
        "league/test_matchmaking.py",
    ),
)

SUITE: Final = (
    defect(
        "cw/suite/document_checks.py",
        "    if not 0 < len(sentence) < LONGEST",
        "    if False and not 0 < len(sentence) < LONGEST",
        "A game may refuse a document with half a page.",
        "suite/test_document_checks.py",
    ),
)

DRAWN: Final = (
    defect(
        "cw/drawing/terminal.py",
        "return COLORS[number % len(COLORS)]",
        "return COLORS[0]",
        "All players have one colour in the terminal.",
        "drawing/test_terminal.py",
    ),
    defect(
        "cw/pictures/svg.py",
        'f"{escape(text)}</text>"',
        'f"{text}</text>"',
        "A name with a tag in it becomes a tag of the picture.",
        "pictures",
    ),
    defect(
        "cw/visible.py",
        r'r"[\x00-\x08\x0b-\x1f\x7f-\x9f"',
        r'r"[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f"',
        "A terminal obeys the escape sequences of bots.",
        "test_visible.py",
    ),
    defect(
        "cw/envs/environments.py",
        "if not self._waiting():",
        "if True:",
        "A turn is played before all agents have acted.",
        "envs",
    ),
    defect(
        "cw/envs/environments.py",
        "        self.rewards = self.game.rewards()",
        "        pass",
        "At the end no agent is rewarded.",
        "envs",
    ),
    defect(
        "static/viewer/stage.js",
        "textContent: text });",
        "innerHTML: text });",
        "The viewer takes the texts of others for HTML.",
        "test_scripts_of_pages.py",
    ),
)
