import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** AI Code Battle for bots: the signed web service, and the events that a bot answers. */
final class CodeBattle {
    /** Matches that are remembered; when one more comes, the oldest is forgotten. */
    static final int MAX_MATCHES = 64;

    /** A row and a col. */
    record Tile(int row, int col) {}

    /** The four directions and their steps; row grows to the south. */
    enum Direction {
        N(-1, 0),
        E(0, 1),
        S(1, 0),
        W(0, -1);

        final int drow;
        final int dcol;

        Direction(int drow, int dcol) {
            this.drow = drow;
            this.dcol = dcol;
        }
    }

    /** Sends the bot on a tile into a direction. */
    record Order(int row, int col, Direction direction) {}

    /** What holds for a whole match. */
    record Config(
            int rows,
            int cols,
            int maxTurns,
            int visionRadius2,
            int attackRadius2,
            int spawnCost,
            int energyInterval) {}

    /** What stands on a tile; the owner 0 is you, -1 is none; active is told of cores. */
    record Thing(int row, int col, int owner, boolean active) {}

    /** What is yours. */
    record You(int id, int energy, int score) {}

    /** What you see in a turn; energy are the nodes that hold some. */
    record View(
            int turn,
            You you,
            List<Thing> bots,
            List<Thing> energy,
            List<Thing> cores,
            List<Thing> walls,
            List<Thing> dead) {
        /** Gives the tiles of your bots. */
        List<Tile> mine() {
            return bots.stream()
                    .filter(bot -> bot.owner() == 0)
                    .map(bot -> new Tile(bot.row(), bot.col()))
                    .toList();
        }
    }

    /** A match; {@code memory} is yours and lives as long as the match. */
    static final class Match {
        final String matchId;
        final Config config;
        Object memory;

        Match(String matchId, Config config) {
            this.matchId = matchId;
            this.config = config;
        }

        /** Gives the tile one step away; the grid has no edges. */
        Tile step(Tile tile, Direction direction) {
            return new Tile(
                    Math.floorMod(tile.row() + direction.drow, config.rows()),
                    Math.floorMod(tile.col() + direction.dcol, config.cols()));
        }

        /** Gives the squared distance of two tiles. */
        int distance2(Tile a, Tile b) {
            int down = Math.abs(a.row() - b.row());
            int right = Math.abs(a.col() - b.col());
            down = Math.min(down, config.rows() - down);
            right = Math.min(right, config.cols() - right);
            return down * down + right * right;
        }
    }

    /** What you write: choose, and whichever of the other events you want to hear of. */
    interface Bot {
        /** Hears of a match for the first time. */
        default void onStart(Match match) {}

        /** Gives your orders; bots without one hold. */
        List<Order> choose(Match match, View view);

        /** Hears that a match is forgotten, as too many others came after it. */
        default void onEnd(Match match) {}
    }

    /** Serves the bot on PORT, 8080 by default, with the secret BOT_SECRET. */
    static void run(Bot bot) {
        String secret = BotServer.setting("BOT_SECRET", "");
        if (secret.isEmpty()) {
            System.err.println("set BOT_SECRET to the secret of your bot, 64 hexadecimal digits");
            System.exit(1);
        }
        BotServer.serve(new CodeBattle(bot, secret)::handle, 8080);
    }

    private final Bot bot;
    private final SecretKeySpec secret;
    private final Map<String, Match> matches = new LinkedHashMap<>();

    private CodeBattle(Bot bot, String secret) {
        this.bot = bot;
        this.secret = new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256");
    }

    private BotServer.Reply handle(BotServer.Request request) {
        return switch (request.method() + " " + request.path()) {
            case "GET /health" -> new BotServer.Reply(200, "{\"status\":\"ok\"}");
            case "POST /turn" -> turn(request);
            default -> new BotServer.Reply(404, "");
        };
    }

    private BotServer.Reply turn(BotServer.Request request) {
        if (!isSigned(request)) {
            return new BotServer.Reply(401, "");
        }
        Object document;
        View view;
        try {
            document = Json.read(new String(request.body(), StandardCharsets.UTF_8));
            view = readView(document);
        } catch (Json.Wrong | ClassCastException error) {
            return new BotServer.Reply(400, "");
        }
        boolean same = request.header("x-acb-match-id").equals(Json.member(document, "match_id"))
                && Long.parseLong(request.header("x-acb-turn")) == view.turn();
        return same ? play(request, document, view) : new BotServer.Reply(400, "");
    }

