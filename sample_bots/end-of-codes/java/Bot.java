import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** A bot for End of Codes: attack a neighbour, else stay or wander. Rewrite choose. */
final class Bot implements EndOfCodes.Bot {
    @Override
    public String botname() {
        return "sample";
    }

    @Override
    public String version() {
        return "1.0";
    }

    /** Gives your intents, at most one for each of your living creatures. */
    @Override
    public List<EndOfCodes.Intent> choose(EndOfCodes.Game game) {
        List<EndOfCodes.Intent> intents = new ArrayList<>();
        for (EndOfCodes.Creature creature : game.mine()) {
            act(game, creature, intents);
        }
        return intents;
    }

    /** Chooses for one creature; to add nothing is idle. */
    private void act(
            EndOfCodes.Game game, EndOfCodes.Creature creature, List<EndOfCodes.Intent> intents) {
        List<EndOfCodes.Direction> targets = new ArrayList<>();
        List<EndOfCodes.Direction> ways = new ArrayList<>();
        for (EndOfCodes.Direction direction : EndOfCodes.Direction.values()) {
            int x = creature.x() + direction.dx;
            int y = creature.y() + direction.dy;
            EndOfCodes.Creature other = game.at(x, y);
            if (other == null && game.isOnMap(x, y)) {
                ways.add(direction);
            } else if (other != null && other.userid() != game.myid) {
                targets.add(direction);
            }
        }
        if (!targets.isEmpty()) {
            intents.add(creature.attack(any(targets)));
        } else if (!ways.isEmpty() && ThreadLocalRandom.current().nextBoolean()) {
            intents.add(creature.move(any(ways)));
        }
    }

    private static <T> T any(List<T> items) {
        return items.get(ThreadLocalRandom.current().nextInt(items.size()));
    }

    public static void main(String[] arguments) {
        EndOfCodes.run(new Bot());
    }
}
