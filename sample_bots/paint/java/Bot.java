import java.util.concurrent.ThreadLocalRandom;

/**
 * A bot for Paint that takes any of the 16 actions: rewrite choose.
 *
 * <p>Standard output belongs to the referee: print with System.err.println.
 */
final class Bot implements Paint.Bot {
    /** Gives your action. */
    @Override
    public Paint.Action choose(Paint.State state) {
        return Paint.ACTIONS.get(ThreadLocalRandom.current().nextInt(Paint.ACTIONS.size()));
    }

    public static void main(String[] arguments) {
        Paint.run(new Bot());
    }
}
