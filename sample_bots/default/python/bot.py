"""A random bot for any game that uses the default protocol: rewrite `choose`.

Standard output belongs to the referee: print to standard error (`file=sys.stderr`).
"""

from __future__ import annotations

import random

from arena import Bot, Question, run


class RandomBot(Bot):
    """Takes any of the actions that the question offers, each equally likely."""

    def choose(self, question: Question) -> object:
        """Give your action."""
        return random.choice(question.actions)


if __name__ == "__main__":
    run(RandomBot)
