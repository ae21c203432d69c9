<?php

// A bot for Hexagon that makes a random legal move: rewrite choose.

declare(strict_types=1);

require_once __DIR__ . '/hexagon.php';

/** Makes any legal move, each equally likely. */
final class RandomBot extends Bot
{
    /** Gives your move, as [move_from, move_to]. */
    public function choose(Board $board, int $color, int $jumps): array
    {
        $moves = $board->legal_moves($color);
        return $moves[array_rand($moves)];
    }
}

run(new RandomBot());
