<?php

// An HTTP server for bots: each reply leaves in one write, each request is logged in one line.
// It serves many connections in one process, and answers one request at a time.

declare(strict_types=1);

/** Bytes that the body of a request may have. */
const MAX_BODY = 16 * 1024 * 1024;

/** Bytes that the head of a request may have. */
const MAX_HEAD = 64 * 1024;

/** Bytes of an exception that are sent. */
const MAX_WORDS = 1000;

const TEXT = ['Content-Type' => 'text/plain; charset=utf-8'];

const REASONS = [
    200 => 'OK', 400 => 'Bad Request', 401 => 'Unauthorized', 404 => 'Not Found', 409 => 'Conflict',
    411 => 'Length Required', 413 => 'Content Too Large', 431 => 'Request Header Fields Too Large',
    500 => 'Internal Server Error',
];

ini_set('memory_limit', '1G');
ini_set('display_errors', 'stderr');

/** What came; the names of headers are in lower case. */
final class Request
{
    /**
     * @param array<string, string> $query
     * @param array<string, string> $headers
     */
    public function __construct(
        public readonly string $method,
        public readonly string $path,
        public readonly array $query,
        public readonly array $headers,
        public readonly string $body,
    ) {
    }
}

/** What goes back. */
final class Reply
{
    /** @param array<string, string> $headers */
    public function __construct(
        public readonly int $status = 200,
        public readonly string $body = '',
        public readonly array $headers = [],
    ) {
    }
}

/** A request that is answered with a status of 4xx. */
final class Refusal extends Exception
{
    public function __construct(public readonly int $status, string $message = '')
    {
        parent::__construct($message);
    }
}

/** A client, and what of its next request has come. */
final class Connection
{
    public string $buffer = '';
    /** @var array{string, string, array<string, string>, int, bool}|null */
    public ?array $head = null;

    /** @param resource $stream */
    public function __construct(public readonly mixed $stream)
    {
    }
}

/**
 * Answers requests with $handle until SIGTERM or Ctrl-C.
 *
 * Listens on PORT or BOT_PORT (0 for any free port) of BOT_HOST, which is 127.0.0.1 by default.
 *
 * @param callable(Request): Reply $handle
 */
function serve(callable $handle, int $default_port): never
{
    stop_at_signals();
    $host = getenv('BOT_HOST') ?: '127.0.0.1';
    $port = first_set([getenv('PORT'), getenv('BOT_PORT'), (string) $default_port]);
    $context = stream_context_create(['socket' => ['tcp_nodelay' => true, 'backlog' => 128]]);
    $flags = STREAM_SERVER_BIND | STREAM_SERVER_LISTEN;
    $server = @stream_socket_server("tcp://$host:$port", $code, $error, $flags, $context);
    if ($server === false) {
        fwrite(STDERR, "cannot listen on $host:$port: $error\n");
        exit(1);
    }
    $address = (string) stream_socket_get_name($server, false);
    fwrite(STDOUT, "listening on http://$host:" . substr((string) strrchr($address, ':'), 1) . "\n");
    $connections = [];
    while (true) {
        $connections = serve_once($server, $connections, $handle);
    }
}

/** Exits with code 0 at SIGTERM and Ctrl-C. */
function stop_at_signals(): void
{
    if (function_exists('pcntl_signal')) {
        pcntl_async_signals(true);
        pcntl_signal(SIGTERM, fn () => exit(0));
        pcntl_signal(SIGINT, fn () => exit(0));
    }
}

/** @param list<string|false> $texts */
function first_set(array $texts): string
{
    return current(array_filter($texts, fn ($text) => $text !== false && $text !== ''));
}

/**
 * Waits until something comes, and deals with it; gives the connections that are open then.
 *
 * @param resource $server
 * @param array<int, Connection> $connections
 * @return array<int, Connection>
 */
function serve_once(mixed $server, array $connections, callable $handle): array
{
    $ready = [$server, ...array_map(fn (Connection $each) => $each->stream, array_values($connections))];
    [$write, $except] = [null, null];
    // Not for ever: a signal that comes just before would have to wait for the next request.
    if (!@stream_select($ready, $write, $except, 1)) {
        return $connections;
    }
    foreach ($ready as $stream) {
        $id = (int) $stream;
        if ($stream !== $server) {
            if (!receive($connections[$id], $handle)) {
                fclose($stream);
                unset($connections[$id]);
            }
        } elseif ($client = @stream_socket_accept($server, 0)) {
            $connections[(int) $client] = new Connection($client);
        }
    }
    return $connections;
}

