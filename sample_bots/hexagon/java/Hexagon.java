import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Hexagon for bots: the web service, the board, and the events that a bot answers. */
final class Hexagon {
    /** Games that are remembered; when one more comes, the oldest is forgotten. */
    static final int MAX_GAMES = 64;

    /** A row and a column. */
    record Cell(int i, int j) {}

    /** A chip multiplies or jumps. */
    record Move(Cell moveFrom, Cell moveTo) {}

    /** A cell that a move has changed. */
    record Change(int i, int j, int oldValue, int newValue) {}

    /** Steps by distance - 1, for even rows and for odd rows. */
    private static final int[][][][] OFFSETS = {
        {
            {{-1, -1}, {-1, 0}, {0, -1}, {0, 1}, {1, -1}, {1, 0}},
            {{-1, 0}, {-1, 1}, {0, -1}, {0, 1}, {1, 0}, {1, 1}},
        },
        {
            {
                {-2, -1}, {-2, 0}, {-2, 1}, {-1, -2}, {-1, 1}, {0, -2},
                {0, 2}, {1, -2}, {1, 1}, {2, -1}, {2, 0}, {2, 1},
            },
            {
                {-2, -1}, {-2, 0}, {-2, 1}, {-1, -1}, {-1, 2}, {0, -2},
                {0, 2}, {1, -1}, {1, 2}, {2, -1}, {2, 0}, {2, 1},
            },
        },
    };

    /**
     * A game: {@code cells[i][j]} is -1 stone, 0 empty, 1 or 2 a chip of that colour.
     *
     * <p>{@code jumps[color]} is how many jumps a colour may make now, {@code placed[color]} how
     * many chips it has placed; {@code memory} is yours and lives as long as the game.
     */
    static final class Board {
        final String id;
        final int size;
        final int[][] cells;
        int[] jumps;
        int[] placed = new int[3];
        Object memory;

        Board(String id, int[][] cells, int[] jumps) {
            this.id = id;
            this.size = (cells.length + 1) / 2;
            this.cells = cells;
            this.jumps = jumps;
            for (int[] row : cells) {
                for (int value : row) {
                    placed[Math.max(value, 0)]++;
                }
            }
        }

        /** Gives an independent board, to try moves on; it shares the memory. */
        Board copy() {
            int[][] rows = new int[cells.length][];
            for (int i = 0; i < rows.length; i++) {
                rows[i] = cells[i].clone();
            }
            Board made = new Board(id, rows, jumps.clone());
            made.placed = placed.clone();
            made.memory = memory;
            return made;
        }

        /** Gives the cells of the array at distance 1 or 2. */
        List<Cell> neighbours(Cell cell, int distance) {
            List<Cell> near = new ArrayList<>();
            for (int[] step : OFFSETS[distance - 1][cell.i() % 2]) {
                int i = cell.i() + step[0];
                int j = cell.j() + step[1];
                if (i >= 0 && i < cells.length && j >= 0 && j < cells.length) {
                    near.add(new Cell(i, j));
                }
            }
            return near;
        }

        /** Gives all moves of a colour. */
        List<Move> legalMoves(int color) {
            List<Move> moves = new ArrayList<>();
            for (int i = 0; i < cells.length; i++) {
                for (int j = 0; j < cells.length; j++) {
                    if (cells[i][j] == color) {
                        addMoves(new Cell(i, j), color, moves);
                    }
                }
            }
            return moves;
        }

        private void addMoves(Cell from, int color, List<Move> moves) {
            for (int distance = 1; distance <= (jumps[color] > 0 ? 2 : 1); distance++) {
                for (Cell target : neighbours(from, distance)) {
                    if (cells[target.i()][target.j()] == 0) {
                        moves.add(new Move(from, target));
                    }
                }
            }
        }

        /** Makes a legal move; gives what it changed. */
        List<Change> play(int color, Move move) {
            Cell from = move.moveFrom();
            Cell to = move.moveTo();
            List<Change> changes = new ArrayList<>();
            if (neighbours(from, 1).contains(to)) {
                placed[color]++;
                jumps[color] += placed[color] % 2 == 0 ? 1 : 0;
            } else {
                jumps[color]--;
                changes.add(new Change(from.i(), from.j(), color, 0));
            }
            changes.add(new Change(to.i(), to.j(), 0, color));
            for (Cell cell : neighbours(to, 1)) {
                if (cells[cell.i()][cell.j()] == 3 - color) {
                    changes.add(new Change(cell.i(), cell.j(), 3 - color, color));
                }
            }
            write(changes);
            return changes;
        }

        private void write(List<Change> changes) {
            for (Change change : changes) {
                cells[change.i()][change.j()] = change.newValue();
            }
        }
    }

    /** What you write: choose, and whichever of the other events you want to hear of. */
    interface Bot {
        /** Hears that a game begins, and which colour is yours. */
        default void onStart(Board board, int color, boolean training) {}

        /** Gives your move; {@code jumps} is how many jumps you have. */
        Move choose(Board board, int color, int jumps);

        /** Hears what a move has changed, yours or the opponent's; it is on the board already. */
        default void onChanges(Board board, List<Change> changes) {}

        /** Hears that a game is over. */
        default void onEnd(Board board) {}
    }

    /** Serves the bot on PORT, 3000 by default. */
    static void run(Bot bot) {
        BotServer.serve(new Hexagon(bot)::handle, 3000);
    }

