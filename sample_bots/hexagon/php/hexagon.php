<?php

// Hexagon for bots: the web service, the board, and the events that a bot answers.

declare(strict_types=1);

require_once __DIR__ . '/bot_server.php';

/** Games that are remembered; when one more comes, the oldest is forgotten. */
const MAX_GAMES = 64;

/** Steps [di, dj] by distance, for even rows and for odd rows. */
const OFFSETS = [
    1 => [
        [[-1, -1], [-1, 0], [0, -1], [0, 1], [1, -1], [1, 0]],
        [[-1, 0], [-1, 1], [0, -1], [0, 1], [1, 0], [1, 1]],
    ],
    2 => [
        [
            [-2, -1], [-2, 0], [-2, 1], [-1, -2], [-1, 1], [0, -2],
            [0, 2], [1, -2], [1, 1], [2, -1], [2, 0], [2, 1],
        ],
        [
            [-2, -1], [-2, 0], [-2, 1], [-1, -1], [-1, 2], [0, -2],
            [0, 2], [1, -1], [1, 2], [2, -1], [2, 0], [2, 1],
        ],
    ],
];

/**
 * A game: $cells[$i][$j] is -1 stone, 0 empty, 1 or 2 a chip of that colour.
 *
 * $jumps[$color] is how many jumps a colour may make now, $placed[$color] how many chips it has
 * placed; $memory is yours and lives as long as the game. A clone is an independent board, to try
 * moves on.
 */
final class Board
{
    public readonly int $size;
    /** @var array<int, int> */
    public array $placed = [1 => 0, 2 => 0];
    public mixed $memory = null;

    /**
     * @param list<list<int>> $cells
     * @param array<int, int> $jumps
     */
    public function __construct(public readonly string $id, public array $cells, public array $jumps)
    {
        $this->size = intdiv(count($cells) + 1, 2);
        foreach (array_merge(...$cells) as $value) {
            if ($value > 0) {
                $this->placed[$value] += 1;
            }
        }
    }

    /**
     * Gives the cells of the array at distance 1 or 2.
     *
     * @param array{int, int} $cell
     * @return list<array{int, int}>
     */
    public function neighbours(array $cell, int $distance): array
    {
        $near = [];
        foreach (OFFSETS[$distance][$cell[0] % 2] as [$down, $right]) {
            if (isset($this->cells[$cell[0] + $down][$cell[1] + $right])) {
                $near[] = [$cell[0] + $down, $cell[1] + $right];
            }
        }
        return $near;
    }

    /**
     * Gives all moves of a colour, as [move_from, move_to].
     *
     * @return list<array{array{int, int}, array{int, int}}>
     */
    public function legal_moves(int $color): array
    {
        $moves = [];
        foreach ($this->cells as $i => $row) {
            foreach (array_keys($row, $color, true) as $j) {
                foreach ($this->targets([$i, $j], $color) as $target) {
                    $moves[] = [[$i, $j], $target];
                }
            }
        }
        return $moves;
    }

    /**
     * @param array{int, int} $cell
     * @return list<array{int, int}>
     */
    private function targets(array $cell, int $color): array
    {
        $near = $this->neighbours($cell, 1);
        $all = $this->jumps[$color] > 0 ? [...$near, ...$this->neighbours($cell, 2)] : $near;
        return array_values(array_filter($all, fn ($to) => $this->cells[$to[0]][$to[1]] === 0));
    }

    /**
     * Makes a legal move; gives what it changed, as [i, j, old, new].
     *
     * @param array{array{int, int}, array{int, int}} $move
     * @return list<array{int, int, int, int}>
     */
    public function play(int $color, array $move): array
    {
        [$from, $to] = $move;
        $changes = [[...$to, 0, $color]];
        if (in_array($to, $this->neighbours($from, 1), true)) {
            $this->placed[$color] += 1;
            $this->jumps[$color] += $this->placed[$color] % 2 === 0 ? 1 : 0;
        } else {
            $this->jumps[$color] -= 1;
            array_unshift($changes, [...$from, $color, 0]);
        }
        foreach ($this->neighbours($to, 1) as [$i, $j]) {
            if ($this->cells[$i][$j] === 3 - $color) {
                $changes[] = [$i, $j, 3 - $color, $color];
            }
        }
        $this->write($changes);
        return $changes;
    }

    /**
     * Writes changes to the cells.
     *
     * @param list<array{int, int, int, int}> $changes
     */
    public function write(array $changes): void
    {
        foreach ($changes as [$i, $j, , $new]) {
            $this->cells[$i][$j] = $new;
        }
    }
}

/** What you write: choose, and whichever of the other events you want to hear of. */
abstract class Bot
{
    /** Hears that a game begins, and which colour is yours. */
    public function on_start(Board $board, int $color, bool $training): void
    {
    }

    /**
     * Gives your move, as [move_from, move_to]; $jumps is how many jumps you have.
     *
     * @return array{array{int, int}, array{int, int}}
     */
    abstract public function choose(Board $board, int $color, int $jumps): array;

