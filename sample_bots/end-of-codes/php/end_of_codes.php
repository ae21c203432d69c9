<?php

// End of Codes for bots: the web service, the map, and the events that a bot answers.

declare(strict_types=1);

require_once __DIR__ . '/bot_server.php';

/** The step [dx, dy] of each direction; y grows to the north. */
const DIRECTIONS = ['north' => [0, 1], 'east' => [1, 0], 'south' => [0, -1], 'west' => [-1, 0]];

/** Games that are remembered; when one more comes, the oldest is forgotten. */
const MAX_GAMES = 64;

/**
 * A game, as it stands in this round.
 *
 * $creatures are arrays with creatureid, userid, x, y and hp, the dead ones too; $players arrays
 * with userid and username. $memory is yours and lives as long as the game. $M and $MAX_HP are 0
 * if the game began before this program.
 */
final class Game
{
    public int $myid = 0;
    public int $round = 0;
    public int $W = 0;
    public int $H = 0;
    public int $M = 0;
    public int $MAX_HP = 0;
    /** @var list<array{userid: int, username: string}> */
    public array $players = [];
    /** @var list<array<string, int>> */
    public array $creatures = [];
    public mixed $memory = null;
    /** @var array<int, array<string, int>> */
    private array $living = [];

    public function __construct(public readonly int $gameid)
    {
    }

    /**
     * Takes over the map of a round.
     *
     * @param list<array<string, int>> $creatures
     */
    public function update(array $creatures): void
    {
        $this->creatures = $creatures;
        $this->living = [];
        foreach ($creatures as $creature) {
            if ($creature['hp'] > 0) {
                $this->living[$creature['y'] * $this->W + $creature['x']] = $creature;
            }
        }
    }

    /**
     * Gives your living creatures.
     *
     * @return list<array<string, int>>
     */
    public function mine(): array
    {
        return array_values(array_filter($this->living, fn ($each) => $each['userid'] === $this->myid));
    }

    /**
     * Gives the living creature in a cell, or null.
     *
     * @return array<string, int>|null
     */
    public function at(int $x, int $y): ?array
    {
        return $this->is_on_map($x, $y) ? $this->living[$y * $this->W + $x] ?? null : null;
    }

    /** Tells whether there is such a cell. */
    public function is_on_map(int $x, int $y): bool
    {
        return 0 <= $x && $x < $this->W && 0 <= $y && $y < $this->H;
    }

    /** Counts the players that have a living creature. */
    public function owners_alive(): int
    {
        return count(array_unique(array_column($this->living, 'userid')));
    }
}

/** What you write: choose, and whichever of the other events you want to hear of. */
abstract class Bot
{
    public string $botname = 'sample';
    public string $version = '1.0';

    /** Hears that a game begins; there are no creatures yet. */
    public function on_start(Game $game): void
    {
    }

    /**
     * Gives your intents, at most one for each of your living creatures.
     *
     * @return list<array{creatureid: int, action: string, direction: string}>
     */
    abstract public function choose(Game $game): array;

    /** Hears that a game is over; $game shows how it ended. */
    public function on_end(Game $game): void
    {
    }
}

/**
 * Gives the intent to move a creature.
 *
 * @param array<string, int> $creature
 */
function move(array $creature, string $direction): array
{
    return ['creatureid' => $creature['creatureid'], 'action' => 'move', 'direction' => $direction];
}

/**
 * Gives the intent to attack with a creature.
 *
 * @param array<string, int> $creature
 */
function attack(array $creature, string $direction): array
{
    return ['creatureid' => $creature['creatureid'], 'action' => 'attack', 'direction' => $direction];
}

/** Serves the bot on PORT, 8801 by default, as BOT_USERNAME; API_KEY is asked for if it is set. */
function run(Bot $bot): never
{
    $service = new Service($bot, getenv('BOT_USERNAME') ?: 'sample', getenv('API_KEY') ?: '');
    serve($service->handle(...), 8801);
}

final class Service
{
    /** @var array<int, Game> */
    private array $games = [];

    public function __construct(
        private readonly Bot $bot,
        private readonly string $username,
        private readonly string $api_key,
    ) {
    }

    public function handle(Request $request): Reply
    {
        try {
            return reply(200, $this->dispatch($request));
        } catch (Refusal $refusal) {
            return reply($refusal->status, ['error' => $refusal->getMessage()]);
        }
    }

    private function dispatch(Request $request): array
    {
        return match ("$request->method $request->path") {
            'GET /bot' => $this->identify($request->query),
            'POST /game' => $this->start($this->form($request)),
            'POST /round' => $this->play($this->form($request)),
            default => throw new Refusal(404, "there is no $request->method $request->path"),
        };
    }

    /** @param array<string, string> $fields */
    private function check_key(array $fields): void
    {
        if ($this->api_key !== '' && !hash_equals($this->api_key, $fields['api_key'] ?? '')) {
            throw new Refusal(401, 'wrong api_key');
        }
    }

