<?php

// AI Code Battle for bots: the signed web service, and the events that a bot answers.

declare(strict_types=1);

require_once __DIR__ . '/bot_server.php';

/** The step [drow, dcol] of each direction; row grows to the south. */
const DIRECTIONS = ['N' => [-1, 0], 'E' => [0, 1], 'S' => [1, 0], 'W' => [0, -1]];

/** Matches that are remembered; when one more comes, the oldest is forgotten. */
const MAX_MATCHES = 64;

/**
 * A match: $config holds rows, cols, max_turns, vision_radius2, attack_radius2, spawn_cost and
 * energy_interval; $memory is yours and lives as long as the match.
 */
final class CodeMatch
{
    public mixed $memory = null;

    /** @param array<string, int> $config */
    public function __construct(public readonly string $match_id, public readonly array $config)
    {
    }

    /**
     * Gives the tile one step away; the grid has no edges.
     *
     * @param array{int, int} $tile
     * @return array{int, int}
     */
    public function step(array $tile, string $direction): array
    {
        [$rows, $cols] = [$this->config['rows'], $this->config['cols']];
        [$down, $right] = DIRECTIONS[$direction];
        return [($tile[0] + $down + $rows) % $rows, ($tile[1] + $right + $cols) % $cols];
    }

    /**
     * Gives the squared distance of two tiles.
     *
     * @param array{int, int} $a
     * @param array{int, int} $b
     */
    public function distance2(array $a, array $b): int
    {
        [$down, $right] = [abs($a[0] - $b[0]), abs($a[1] - $b[1])];
        $down = min($down, $this->config['rows'] - $down);
        $right = min($right, $this->config['cols'] - $right);
        return $down * $down + $right * $right;
    }
}

/**
 * What you see in a turn; each list holds arrays with row and col.
 *
 * $bots and $dead have an owner (you are 0), $cores an owner and active; $energy are the nodes
 * that hold some, $walls the walls. $you has id, energy and score.
 */
final class View
{
    public readonly int $turn;
    public readonly array $you;
    public readonly array $bots;
    public readonly array $energy;
    public readonly array $cores;
    public readonly array $walls;
    public readonly array $dead;

    public function __construct(array $document)
    {
        $this->turn = $document['turn'];
        foreach (['you', 'bots', 'energy', 'cores', 'walls', 'dead'] as $name) {
            $this->$name = $document[$name] ?? [];
        }
    }

    /**
     * Gives the tiles of your bots.
     *
     * @return list<array{int, int}>
     */
    public function mine(): array
    {
        $mine = array_filter($this->bots, fn ($bot) => $bot['owner'] === 0);
        return array_values(array_map(fn ($bot) => [$bot['row'], $bot['col']], $mine));
    }
}

/** What you write: choose, and whichever of the other events you want to hear of. */
abstract class Bot
{
    /** Hears of a match for the first time. */
    public function on_start(CodeMatch $match): void
    {
    }

    /**
     * Gives your orders as [row, col, direction]; bots without one hold.
     *
     * @return list<array{int, int, string}>
     */
    abstract public function choose(CodeMatch $match, View $view): array;

    /** Hears that a match is forgotten, as too many others came after it. */
    public function on_end(CodeMatch $match): void
    {
    }
}

/** Serves the bot on PORT, 8080 by default, with the secret BOT_SECRET. */
function run(Bot $bot): never
{
    $secret = getenv('BOT_SECRET') ?: '';
    if ($secret === '') {
        fwrite(STDERR, "set BOT_SECRET to the secret of your bot, 64 hexadecimal digits\n");
        exit(1);
    }
    $service = new Service($bot, $secret);
    serve($service->handle(...), 8080);
}

final class Service
{
    /** @var array<string, CodeMatch> */
    private array $matches = [];

    public function __construct(private readonly Bot $bot, private readonly string $secret)
    {
    }

    public function handle(Request $request): Reply
    {
        $route = "$request->method $request->path";
        if ($route === 'GET /health') {
            return new Reply(200, '{"status":"ok"}');
        }
        if ($route !== 'POST /turn') {
            return new Reply(404);
        }
        if (!$this->is_signed($request->headers, $request->body)) {
            return new Reply(401);
        }
        $document = read_document($request->headers, $request->body);
        return $document === null ? new Reply(400) : $this->play($request->headers, $document);
    }

    private function sign(string $text, string $body): string
    {
        return hash_hmac('sha256', "$text." . hash('sha256', $body), $this->secret);
    }

    /** @param array<string, string> $headers */
    private function is_signed(array $headers, string $body): bool
    {
        $names = ['match-id', 'turn', 'timestamp', 'bot-id', 'signature'];
        [$match_id, $turn, $timestamp, $bot_id, $signature] = array_map(
            fn ($name) => $headers["x-acb-$name"] ?? '',
            $names,
        );
        if ($match_id === '' || $bot_id === '' || !is_decimal($turn) || !is_decimal($timestamp)) {
            return false;
        }
        if (abs(time() - (int) $timestamp) > 30) {
            return false;
        }
        return hash_equals($this->sign("$match_id.$turn.$timestamp", $body), $signature);
    }

    /** @param array<string, string> $headers */
    private function play(array $headers, array $document): Reply
    {
        $match = $this->find($document);
        $started = microtime(true);
        $orders = $this->bot->choose($match, new View($document));
        $milliseconds = number_format((microtime(true) - $started) * 1000, 1, '.', '');
        fwrite(STDERR, "turn {$document['turn']} $milliseconds ms " . count($orders) . " moves\n");
        $names = ['row', 'col', 'direction'];
        $moves = array_map(fn ($order) => array_combine($names, $order), $orders);
        $body = json_encode(['moves' => $moves], JSON_THROW_ON_ERROR);
        $signature = $this->sign("{$headers['x-acb-match-id']}.{$headers['x-acb-turn']}", $body);
        return new Reply(200, $body, ['X-ACB-Signature' => $signature]);
    }

    private function find(array $document): CodeMatch
    {
        $match_id = $document['match_id'];
        if (isset($this->matches[$match_id])) {
            return $this->matches[$match_id];
        }
        $match = $this->matches[$match_id] = new CodeMatch($match_id, $document['config'] ?? []);
        if (count($this->matches) > MAX_MATCHES) {
            $this->bot->on_end(array_shift($this->matches));
        }
        $this->bot->on_start($match);
        return $match;
    }
}

function is_decimal(string $text): bool
{
    return preg_match('/^[0-9]{1,18}$/D', $text) === 1;
}

/**
 * Reads the body; null if it is no JSON object or of another match or turn than the headers.
 *
 * @param array<string, string> $headers
 */
function read_document(array $headers, string $body): ?array
{
    $document = json_decode($body, true);
    $same = is_array($document)
        && ($document['match_id'] ?? null) === $headers['x-acb-match-id']
        && ($document['turn'] ?? null) === (int) $headers['x-acb-turn'];
    return $same ? $document : null;
}
