<?php

// A bot for Circuit Wars that draws a random free segment: rewrite choose.

declare(strict_types=1);

require_once __DIR__ . '/circuit_wars.php';

/** Draws any free segment, each equally likely. */
final class RandomBot extends Bot
{
    /** Gives the free segment to draw, as [x, y, border]. */
    public function choose(Board $board, int $player): array
    {
        $free = $board->free_segments();
        return $free[array_rand($free)];
    }
}

run(new RandomBot());
