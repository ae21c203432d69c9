import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** A bot for Circuit Wars that draws a random free segment: rewrite choose. */
final class Bot implements CircuitWars.Bot {
    /** Gives the free segment to draw. */
    @Override
    public CircuitWars.Segment choose(CircuitWars.Board board, int player) {
        List<CircuitWars.Segment> free = board.freeSegments();
        return free.get(ThreadLocalRandom.current().nextInt(free.size()));
    }

    public static void main(String[] arguments) {
        CircuitWars.run(new Bot(), arguments);
    }
}
