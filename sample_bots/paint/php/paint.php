<?php

// Paint for bots: the conversation over standard input and output, and its events.

declare(strict_types=1);

ini_set('display_errors', 'stderr');

/** The eight directions [drow, dcol]; row grows downward. */
const DIRECTIONS = [[-1, -1], [-1, 0], [-1, 1], [0, -1], [0, 1], [1, -1], [1, 0], [1, 1]];

/**
 * The board of a turn: $colors[$row][$col] is a player id or null, $player_id is yours.
 *
 * $player_positions gives the square [row, col] of each id; $turns_left counts this turn too;
 * $previous_actions holds one array a turn, the oldest first; $obstacles are squares.
 */
final class State
{
    public readonly int $turns_left;
    public readonly int $width;
    public readonly int $height;
    public readonly array $player_positions;
    public readonly array $colors;
    public readonly array $previous_actions;
    public readonly array $obstacles;

    /** Reads a message; raises TypeError if it is none. */
    public function __construct(public readonly string $player_id, array $document)
    {
        $this->turns_left = $document['turns_left'] ?? null;
        $this->width = $document['width'] ?? null;
        $this->height = $document['height'] ?? null;
        $this->player_positions = $document['player_positions'] ?? null;
        $this->colors = $document['colors'] ?? null;
        $this->previous_actions = $document['previous_actions'] ?? [];
        $this->obstacles = $document['obstacles'] ?? [];
    }

    /**
     * Gives the square of your avatar.
     *
     * @return array{int, int}
     */
    public function position(): array
    {
        return $this->player_positions[$this->player_id];
    }

    /** Tells whether a square is on the board and no obstacle. */
    public function is_free(int $row, int $col): bool
    {
        $on_board = 0 <= $row && $row < $this->height && 0 <= $col && $col < $this->width;
        return $on_board && !in_array([$row, $col], $this->obstacles, true);
    }
}

/** What you write: choose, and whichever of the other events you want to hear of. */
abstract class Bot
{
    /** Hears who you are; there are 5 s until you must be ready. */
    public function on_start(string $player_id): void
    {
    }

    /**
     * Gives your action, as [type, direction]; there is 0.5 s for it.
     *
     * @return array{string, array{int, int}}
     */
    abstract public function choose(State $state): array;

    /** Hears that the game is over. */
    public function on_end(): void
    {
    }
}

/**
 * Gives the 16 actions, as [type, direction].
 *
 * @return list<array{string, array{int, int}}>
 */
function actions(): array
{
    $walks = array_map(fn ($direction) => ['walk', $direction], DIRECTIONS);
    return [...$walks, ...array_map(fn ($direction) => ['shoot', $direction], DIRECTIONS)];
}

/** Plays until the referee closes our input. */
function run(Bot $bot): never
{
    if (function_exists('pcntl_signal')) {
        pcntl_async_signals(true);
        pcntl_signal(SIGTERM, fn () => exit(0));
        pcntl_signal(SIGINT, fn () => exit(0));
    }
    $player_id = '';
    while (($line = next_line()) !== false) {
        $started = microtime(true);
        $message = json_decode($line, true);
        if (is_array($message) && is_string($message['player_id'] ?? null)) {
            $player_id = $message['player_id'];
            $bot->on_start($player_id);
            send(['ready' => true], "ready as $player_id", $started);
        } elseif ($state = read_state($player_id, $message)) {
            take_turn($bot, $state, $started);
        } elseif (trim($line) !== '') {
            log_line('skipped an unreadable line');
        }
    }
    $bot->on_end();
    exit(0);
}

/** Waits for a line with select: a read would not let the handlers of signals run. */
function next_line(): string|false
{
    do {
        [$read, $write, $except] = [[STDIN], null, null];
    } while (!@stream_select($read, $write, $except, 1));
    return fgets(STDIN);
}

function read_state(string $player_id, mixed $message): ?State
{
    try {
        return is_array($message) ? new State($player_id, $message) : null;
    } catch (TypeError) {
        return null;
    }
}

function take_turn(Bot $bot, State $state, float $started): void
{
    [$type, $direction] = $bot->choose($state);
    $answer = ['turns_left' => $state->turns_left, 'type' => $type, 'direction' => $direction];
    $text = "turns_left $state->turns_left: $type [" . implode(',', $direction) . ']';
    send($answer, $text, $started);
}

function send(array $message, string $text, float $started): void
{
    $milliseconds = number_format((microtime(true) - $started) * 1000, 1, '.', '');
    log_line("$text $milliseconds ms");
    fwrite(STDOUT, json_encode($message, JSON_THROW_ON_ERROR) . "\n");
    fflush(STDOUT);
}

/** Writes to standard error: standard output belongs to the referee. */
function log_line(string $text): void
{
    fwrite(STDERR, "$text\n");
}