    private final Bot bot;
    private final Map<String, Board> games = new LinkedHashMap<>();

    private Hexagon(Bot bot) {
        this.bot = bot;
    }

    private BotServer.Reply handle(BotServer.Request request) {
        try {
            Map<String, Object> answer = new LinkedHashMap<>(Map.of("status", "ok"));
            answer.putAll(dispatch(request));
            return new BotServer.Reply(200, Json.write(answer));
        } catch (BotServer.Refusal refusal) {
            Map<String, Object> answer = new LinkedHashMap<>(Map.of("status", "error"));
            answer.put("message", refusal.getMessage());
            return new BotServer.Reply(refusal.status, Json.write(answer));
        }
    }

    private Map<String, Object> dispatch(BotServer.Request request) {
        if (request.method().equals("POST") && request.path().equals("/games")) {
            return post(read(request));
        }
        String[] parts = request.path().split("/", -1);
        if (parts.length != 3 || !parts[1].equals("games")) {
            throw new BotServer.Refusal(404, "there is no " + request.path());
        }
        return switch (request.method()) {
            case "GET" -> get(find(parts[2]), request.query().getOrDefault("color", ""));
            case "PUT" -> put(find(parts[2]), read(request));
            case "DELETE" -> delete(parts[2]);
            default -> throw new BotServer.Refusal(
                    404, "there is no " + request.method() + " " + request.path());
        };
    }

    private Board find(String id) {
        synchronized (games) {
            if (!games.containsKey(id)) {
                throw new BotServer.Refusal(404, "there is no game " + id);
            }
            return games.get(id);
        }
    }

    private Map<String, Object> post(Object document) {
        Board board;
        try {
            int[][] cells = readCells(Json.member(Json.member(document, "board"), "cells"));
            String id = (String) Json.member(document, "id");
            board = new Board(id == null ? "" : id, cells, readJumps(document));
        } catch (Json.Wrong | ClassCastException | ArrayIndexOutOfBoundsException error) {
            throw new BotServer.Refusal(400, "this is not a valid game");
        }
        delete(board.id);
        String oldest;
        synchronized (games) {
            games.put(board.id, board);
            oldest = games.size() > MAX_GAMES ? games.keySet().iterator().next() : null;
        }
        delete(oldest);
        boolean first = Boolean.TRUE.equals(Json.member(document, "first_turn"));
        bot.onStart(board, first ? 1 : 2, Boolean.TRUE.equals(Json.member(document, "training")));
        return Map.of();
    }

    private Map<String, Object> get(Board board, String text) {
        if (!text.equals("1") && !text.equals("2")) {
            throw new BotServer.Refusal(400, "color must be 1 or 2");
        }
        int color = Integer.parseInt(text);
        if (board.legalMoves(color).isEmpty()) {
            throw new BotServer.Refusal(409, "colour " + color + " has no legal move");
        }
        Move move = bot.choose(board, color, board.jumps[color]);
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("move_from", List.of(move.moveFrom().i(), move.moveFrom().j()));
        answer.put("move_to", List.of(move.moveTo().i(), move.moveTo().j()));
        return answer;
    }

    private Map<String, Object> put(Board board, Object document) {
        List<Change> changes = new ArrayList<>();
        int[] jumps;
        try {
            for (Object said : Json.list(Json.member(document, "changes"))) {
                changes.add(readChange(said, board));
            }
            jumps = readJumps(document);
        } catch (Json.Wrong error) {
            throw new BotServer.Refusal(400, "the changes are invalid");
        }
        board.write(changes);
        board.jumps = jumps;
        if (!changes.isEmpty() && changes.get(0).newValue() > 0) {
            board.placed[changes.get(0).newValue()]++;
        }
        bot.onChanges(board, changes);
        return Map.of();
    }

    private Map<String, Object> delete(String id) {
        Board board;
        synchronized (games) {
            board = games.remove(id);
        }
        if (board != null) {
            bot.onEnd(board);
        }
        return Map.of();
    }

    private static Object read(BotServer.Request request) {
        try {
            return Json.read(new String(request.body(), StandardCharsets.UTF_8));
        } catch (Json.Wrong error) {
            throw new BotServer.Refusal(400, "the body is not JSON");
        }
    }

    private static int[][] readCells(Object said) {
        List<?> rows = Json.list(said);
        int[][] cells = new int[rows.size()][];
        for (int i = 0; i < cells.length; i++) {
            cells[i] = Json.list(rows.get(i)).stream().mapToInt(Json::integer).toArray();
            if (cells[i].length != cells.length || cells.length % 2 == 0) {
                throw new Json.Wrong("the cells are not a square");
            }
        }
        return cells;
    }

    private static int[] readJumps(Object document) {
        Object jumps = Json.member(document, "jumps");
        return new int[] {
            0, Json.integer(Json.member(jumps, "1")), Json.integer(Json.member(jumps, "2"))
        };
    }

    private static Change readChange(Object said, Board board) {
        int[] values = Json.list(said).stream().mapToInt(Json::integer).toArray();
        int side = board.cells.length;
        if (values.length != 4 || values[0] < 0 || values[0] >= side || values[1] < 0
                || values[1] >= side || values[3] < 0 || values[3] > 2) {
            throw new Json.Wrong("no change");
        }
        return new Change(values[0], values[1], values[2], values[3]);
    }
}
