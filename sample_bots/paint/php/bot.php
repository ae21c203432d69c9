<?php

// A bot for Paint that takes any of the 16 actions: rewrite choose.
// Standard output belongs to the referee: print with fwrite(STDERR, ...).

declare(strict_types=1);

require_once __DIR__ . '/paint.php';

/** Takes any of the 16 actions, each equally likely. */
final class RandomBot extends Bot
{
    /** Gives your action, as [type, direction]. */
    public function choose(State $state): array
    {
        $actions = actions();
        return $actions[array_rand($actions)];
    }
}

run(new RandomBot());
