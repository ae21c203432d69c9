import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** End of Codes for bots: the web service, the map, and the events that a bot answers. */
final class EndOfCodes {
    /** Games that are remembered; when one more comes, the oldest is forgotten. */
    static final int MAX_GAMES = 64;

    /** The four directions and their steps; y grows to the north. */
    enum Direction {
        NORTH(0, 1),
        EAST(1, 0),
        SOUTH(0, -1),
        WEST(-1, 0);

        final int dx;
        final int dy;

        Direction(int dx, int dy) {
            this.dx = dx;
            this.dy = dy;
        }
    }

    /** A creature; it is alive while hp is above 0. */
    record Creature(int creatureid, int userid, int x, int y, int hp) {
        /** Gives the intent to move. */
        Intent move(Direction direction) {
            return new Intent(creatureid, "move", direction);
        }

        /** Gives the intent to attack. */
        Intent attack(Direction direction) {
            return new Intent(creatureid, "attack", direction);
        }
    }

    /** What a creature is to do: "move" or "attack". */
    record Intent(int creatureid, String action, Direction direction) {}

    /** A participant. */
    record Player(int userid, String username) {}

    /**
     * A game, as it stands in this round.
     *
     * <p>{@code creatures} holds the dead ones too; {@code memory} is yours and lives as long as
     * the game. M and MAX_HP are 0 if the game began before this program.
     */
    static final class Game {
        final int gameid;
        int myid;
        int round;
        int W;
        int H;
        int M;
        int MAX_HP;
        List<Player> players = List.of();
        List<Creature> creatures = List.of();
        Object memory;
        private final Map<Long, Creature> living = new LinkedHashMap<>();

        Game(int gameid) {
            this.gameid = gameid;
        }

        /** Takes over the map of a round. */
        void update(List<Creature> creatures) {
            this.creatures = creatures;
            living.clear();
            for (Creature creature : creatures) {
                if (creature.hp() > 0) {
                    living.put(key(creature.x(), creature.y()), creature);
                }
            }
        }

        private static long key(int x, int y) {
            return (long) y << 32 | x & 0xffffffffL;
        }

        /** Gives your living creatures. */
        List<Creature> mine() {
            return living.values().stream().filter(each -> each.userid() == myid).toList();
        }

        /** Gives the living creature in a cell, or null. */
        Creature at(int x, int y) {
            return living.get(key(x, y));
        }

        /** Tells whether there is such a cell. */
        boolean isOnMap(int x, int y) {
            return x >= 0 && x < W && y >= 0 && y < H;
        }

        /** Counts the players that have a living creature. */
        int ownersAlive() {
            return (int) living.values().stream().mapToInt(Creature::userid).distinct().count();
        }
    }

    /** What you write: choose, and whichever of the other events you want to hear of. */
    interface Bot {
        default String botname() {
            return "sample";
        }

        default String version() {
            return "1.0";
        }

        /** Hears that a game begins; there are no creatures yet. */
        default void onStart(Game game) {}

        /** Gives your intents, at most one for each of your living creatures. */
        List<Intent> choose(Game game);

        /** Hears that a game is over; {@code game} shows how it ended. */
        default void onEnd(Game game) {}
    }

    /**
     * Serves the bot on PORT, 8801 by default, as BOT_USERNAME; API_KEY is asked for if it is set.
     */
    static void run(Bot bot) {
        BotServer.serve(new EndOfCodes(bot)::handle, 8801);
    }

    private final Bot bot;
    private final String username = BotServer.setting("BOT_USERNAME", "sample");
    private final String apiKey = BotServer.setting("API_KEY", "");
    private final Map<Integer, Game> games = new LinkedHashMap<>();

    private EndOfCodes(Bot bot) {
        this.bot = bot;
    }

    private BotServer.Reply handle(BotServer.Request request) {
        try {
            return new BotServer.Reply(200, Json.write(dispatch(request)));
        } catch (BotServer.Refusal refusal) {
            Map<String, String> answer = Map.of("error", refusal.getMessage());
            return new BotServer.Reply(refusal.status, Json.write(answer));
        }
    }

    private Object dispatch(BotServer.Request request) {
        return switch (request.method() + " " + request.path()) {
            case "GET /bot" -> identify(request.query());
            case "POST /game" -> start(form(request));
            case "POST /round" -> play(form(request));
            default -> throw new BotServer.Refusal(
                    404, "there is no " + request.method() + " " + request.path());
        };
    }

    /** MessageDigest.isEqual takes the same time whatever differs. */
    private void checkKey(Map<String, String> fields) {
        byte[] key = fields.getOrDefault("api_key", "").getBytes(StandardCharsets.UTF_8);
        byte[] right = apiKey.getBytes(StandardCharsets.UTF_8);
        if (right.length > 0 && !MessageDigest.isEqual(key, right)) {
            throw new BotServer.Refusal(401, "wrong api_key");
        }
    }

    private Object identify(Map<String, String> query) {
        checkKey(query);
        Map<String, String> answer = new LinkedHashMap<>();
        answer.put("botname", bot.botname());
        answer.put("version", bot.version());
        answer.put("username", username);
        return answer;
    }