    /** @param array<string, string> $query */
    private function identify(array $query): array
    {
        $this->check_key($query);
        return [
            'botname' => $this->bot->botname,
            'version' => $this->bot->version,
            'username' => $this->username,
        ];
    }

    /** @return array<string, string> */
    private function form(Request $request): array
    {
        $fields = read_form($request->headers['content-type'] ?? '', $request->body);
        $this->check_key($fields);
        if (($fields['method'] ?? '') !== 'create') {
            throw new Refusal(400, 'method must be create');
        }
        return $fields;
    }

    /** @param array<string, string> $fields */
    private function start(array $fields): array
    {
        $game = new Game(read_integer($fields, 'gameid'));
        $game->W = read_integer($fields, 'W');
        $game->H = read_integer($fields, 'H');
        $game->M = read_integer($fields, 'M');
        $game->MAX_HP = read_integer($fields, 'MAX_HP');
        $game->players = read_list($fields, 'players');
        $this->remember($game);
        $this->bot->on_start($game);
        return [];
    }

    /** @param array<string, string> $fields */
    private function play(array $fields): array
    {
        $names = ['round', 'myid', 'W', 'H', 'gameid'];
        [$round, $myid, $W, $H, $gameid] = array_map(fn ($name) => read_integer($fields, $name), $names);
        $creatures = read_list($fields, 'map');
        if (!are_creatures($creatures)) {
            throw new Refusal(400, 'map must be a list of creatures');
        }
        $game = $this->find($gameid);
        [$game->round, $game->myid, $game->W, $game->H] = [$round, $myid, $W, $H];
        $game->update($creatures);
        if ($game->owners_alive() < 2) {
            $this->forget($gameid);
            return ['intent' => []];
        }
        return ['intent' => $game->mine() ? $this->bot->choose($game) : []];
    }

    /** Gives the game; one that began before this program is made here. */
    private function find(int $gameid): Game
    {
        if (!isset($this->games[$gameid])) {
            $this->remember(new Game($gameid));
        }
        return $this->games[$gameid];
    }

    private function remember(Game $game): void
    {
        $this->forget($game->gameid);
        $this->games[$game->gameid] = $game;
        if (count($this->games) > MAX_GAMES) {
            $this->forget(array_key_first($this->games));
        }
    }

    private function forget(int $gameid): void
    {
        $game = $this->games[$gameid] ?? null;
        unset($this->games[$gameid]);
        if ($game !== null) {
            $this->bot->on_end($game);
        }
    }
}

function reply(int $status, array $document): Reply
{
    return new Reply($status, json_encode($document, JSON_THROW_ON_ERROR));
}

/** @return array<string, string> */
function read_form(string $type, string $body): array
{
    $kind = strtolower(trim(explode(';', $type)[0]));
    if ($kind === 'application/x-www-form-urlencoded') {
        return read_urlencoded($body);
    }
    $found = preg_match('/boundary=(?:"([^"]+)"|([^;\s]+))/i', $type, $boundary);
    if ($kind === 'multipart/form-data' && $found) {
        return read_multipart($boundary[2] ?? $boundary[1], $body);
    }
    throw new Refusal(400, 'the body is not a form');
}

/** @return array<string, string> */
function read_urlencoded(string $body): array
{
    $fields = [];
    foreach (explode('&', $body) as $pair) {
        [$name, $value] = explode('=', $pair, 2) + [1 => ''];
        $fields[urldecode($name)] = urldecode($value);
    }
    return $fields;
}

/** @return array<string, string> */
function read_multipart(string $boundary, string $body): array
{
    $fields = [];
    foreach (array_slice(explode("\r\n--$boundary", "\r\n$body"), 1) as $part) {
        [$head, $value] = explode("\r\n\r\n", $part, 2) + [1 => ''];
        if (preg_match('/name="([^"]*)"/', $head, $name)) {
            $fields[$name[1]] = $value;
        }
    }
    return $fields;
}

/** @param array<string, string> $fields */
function read_integer(array $fields, string $name): int
{
    $text = $fields[$name] ?? '';
    if (!preg_match('/^[0-9]{1,9}$/D', $text)) {
        throw new Refusal(400, "$name must be an integer");
    }
    return (int) $text;
}

/** @param array<string, string> $fields */
function read_list(array $fields, string $name): array
{
    $text = $fields[$name] ?? '';
    $list = json_decode($text, true);
    if (!is_array($list) || !str_starts_with(ltrim($text), '[')) {
        throw new Refusal(400, "$name must be a JSON list");
    }
    return $list;
}

function are_creatures(array $said): bool
{
    foreach ($said as $creature) {
        foreach (['creatureid', 'userid', 'x', 'y', 'hp'] as $name) {
            if (!is_array($creature) || !is_int($creature[$name] ?? null)) {
                return false;
            }
        }
    }
    return true;
}
