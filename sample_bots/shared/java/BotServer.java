import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An HTTP server for bots: each reply leaves in one write, each request is logged in one line.
 *
 * <p>The server of the JDK (com.sun.net.httpserver) sends head and body in two writes, which costs
 * 40 ms on a kept connection.
 */
final class BotServer {
    /** Bytes that the body of a request may have. */
    static final int MAX_BODY = 16 * 1024 * 1024;

    /** Bytes that the head of a request may have. */
    static final int MAX_HEAD = 64 * 1024;

    private static final Pattern REQUEST_LINE =
            Pattern.compile("([A-Z]+) ([^ ?]+)(?:\\?(\\S*))? HTTP/1\\.([01])");

    private static final Map<Integer, String> REASONS = Map.of(
            200, "OK", 400, "Bad Request", 401, "Unauthorized", 404, "Not Found", 409, "Conflict",
            411, "Length Required", 413, "Content Too Large",
            431, "Request Header Fields Too Large", 500, "Internal Server Error");

    /** What came; the names of headers are in lower case. */
    record Request(
            String method,
            String path,
            Map<String, String> query,
            Map<String, String> headers,
            byte[] body,
            boolean keep) {
        String header(String name) {
            return headers.getOrDefault(name, "");
        }
    }

    /** What goes back. */
    record Reply(int status, byte[] body, Map<String, String> headers) {
        Reply(int status, String body) {
            this(status, body.getBytes(StandardCharsets.UTF_8), Map.of());
        }
    }

    /** A request that is answered with a status of 4xx. */
    static final class Refusal extends RuntimeException {
        private static final long serialVersionUID = 1;
        final int status;

        Refusal(int status, String message) {
            super(message);
            this.status = status;
        }
    }

    /** Characters of an exception that are sent. */
    private static final int MAX_WORDS = 1000;

    private static volatile String mainFile;

    private BotServer() {}

    /**
     * Answers requests until SIGTERM or Ctrl-C.
     *
     * <p>Listens on PORT or BOT_PORT (0 for any free port) of BOT_HOST, which is 127.0.0.1 by
     * default.
     */
    static void serve(Function<Request, Reply> handle, int defaultPort) {
        String host = setting("BOT_HOST", "127.0.0.1");
        String port = setting("PORT", setting("BOT_PORT", String.valueOf(defaultPort)));
        try (ServerSocket server = new ServerSocket()) {
            server.bind(new InetSocketAddress(InetAddress.getByName(host), Integer.parseInt(port)), 128);
            exitWithZeroAtSignals();
            StackTraceElement[] frames = Thread.currentThread().getStackTrace();
            mainFile = frames[frames.length - 1].getFileName();
            System.out.println("listening on http://" + host + ":" + server.getLocalPort());
            System.out.flush();
            while (true) {
                Socket client = server.accept();
                new Thread(() -> converse(client, handle)).start();
            }
        } catch (IOException error) {
            System.err.println("cannot listen on " + host + ":" + port + ": " + error.getMessage());
            Runtime.getRuntime().halt(1);
        }
    }

    static String setting(String name, String otherwise) {
        String text = System.getenv(name);
        return text == null || text.isEmpty() ? otherwise : text;
    }