    private Map<String, String> form(BotServer.Request request) {
        Map<String, String> fields = readForm(request.header("content-type"), request.body());
        checkKey(fields);
        if (!fields.getOrDefault("method", "").equals("create")) {
            throw new BotServer.Refusal(400, "method must be create");
        }
        return fields;
    }

    private Object start(Map<String, String> fields) {
        Game game = new Game(integer(fields, "gameid"));
        game.W = integer(fields, "W");
        game.H = integer(fields, "H");
        game.M = integer(fields, "M");
        game.MAX_HP = integer(fields, "MAX_HP");
        game.players = readPlayers(list(fields, "players"));
        remember(game);
        bot.onStart(game);
        return List.of();
    }

    private Object play(Map<String, String> fields) {
        int round = integer(fields, "round");
        int myid = integer(fields, "myid");
        int width = integer(fields, "W");
        int height = integer(fields, "H");
        List<Creature> creatures = readCreatures(list(fields, "map"));
        Game game = find(integer(fields, "gameid"));
        game.round = round;
        game.myid = myid;
        game.W = width;
        game.H = height;
        game.update(creatures);
        List<Intent> intents = List.of();
        if (game.ownersAlive() < 2) {
            forget(game.gameid);
        } else if (!game.mine().isEmpty()) {
            intents = bot.choose(game);
        }
        return Map.of("intent", intents.stream().map(EndOfCodes::document).toList());
    }

    private static Map<String, Object> document(Intent intent) {
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("creatureid", intent.creatureid());
        document.put("action", intent.action());
        document.put("direction", intent.direction().name().toLowerCase(Locale.ROOT));
        return document;
    }

    /** Gives the game; one that began before this program is made here. */
    private Game find(int gameid) {
        Game game;
        synchronized (games) {
            game = games.get(gameid);
        }
        if (game == null) {
            game = new Game(gameid);
            remember(game);
        }
        return game;
    }

    private void remember(Game game) {
        forget(game.gameid);
        Integer oldest;
        synchronized (games) {
            games.put(game.gameid, game);
            oldest = games.size() > MAX_GAMES ? games.keySet().iterator().next() : null;
        }
        forget(oldest);
    }

    private void forget(Integer gameid) {
        Game game;
        synchronized (games) {
            game = games.remove(gameid);
        }
        if (game != null) {
            bot.onEnd(game);
        }
    }

    private static Map<String, String> readForm(String type, byte[] body) {
        String kind = type.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
        Matcher boundary = Pattern.compile("(?i)boundary=(?:\"([^\"]+)\"|([^;\\s]+))").matcher(type);
        String text = new String(body, StandardCharsets.UTF_8);
        if (kind.equals("application/x-www-form-urlencoded")) {
            return BotServer.decode(text);
        }
        if (kind.equals("multipart/form-data") && boundary.find()) {
            String mark = boundary.group(1) == null ? boundary.group(2) : boundary.group(1);
            return readMultipart("\r\n--" + mark, "\r\n" + text);
        }
        throw new BotServer.Refusal(400, "the body is not a form");
    }

    private static Map<String, String> readMultipart(String mark, String text) {
        Map<String, String> fields = new HashMap<>();
        for (String part : text.split(Pattern.quote(mark))) {
            int end = part.indexOf("\r\n\r\n");
            Matcher name = Pattern.compile("name=\"([^\"]*)\"").matcher(part.substring(0, Math.max(end, 0)));
            if (name.find()) {
                fields.put(name.group(1), part.substring(end + 4));
            }
        }
        return fields;
    }

    private static int integer(Map<String, String> fields, String name) {
        String text = fields.getOrDefault(name, "");
        if (!text.matches("[0-9]{1,9}")) {
            throw new BotServer.Refusal(400, name + " must be an integer");
        }
        return Integer.parseInt(text);
    }

    private static List<?> list(Map<String, String> fields, String name) {
        try {
            return Json.list(Json.read(fields.getOrDefault(name, "")));
        } catch (Json.Wrong error) {
            throw new BotServer.Refusal(400, name + " must be a JSON list");
        }
    }

    private static List<Player> readPlayers(List<?> said) {
        List<Player> players = new ArrayList<>();
        for (Object player : said) {
            String name = String.valueOf(Json.member(player, "username"));
            players.add(new Player(number(player, "userid"), name));
        }
        return players;
    }

    private static List<Creature> readCreatures(List<?> said) {
        List<Creature> creatures = new ArrayList<>(said.size());
        for (Object one : said) {
            creatures.add(new Creature(number(one, "creatureid"), number(one, "userid"),
                    number(one, "x"), number(one, "y"), number(one, "hp")));
        }
        return creatures;
    }

    private static int number(Object document, String name) {
        try {
            return Json.integer(Json.member(document, name));
        } catch (Json.Wrong error) {
            throw new BotServer.Refusal(400, "a " + name + " must be an integer");
        }
    }
}
