import java.io.IOException;
import java.net.ProxySelector;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Circuit Wars for bots: the loop that plays a game over HTTP, the board, and its events. */
final class CircuitWars {
    /** The sides of a square and their bits. */
    enum Border {
        TOP(1),
        RIGHT(2),
        BOTTOM(4),
        LEFT(8);

        final int bit;

        Border(int bit) {
            this.bit = bit;
        }
    }

    /** A side of a square. */
    record Segment(int x, int y, Border border) {}

    /**
     * The board: {@code squares[y][x]} has a bit for each drawn side, 16 or 32 if player 1 or 2
     * owns it.
     */
    static final class Board {
        final int size;
        final int[][] squares;

        Board(int[][] squares) {
            this.size = squares.length;
            this.squares = squares;
        }

        /** Tells whether this side of the square is drawn. */
        boolean hasBorder(int x, int y, Border border) {
            return (squares[y][x] & border.bit) != 0;
        }

        /** Tells who owns the square: 0 nobody, 1 or 2. */
        int owner(int x, int y) {
            return squares[y][x] >> 4;
        }

        /** Gives every free segment once. */
        List<Segment> freeSegments() {
            List<Segment> found = new ArrayList<>();
            for (int y = 0; y < size; y++) {
                for (int x = 0; x < size; x++) {
                    for (Border border : ownSides(x, y)) {
                        if (owner(x, y) == 0 && !hasBorder(x, y, border)) {
                            found.add(new Segment(x, y, border));
                        }
                    }
                }
            }
            return found;
        }

        /** Names the sides of a square that no square to the right or below names too. */
        private List<Border> ownSides(int x, int y) {
            List<Border> sides = new ArrayList<>(List.of(Border.TOP, Border.LEFT));
            if (x == size - 1) {
                sides.add(Border.RIGHT);
            }
            if (y == size - 1) {
                sides.add(Border.BOTTOM);
            }
            return sides;
        }
    }

    /** What the server says of the game. */
    record Status(int statusCode, String status, int score1, int score2, String lastMove, Board board) {
        static Status read(Object said) {
            List<?> rows = Json.list(Json.member(said, "board"));
            int[][] squares = new int[rows.size()][];
            for (int y = 0; y < squares.length; y++) {
                squares[y] = Json.list(rows.get(y)).stream().mapToInt(Json::integer).toArray();
            }
            return new Status(
                    Json.integer(Json.member(said, "status_code")),
                    String.valueOf(Json.member(said, "status")),
                    Json.integer(Json.member(said, "score_1")),
                    Json.integer(Json.member(said, "score_2")),
                    String.valueOf(Json.member(said, "last_move")),
                    new Board(squares));
        }
    }

    /** What you write: choose, and whichever of the other events you want to hear of. */
    interface Bot {
        /** Hears that you are player 1 or 2. */
        default void onStart(int player) {}

        /** Gives the free segment to draw. */
        Segment choose(Board board, int player);

        /** Hears how the game ended. */
        default void onEnd(Status status) {}
    }

    private static final String SERVER =
            setting("CW_SERVER", "http://127.0.0.1:5000").replaceAll("/+$", "");
    private static final HttpClient CLIENT = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .proxy(ProxySelector.of(null))
            .connectTimeout(Duration.ofSeconds(10))
            .build();

    private CircuitWars() {}

    /** Registers at CW_SERVER as the team of the command line or TEAM_ID, and plays one game. */
    static void run(Bot bot, String[] arguments) {
        Thread.setDefaultUncaughtExceptionHandler((thread, error) -> {
            error.printStackTrace();
            Runtime.getRuntime().halt(1);
        });
        // Without this, the exit code after a signal would be that of a failure.
        Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(0)));
        String team = arguments.length > 0 ? arguments[0] : setting("TEAM_ID", "sample");
        int player = register(team);
        System.out.println(team + " is player " + player + ". Watch the game at " + SERVER + "/");
        bot.onStart(player);
        Status status = play(bot, team, player);
        bot.onEnd(status);
        System.out.println(status.status() + ", " + status.score1() + " to " + status.score2() + ".");
        System.out.println(winner(status.statusCode()) == player ? "You won." : "You lost.");
        System.exit(0);
    }

    /** Tells who won: 301 is a win of player 1, 401 and 501 are a loss. */
    static int winner(int statusCode) {
        return statusCode < 400 ? statusCode % 10 : 3 - statusCode % 10;
    }

    private static String setting(String name, String otherwise) {
        String text = System.getenv(name);
        return text == null || text.isEmpty() ? otherwise : text;
    }

    private static int register(String team) {
        Object answer = ask("reg/" + team);
        if (!"OK".equals(Json.member(answer, "response"))) {
            Object why = Json.member(answer, "message");
            leave("not registered as " + team + ": " + (why == null ? Json.member(answer, "error") : why));
        }
        return Json.integer(Json.member(answer, "player"));
    }

    private static Status play(Bot bot, String team, int player) {
        while (true) {
            pause();
            Status status = Status.read(ask("status"));
            if (status.statusCode() == 200 + player) {
                Segment chosen = bot.choose(status.board(), player);
                pause();
                String border = chosen.border().name().toLowerCase(Locale.ROOT);
                String move = chosen.x() + "," + chosen.y() + "," + border;
                status = Status.read(ask("move/" + team + "/" + move));
            }
            if (status.statusCode() >= 300) {
                return status;
            }
        }
    }

    private static void pause() {
        try {
            Thread.sleep((long) (1000 * Double.parseDouble(setting("CW_PAUSE", "0.2"))));
        } catch (InterruptedException error) {
            leave("interrupted");
        }
    }

    /** Requests a route and gives its JSON; exits with a message if there is none. */
    private static Object ask(String path) {
        long started = System.nanoTime();
        HttpRequest request = HttpRequest.newBuilder(URI.create(SERVER + "/" + path))
                .timeout(Duration.ofSeconds(10))
                .build();
        try {
            HttpResponse<String> reply = CLIENT.send(request, HttpResponse.BodyHandlers.ofString());
            String time = String.format(Locale.ROOT, "%.1f ms", (System.nanoTime() - started) / 1e6);
            System.err.println("GET /" + path + " " + reply.statusCode() + " " + time);
            return Json.read(reply.body());
        } catch (Json.Wrong error) {
            return leave("the server at " + SERVER + " did not answer /" + path + " with JSON");
        } catch (IOException | InterruptedException error) {
            return leave("there is no server at " + SERVER + ": " + error);
        }
    }

    private static Object leave(String message) {
        System.err.println(message);
        Runtime.getRuntime().halt(1);
        return null;
    }
}