    private BotServer.Reply play(BotServer.Request request, Object document, View view) {
        List<Object> moves = new ArrayList<>();
        for (Order order : choose(find(document), view)) {
            Map<String, Object> move = new LinkedHashMap<>();
            move.put("row", order.row());
            move.put("col", order.col());
            move.put("direction", order.direction().name());
            moves.add(move);
        }
        byte[] body = Json.write(Map.of("moves", moves)).getBytes(StandardCharsets.UTF_8);
        String text = request.header("x-acb-match-id") + "." + request.header("x-acb-turn");
        return new BotServer.Reply(200, body, Map.of("X-ACB-Signature", sign(text, body)));
    }

    /** Asks the bot, and logs how long it took. */
    private List<Order> choose(Match match, View view) {
        long started = System.nanoTime();
        List<Order> orders = bot.choose(match, view);
        double milliseconds = (System.nanoTime() - started) / 1e6;
        System.err.println(
                String.format(
                        Locale.ROOT,
                        "turn %d %.1f ms %d moves",
                        view.turn(), milliseconds, orders.size()));
        return orders;
    }

    private String sign(String text, byte[] body) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(body);
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(secret);
            String whole = text + "." + HexFormat.of().formatHex(hash);
            return HexFormat.of().formatHex(mac.doFinal(whole.getBytes(StandardCharsets.ISO_8859_1)));
        } catch (GeneralSecurityException error) {
            throw new IllegalStateException(error);
        }
    }

    private boolean isSigned(BotServer.Request request) {
        String matchId = request.header("x-acb-match-id");
        String turn = request.header("x-acb-turn");
        String timestamp = request.header("x-acb-timestamp");
        if (matchId.isEmpty() || request.header("x-acb-bot-id").isEmpty()) {
            return false;
        }
        if (!turn.matches("[0-9]{1,18}") || !timestamp.matches("[0-9]{1,18}")) {
            return false;
        }
        if (Math.abs(System.currentTimeMillis() / 1000 - Long.parseLong(timestamp)) > 30) {
            return false;
        }
        String expected = sign(matchId + "." + turn + "." + timestamp, request.body());
        // Takes the same time whatever differs.
        return MessageDigest.isEqual(
                request.header("x-acb-signature").getBytes(StandardCharsets.ISO_8859_1),
                expected.getBytes(StandardCharsets.ISO_8859_1));
    }

    private Match find(Object document) {
        String matchId = (String) Json.member(document, "match_id");
        Match match = new Match(matchId, readConfig(Json.member(document, "config")));
        Match forgotten = null;
        synchronized (matches) {
            if (matches.containsKey(matchId)) {
                return matches.get(matchId);
            }
            matches.put(matchId, match);
            if (matches.size() > MAX_MATCHES) {
                forgotten = matches.remove(matches.keySet().iterator().next());
            }
        }
        if (forgotten != null) {
            bot.onEnd(forgotten);
        }
        bot.onStart(match);
        return match;
    }

    private static Config readConfig(Object said) {
        return new Config(
                number(said, "rows"),
                number(said, "cols"),
                number(said, "max_turns"),
                number(said, "vision_radius2"),
                number(said, "attack_radius2"),
                number(said, "spawn_cost"),
                number(said, "energy_interval"));
    }

    private static View readView(Object said) {
        Object you = Json.member(said, "you");
        return new View(
                Json.integer(Json.member(said, "turn")),
                new You(number(you, "id"), number(you, "energy"), number(you, "score")),
                things(said, "bots"),
                things(said, "energy"),
                things(said, "cores"),
                things(said, "walls"),
                things(said, "dead"));
    }

    private static List<Thing> things(Object document, String name) {
        List<Thing> things = new ArrayList<>();
        Object said = Json.member(document, name);
        for (Object one : said == null ? List.of() : Json.list(said)) {
            Object owner = Json.member(one, "owner");
            things.add(new Thing(
                    Json.integer(Json.member(one, "row")),
                    Json.integer(Json.member(one, "col")),
                    owner == null ? -1 : Json.integer(owner),
                    Boolean.TRUE.equals(Json.member(one, "active"))));
        }
        return things;
    }

    private static int number(Object document, String name) {
        return Json.member(document, name) instanceof Long number ? number.intValue() : 0;
    }
}