/** Reads what has come, and answers what is complete; false if the connection is to be closed. */
function receive(Connection $connection, callable $handle): bool
{
    $part = @fread($connection->stream, 65536);
    if ($part === false || $part === '') {
        return false;
    }
    $connection->buffer .= $part;
    try {
        while (is_complete($connection)) {
            if (!answer($connection, $handle)) {
                return false;
            }
        }
    } catch (Refusal $refusal) {
        send($connection, '-', '-', new Reply($refusal->status), microtime(true), false);
        return false;
    }
    return true;
}

/** Tells whether a whole request has come; raises Refusal for one that cannot be read. */
function is_complete(Connection $connection): bool
{
    if ($connection->head === null) {
        $end = strpos($connection->buffer, "\r\n\r\n");
        if (($end === false ? strlen($connection->buffer) : $end) > MAX_HEAD) {
            throw new Refusal(431);
        }
        if ($end === false) {
            return false;
        }
        $connection->head = read_head(substr($connection->buffer, 0, $end));
        $connection->buffer = substr($connection->buffer, $end + 4);
        if (strtolower($connection->head[2]['expect'] ?? '') === '100-continue') {
            fwrite($connection->stream, "HTTP/1.1 100 Continue\r\n\r\n");
        }
    }
    return strlen($connection->buffer) >= $connection->head[3];
}

/** @return array{string, string, array<string, string>, int, bool} */
function read_head(string $head): array
{
    $lines = explode("\r\n", $head);
    if (!preg_match('~^([A-Z]+) (\S+) HTTP/1\.([01])$~D', $lines[0], $found)) {
        throw new Refusal(400);
    }
    $headers = [];
    foreach (array_slice($lines, 1) as $line) {
        [$name, $value] = explode(':', $line, 2) + [1 => ''];
        $headers[strtolower($name)] = trim($value, " \t");
    }
    $keep = $found[3] === '1' && strtolower($headers['connection'] ?? '') !== 'close';
    return [$found[1], $found[2], $headers, read_length($headers), $keep];
}

/** @param array<string, string> $headers */
function read_length(array $headers): int
{
    $text = $headers['content-length'] ?? '0';
    if (isset($headers['transfer-encoding'])) {
        throw new Refusal(411);
    }
    if (!preg_match('/^[0-9]+$/D', $text)) {
        throw new Refusal(400);
    }
    if (strlen($text) > 9 || (int) $text > MAX_BODY) {
        throw new Refusal(413);
    }
    return (int) $text;
}

/** Answers the request that has come; tells whether the connection is kept. */
function answer(Connection $connection, callable $handle): bool
{
    $started = microtime(true);
    [$method, $target, $headers, $length, $keep] = $connection->head;
    $body = substr($connection->buffer, 0, $length);
    $connection->buffer = substr($connection->buffer, $length);
    $connection->head = null;
    [$path, $text] = explode('?', $target, 2) + [1 => ''];
    parse_str($text, $query);
    $query = array_filter($query, is_string(...));
    try {
        $reply = $handle(new Request($method, $path, $query, $headers, $body));
    } catch (Throwable $error) {
        fwrite(STDERR, "$error\n");
        $reply = new Reply(500, in_words($error), TEXT);
    }
    return send($connection, $method, $path, $reply, $started, $keep) && $keep;
}

/** Gives an exception, its message, and the innermost line of the program's own file. */
function in_words(Throwable $error): string
{
    $main = get_included_files()[0];
    $frames = [['file' => $error->getFile(), 'line' => $error->getLine()], ...$error->getTrace()];
    $own = array_filter($frames, fn (array $frame) => ($frame['file'] ?? '') === $main);
    $at = [...$own, ...$frames][0];
    $what = substr(get_class($error) . ': ' . $error->getMessage(), 0, MAX_WORDS);
    return $what . ' (' . basename($at['file']) . ", line {$at['line']})";
}

/** Writes head and body at once: two writes would cost 40 ms on a kept connection. */
function send(
    Connection $connection,
    string $method,
    string $path,
    Reply $reply,
    float $started,
    bool $keep,
): bool {
    $headers = ['Content-Length' => strlen($reply->body)] + $reply->headers;
    $headers += ['Content-Type' => 'application/json'] + ($keep ? [] : ['Connection' => 'close']);
    $text = "HTTP/1.1 $reply->status " . (REASONS[$reply->status] ?? 'Unknown') . "\r\n";
    foreach ($headers as $name => $value) {
        $text .= "$name: $value\r\n";
    }
    // Logged first, so that whoever has the reply can rely on the line.
    $milliseconds = number_format((microtime(true) - $started) * 1000, 1, '.', '');
    fwrite(STDERR, "$method $path $reply->status $milliseconds ms\n");
    return @fwrite($connection->stream, "$text\r\n$reply->body") !== false;
}