    /**
     * Hears what a move has changed, yours or the opponent's; it is on the board already.
     *
     * @param list<array{int, int, int, int}> $changes
     */
    public function on_changes(Board $board, array $changes): void
    {
    }

    /** Hears that a game is over. */
    public function on_end(Board $board): void
    {
    }
}

/** Serves the bot on PORT, 3000 by default. */
function run(Bot $bot): never
{
    $service = new Service($bot);
    serve($service->handle(...), 3000);
}

final class Service
{
    /** @var array<string, Board> */
    private array $games = [];

    public function __construct(private readonly Bot $bot)
    {
    }

    public function handle(Request $request): Reply
    {
        try {
            return reply(200, ['status' => 'ok'] + $this->dispatch($request));
        } catch (Refusal $refusal) {
            return reply($refusal->status, ['status' => 'error', 'message' => $refusal->getMessage()]);
        }
    }

    private function dispatch(Request $request): array
    {
        if ($request->method === 'POST' && $request->path === '/games') {
            return $this->post(read_object($request->body));
        }
        $parts = explode('/', $request->path);
        if (count($parts) !== 3 || $parts[1] !== 'games') {
            throw new Refusal(404, "there is no $request->path");
        }
        return match ($request->method) {
            'GET' => $this->get($this->find($parts[2]), $request->query['color'] ?? ''),
            'PUT' => $this->put($this->find($parts[2]), read_object($request->body)),
            'DELETE' => $this->delete($parts[2]),
            default => throw new Refusal(404, "there is no $request->method $request->path"),
        };
    }

    private function find(string $id): Board
    {
        return $this->games["id $id"] ?? throw new Refusal(404, "there is no game $id");
    }

    private function post(array $document): array
    {
        $id = $document['id'] ?? null;
        $cells = $document['board']['cells'] ?? null;
        if (!is_string($id) || !is_square($cells)) {
            throw new Refusal(400, 'this is not a valid game');
        }
        $board = new Board($id, $cells, read_jumps($document));
        $this->delete($id);
        $this->games["id $id"] = $board;
        if (count($this->games) > MAX_GAMES) {
            $this->delete(reset($this->games)->id);
        }
        $color = ($document['first_turn'] ?? false) ? 1 : 2;
        $this->bot->on_start($board, $color, (bool) ($document['training'] ?? false));
        return [];
    }

    private function get(Board $board, string $text): array
    {
        if ($text !== '1' && $text !== '2') {
            throw new Refusal(400, 'color must be 1 or 2');
        }
        $color = (int) $text;
        if (!$board->legal_moves($color)) {
            throw new Refusal(409, "colour $color has no legal move");
        }
        [$from, $to] = $this->bot->choose($board, $color, $board->jumps[$color]);
        return ['move_from' => $from, 'move_to' => $to];
    }

    private function put(Board $board, array $document): array
    {
        $changes = $document['changes'] ?? null;
        $jumps = read_jumps($document);
        if (!is_changes($changes, $board)) {
            throw new Refusal(400, 'the changes are invalid');
        }
        $board->write($changes);
        $board->jumps = $jumps;
        if ($changes && $changes[0][3] > 0) {
            $board->placed[$changes[0][3]] += 1;
        }
        $this->bot->on_changes($board, $changes);
        return [];
    }

    private function delete(string $id): array
    {
        $board = $this->games["id $id"] ?? null;
        unset($this->games["id $id"]);
        if ($board !== null) {
            $this->bot->on_end($board);
        }
        return [];
    }
}

function reply(int $status, array $document): Reply
{
    return new Reply($status, json_encode($document, JSON_THROW_ON_ERROR));
}

function read_object(string $body): array
{
    $document = json_decode($body, true);
    if (!is_array($document)) {
        throw new Refusal(400, 'the body is not a JSON object');
    }
    return $document;
}

function is_square(mixed $cells): bool
{
    return is_array($cells) && count($cells) % 2 === 1 && array_filter($cells, fn ($row) => (
        is_array($row) && count($row) === count($cells) && $row === array_filter($row, is_int(...))
    )) === $cells;
}

/** @return array<int, int> */
function read_jumps(array $document): array
{
    $jumps = $document['jumps'] ?? null;
    if (!is_array($jumps) || !is_int($jumps[1] ?? null) || !is_int($jumps[2] ?? null)) {
        throw new Refusal(400, 'jumps must hold two numbers');
    }
    return [1 => $jumps[1], 2 => $jumps[2]];
}

function is_changes(mixed $changes, Board $board): bool
{
    return is_array($changes) && array_filter($changes, fn ($change) => (
        is_array($change) && count($change) === 4 && $change === array_filter($change, is_int(...))
        && isset($board->cells[$change[0]][$change[1]]) && in_array($change[3], [0, 1, 2], true)
    )) === $changes;
}
