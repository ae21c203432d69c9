<?php

// A bot for AI Code Battle that gives random orders: rewrite choose.

declare(strict_types=1);

require_once __DIR__ . '/code_battle.php';

/** Lets one bot in five hold and sends the others anywhere. */
final class RandomBot extends Bot
{
    /** Gives your orders as [row, col, direction]; bots without one hold. */
    public function choose(CodeMatch $match, View $view): array
    {
        $movers = array_filter($view->mine(), fn () => random_int(1, 5) > 1);
        return array_values(array_map(fn ($tile) => [...$tile, array_rand(DIRECTIONS)], $movers));
    }
}

run(new RandomBot());
