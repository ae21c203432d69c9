import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Paint for bots: the conversation over standard input and output, and its events. */
final class Paint {
    /** A row and a column, or a step in rows and columns. */
    record Square(int row, int col) {}

    /** "walk" or "shoot" with a direction. */
    record Action(String type, Square direction) {}

    /** The eight directions; row grows downward. */
    static final List<Square> DIRECTIONS = List.of(
            new Square(-1, -1), new Square(-1, 0), new Square(-1, 1), new Square(0, -1),
            new Square(0, 1), new Square(1, -1), new Square(1, 0), new Square(1, 1));

    /** The 16 actions. */
    static final List<Action> ACTIONS = List.of("walk", "shoot").stream()
            .flatMap(type -> DIRECTIONS.stream().map(direction -> new Action(type, direction)))
            .toList();

    /**
     * The board of a turn: {@code colors[row][col]} is a player id or null, playerId is yours.
     *
     * <p>turnsLeft counts this turn too; previousActions holds one map a turn, the oldest first.
     */
    record State(
            String playerId,
            int turnsLeft,
            int width,
            int height,
            Map<String, Square> playerPositions,
            String[][] colors,
            List<Map<String, Action>> previousActions,
            List<Square> obstacles) {
        /** Gives the square of your avatar. */
        Square position() {
            return playerPositions.get(playerId);
        }

        /** Tells whether a square is on the board and no obstacle. */
        boolean isFree(int row, int col) {
            boolean onBoard = row >= 0 && row < height && col >= 0 && col < width;
            return onBoard && !obstacles.contains(new Square(row, col));
        }
    }

    /** What you write: choose, and whichever of the other events you want to hear of. */
    interface Bot {
        /** Hears who you are; there are 5 s until you must be ready. */
        default void onStart(String playerId) {}

        /** Gives your action; there is 0.5 s for it. */
        Action choose(State state);

        /** Hears that the game is over. */
        default void onEnd() {}
    }

    private Paint() {}

    /** Plays until the referee closes our input. */
    static void run(Bot bot) {
        Thread.setDefaultUncaughtExceptionHandler((thread, error) -> {
            error.printStackTrace();
            Runtime.getRuntime().halt(1);
        });
        // Without this, the exit code after a signal would be that of a failure.
        Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(0)));
        BufferedReader input =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), 65536);
        String playerId = "";
        try {
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                playerId = hear(bot, playerId, line);
            }
        } catch (IOException error) {
            System.err.println("standard input is gone: " + error.getMessage());
        }
        bot.onEnd();
    }

    /** Answers a line; gives the player id from then on. */
    private static String hear(Bot bot, String playerId, String line) {
        long started = System.nanoTime();
        Object message;
        State state = null;
        try {
            message = Json.read(line);
            if (!(Json.member(message, "player_id") instanceof String)) {
                state = readState(playerId, message);
            }
        } catch (Json.Wrong | ClassCastException error) {
            if (!line.isBlank()) {
                System.err.println("skipped an unreadable line");
            }
            return playerId;
        }
        if (state != null) {
            takeTurn(bot, state, started);
            return playerId;
        }
        String id = (String) Json.member(message, "player_id");
        warmUp();
        bot.onStart(id);
        send(Map.of("ready", true), "ready as " + id, started);
        return id;
    }

    /** Has the classes of a turn loaded before the first one, which has 0.5 s like any other. */
    private static void warmUp() {
        State state = readState("a", Json.read("{\"turns_left\":1,\"width\":2,\"height\":1,"
                + "\"player_positions\":{\"a\":[0,0]},\"colors\":[[\"a\",null]],\"previous_actions\":"
                + "[{\"a\":{\"type\":\"walk\",\"direction\":[0,1]}}],\"obstacles\":[[0,1]]}"));
        state.isFree(0, 1);
        answer(state, ACTIONS.get(0));
    }

    private static Map<String, Object> answer(State state, Action action) {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("turns_left", state.turnsLeft());
        answer.put("type", action.type());
        answer.put("direction", List.of(action.direction().row(), action.direction().col()));
        return answer;
    }

    private static void takeTurn(Bot bot, State state, long started) {
        Action action = bot.choose(state);
        String way = " [" + action.direction().row() + "," + action.direction().col() + "]";
        String text = "turns_left " + state.turnsLeft() + ": " + action.type() + way;
        send(answer(state, action), text, started);
    }

    /** Logs to standard error: standard output belongs to the referee. */
    private static void send(Map<String, Object> message, String text, long started) {
        double milliseconds = (System.nanoTime() - started) / 1e6;
        System.err.println(text + String.format(Locale.ROOT, " %.1f ms", milliseconds));
        byte[] line = (Json.write(message) + "\n").getBytes(StandardCharsets.UTF_8);
        System.out.write(line, 0, line.length);
        System.out.flush();
    }

    private static State readState(String playerId, Object said) {
        Map<String, Square> positions = new LinkedHashMap<>();
        if (!(Json.member(said, "player_positions") instanceof Map<?, ?> places)) {
            throw new Json.Wrong("no player_positions");
        }
        places.forEach((id, place) -> positions.put((String) id, readSquare(place)));
        return new State(
                playerId,
                Json.integer(Json.member(said, "turns_left")),
                Json.integer(Json.member(said, "width")),
                Json.integer(Json.member(said, "height")),
                positions,
                readColors(Json.list(Json.member(said, "colors"))),
                readTurns(Json.member(said, "previous_actions")),
                readObstacles(Json.member(said, "obstacles")));
    }

    private static Square readSquare(Object said) {
        List<?> pair = Json.list(said);
        if (pair.size() != 2) {
            throw new Json.Wrong("a square has two numbers");
        }
        return new Square(Json.integer(pair.get(0)), Json.integer(pair.get(1)));
    }

    private static String[][] readColors(List<?> rows) {
        String[][] colors = new String[rows.size()][];
        for (int row = 0; row < colors.length; row++) {
            List<?> squares = Json.list(rows.get(row));
            colors[row] = new String[squares.size()];
            for (int col = 0; col < squares.size(); col++) {
                colors[row][col] = (String) squares.get(col);
            }
        }
        return colors;
    }

    private static List<Map<String, Action>> readTurns(Object said) {
        List<Map<String, Action>> turns = new ArrayList<>();
        for (Object turn : said == null ? List.of() : Json.list(said)) {
            Map<String, Action> actions = new LinkedHashMap<>();
            ((Map<?, ?>) turn).forEach((id, action) -> actions.put((String) id, new Action(
                    (String) Json.member(action, "type"),
                    readSquare(Json.member(action, "direction")))));
            turns.add(actions);
        }
        return turns;
    }

    private static List<Square> readObstacles(Object said) {
        List<Square> obstacles = new ArrayList<>();
        for (Object square : said == null ? List.of() : Json.list(said)) {
            obstacles.add(readSquare(square));
        }
        return obstacles;
    }
}
