<?php

// Circuit Wars for bots: the loop that plays a game over HTTP, the board, and its events.

declare(strict_types=1);

ini_set('display_errors', 'stderr');

/** The bit of each side of a square. */
const BORDERS = ['top' => 1, 'right' => 2, 'bottom' => 4, 'left' => 8];

/** The board: $squares[$y][$x] has a bit for each drawn side, 16 or 32 if player 1 or 2 owns it. */
final class Board
{
    public readonly int $size;

    /** @param list<list<int>> $squares */
    public function __construct(public readonly array $squares)
    {
        $this->size = count($squares);
    }

    /** Tells whether this side of the square is drawn. */
    public function has_border(int $x, int $y, string $border): bool
    {
        return ($this->squares[$y][$x] & BORDERS[$border]) !== 0;
    }

    /** Tells who owns the square: 0 nobody, 1 or 2. */
    public function owner(int $x, int $y): int
    {
        return $this->squares[$y][$x] >> 4;
    }

    /**
     * Gives every free segment once, as [x, y, border].
     *
     * @return list<array{int, int, string}>
     */
    public function free_segments(): array
    {
        $found = [];
        for ($y = 0; $y < $this->size; $y++) {
            for ($x = 0; $x < $this->size; $x++) {
                foreach ($this->owner($x, $y) ? [] : $this->own_sides($x, $y) as $border) {
                    if (!$this->has_border($x, $y, $border)) {
                        $found[] = [$x, $y, $border];
                    }
                }
            }
        }
        return $found;
    }

    /**
     * Names the sides of a square that no square to the right or below names too.
     *
     * @return list<string>
     */
    private function own_sides(int $x, int $y): array
    {
        $last = $this->size - 1;
        return ['top', 'left', ...($x === $last ? ['right'] : []), ...($y === $last ? ['bottom'] : [])];
    }
}

/** What you write: choose, and whichever of the other events you want to hear of. */
abstract class Bot
{
    /** Hears that you are player 1 or 2. */
    public function on_start(int $player): void
    {
    }

    /**
     * Gives the free segment to draw, as [x, y, border].
     *
     * @return array{int, int, string}
     */
    abstract public function choose(Board $board, int $player): array;

    /** Hears how the game ended. */
    public function on_end(array $status): void
    {
    }
}

/** Registers at CW_SERVER as the team of the command line or TEAM_ID, and plays one game. */
function run(Bot $bot): never
{
    if (function_exists('pcntl_signal')) {
        pcntl_async_signals(true);
        pcntl_signal(SIGTERM, fn () => exit(0));
        pcntl_signal(SIGINT, fn () => exit(0));
    }
    $team = $_SERVER['argv'][1] ?? (getenv('TEAM_ID') ?: 'sample');
    $answer = ask("reg/$team");
    if (($answer['response'] ?? '') !== 'OK') {
        leave("not registered as $team: " . ($answer['message'] ?? $answer['error'] ?? ''));
    }
    $player = $answer['player'];
    fwrite(STDOUT, "$team is player $player. Watch the game at " . server() . "/\n");
    $bot->on_start($player);
    $status = play($bot, $team, $player);
    $bot->on_end($status);
    fwrite(STDOUT, "{$status['status']}, {$status['score_1']} to {$status['score_2']}.\n");
    fwrite(STDOUT, winner($status['status_code']) === $player ? "You won.\n" : "You lost.\n");
    exit(0);
}

/** Tells who won: 301 is a win of player 1, 401 and 501 are a loss. */
function winner(int $status_code): int
{
    return $status_code < 400 ? $status_code % 10 : 3 - $status_code % 10;
}

function play(Bot $bot, string $team, int $player): array
{
    do {
        pause();
        $status = ask('status');
        if ($status['status_code'] === 200 + $player) {
            $segment = $bot->choose(new Board($status['board']), $player);
            pause();
            $status = ask("move/$team/" . implode(',', $segment));
        }
    } while ($status['status_code'] < 300);
    return $status;
}

function pause(): void
{
    $pause = getenv('CW_PAUSE');
    usleep((int) (1_000_000 * (float) ($pause === false || $pause === '' ? 0.2 : $pause)));
}

function server(): string
{
    return rtrim(getenv('CW_SERVER') ?: 'http://127.0.0.1:5000', '/');
}

/** Requests a route and gives its JSON; exits with a message if there is none. */
function ask(string $path): array
{
    $started = microtime(true);
    $options = ['http' => ['ignore_errors' => true, 'timeout' => 10]];
    $body = @file_get_contents(server() . "/$path", false, stream_context_create($options));
    if ($body === false) {
        leave('there is no server at ' . server() . ': ' . (error_get_last()['message'] ?? ''));
    }
    $status = explode(' ', $http_response_header[0])[1];
    $milliseconds = number_format((microtime(true) - $started) * 1000, 1, '.', '');
    fwrite(STDERR, "GET /$path $status $milliseconds ms\n");
    $document = json_decode($body, true);
    if (!is_array($document)) {
        leave('the server at ' . server() . " did not answer /$path with JSON");
    }
    return $document;
}

function leave(string $message): never
{
    fwrite(STDERR, "$message\n");
    exit(1);
}