    /** Without this, the exit code after a signal would be that of a failure. */
    static void exitWithZeroAtSignals() {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(0)));
    }

    private static void converse(Socket client, Function<Request, Reply> handle) {
        try (client) {
            client.setTcpNoDelay(true);
            InputStream input = new BufferedInputStream(client.getInputStream(), 65536);
            while (answer(client, input, handle)) {
                continue;
            }
        } catch (IOException error) {
            return; // The client is gone.
        }
    }

    /** Answers one request; tells whether the connection is kept. */
    private static boolean answer(Socket client, InputStream input, Function<Request, Reply> handle)
            throws IOException {
        long started = System.nanoTime();
        try {
            Request request = read(client, input);
            started = System.nanoTime();
            Reply reply = safely(handle, request);
            send(client, request.method(), request.path(), reply, started, request.keep());
            return request.keep();
        } catch (Refusal refusal) {
            send(client, "-", "-", new Reply(refusal.status, ""), started, false);
            return false;
        }
    }

    private static Reply safely(Function<Request, Reply> handle, Request request) {
        try {
            return handle.apply(request);
        } catch (RuntimeException | StackOverflowError error) {
            error.printStackTrace();
            return new Reply(500, inWords(error));
        }
    }

    /** Gives an exception, its message, and the innermost line of the file of main. */
    private static String inWords(Throwable error) {
        StackTraceElement[] frames = error.getStackTrace();
        StackTraceElement at = frames.length > 0 ? frames[0] : null;
        for (int place = frames.length - 1; place >= 0; place--) {
            if (frames[place].getFileName() != null && frames[place].getFileName().equals(mainFile)) {
                at = frames[place];
            }
        }
        String what = error.getClass().getSimpleName() + ": " + error.getMessage();
        what = what.substring(0, Math.min(what.length(), MAX_WORDS));
        return at == null ? what : what + " (" + at.getFileName() + ", line " + at.getLineNumber() + ")";
    }

    private static Request read(Socket client, InputStream input) throws IOException {
        String[] lines = readHead(input).split("\r\n");
        Matcher found = REQUEST_LINE.matcher(lines[0]);
        if (!found.matches()) {
            throw new Refusal(400, "");
        }
        Map<String, String> headers = new HashMap<>();
        for (int line = 1; line < lines.length; line++) {
            String[] parts = lines[line].split(":", 2);
            headers.put(parts[0].toLowerCase(Locale.ROOT), parts.length > 1 ? parts[1].strip() : "");
        }
        boolean keep = found.group(4).equals("1")
                && !headers.getOrDefault("connection", "").equalsIgnoreCase("close");
        int length = readLength(headers);
        if (headers.getOrDefault("expect", "").equalsIgnoreCase("100-continue")) {
            client.getOutputStream().write("HTTP/1.1 100 Continue\r\n\r\n".getBytes());
        }
        byte[] body = input.readNBytes(length);
        if (body.length < length) {
            throw new EOFException();
        }
        Map<String, String> query = decode(found.group(3) == null ? "" : found.group(3));
        return new Request(found.group(1), found.group(2), query, headers, body, keep);
    }

    /** Reads up to the empty line after the headers. */
    private static String readHead(InputStream input) throws IOException {
        StringBuilder head = new StringBuilder();
        while (head.length() < 4 || head.indexOf("\r\n\r\n", head.length() - 4) < 0) {
            int next = input.read();
            if (next < 0) {
                throw new EOFException();
            }
            if (head.append((char) next).length() > MAX_HEAD) {
                throw new Refusal(431, "");
            }
        }
        return head.toString();
    }

    private static int readLength(Map<String, String> headers) {
        String text = headers.getOrDefault("content-length", "0");
        if (headers.containsKey("transfer-encoding")) {
            throw new Refusal(411, "");
        }
        if (!text.matches("[0-9]+")) {
            throw new Refusal(400, "");
        }
        if (text.length() > 9 || Integer.parseInt(text) > MAX_BODY) {
            throw new Refusal(413, "");
        }
        return Integer.parseInt(text);
    }

    /** Writes head and body at once: two writes would cost 40 ms on a kept connection. */
    private static void send(
            Socket client, String method, String path, Reply reply, long started, boolean keep)
            throws IOException {
        StringBuilder head = new StringBuilder("HTTP/1.1 " + reply.status() + " ");
        head.append(REASONS.get(reply.status())).append("\r\nContent-Type: ");
        head.append(reply.status() == 500 ? "text/plain; charset=utf-8" : "application/json");
        head.append("\r\n");
        head.append("Content-Length: ").append(reply.body().length).append("\r\n");
        reply.headers().forEach((name, value) -> head.append(name + ": " + value + "\r\n"));
        head.append(keep ? "\r\n" : "Connection: close\r\n\r\n");
        byte[] start = head.toString().getBytes(StandardCharsets.ISO_8859_1);
        byte[] all = java.util.Arrays.copyOf(start, start.length + reply.body().length);
        System.arraycopy(reply.body(), 0, all, start.length, reply.body().length);
        // Logged first, so that whoever has the reply can rely on the line.
        double milliseconds = (System.nanoTime() - started) / 1e6;
        System.err.println(
                method + " " + path + " " + reply.status() + " "
                        + String.format(Locale.ROOT, "%.1f ms", milliseconds));
        client.getOutputStream().write(all);
    }

    /** Reads a query or an urlencoded form. */
    static Map<String, String> decode(String text) {
        Map<String, String> fields = new HashMap<>();
        for (String pair : text.split("&")) {
            String[] parts = pair.split("=", 2);
            fields.put(unescape(parts[0]), parts.length > 1 ? unescape(parts[1]) : "");
        }
        return fields;
    }

    private static String unescape(String text) {
        try {
            return URLDecoder.decode(text, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException error) {
            throw new Refusal(400, "the form is badly encoded");
        }
    }
}
