<?php

// A bot for End of Codes: attack a neighbour, else stay or wander. Rewrite choose.

declare(strict_types=1);

require_once __DIR__ . '/end_of_codes.php';

/** Attacks a random opponent next to it, else is idle or makes a random valid move. */
final class SampleBot extends Bot
{
    public string $botname = 'sample';
    public string $version = '1.0';

    /** Gives your intents, at most one for each of your living creatures. */
    public function choose(Game $game): array
    {
        $intents = array_map(fn ($creature) => $this->act($game, $creature), $game->mine());
        return array_values(array_filter($intents));
    }

    /** Chooses for one creature; null is idle. */
    private function act(Game $game, array $creature): ?array
    {
        [$targets, $ways] = [[], []];
        foreach (DIRECTIONS as $direction => [$dx, $dy]) {
            [$x, $y] = [$creature['x'] + $dx, $creature['y'] + $dy];
            $other = $game->at($x, $y);
            if ($other === null && $game->is_on_map($x, $y)) {
                $ways[] = $direction;
            } elseif ($other !== null && $other['userid'] !== $game->myid) {
                $targets[] = $direction;
            }
        }
        if ($targets) {
            return attack($creature, $targets[array_rand($targets)]);
        }
        return $ways && random_int(0, 1) ? move($creature, $ways[array_rand($ways)]) : null;
    }
}

run(new SampleBot());
