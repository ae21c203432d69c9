import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** A bot for Hexagon that makes a random legal move: rewrite choose. */
final class Bot implements Hexagon.Bot {
    /** Gives your move. */
    @Override
    public Hexagon.Move choose(Hexagon.Board board, int color, int jumps) {
        List<Hexagon.Move> moves = board.legalMoves(color);
        return moves.get(ThreadLocalRandom.current().nextInt(moves.size()));
    }

    public static void main(String[] arguments) {
        Hexagon.run(new Bot());
    }
}
