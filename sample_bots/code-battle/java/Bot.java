import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** A bot for AI Code Battle that gives random orders: rewrite choose. */
final class Bot implements CodeBattle.Bot {
    private static final CodeBattle.Direction[] WAYS = CodeBattle.Direction.values();

    /** Gives your orders; bots without one hold. One bot in five does here. */
    @Override
    public List<CodeBattle.Order> choose(CodeBattle.Match match, CodeBattle.View view) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        List<CodeBattle.Order> orders = new ArrayList<>();
        for (CodeBattle.Tile tile : view.mine()) {
            if (random.nextInt(5) > 0) {
                orders.add(new CodeBattle.Order(tile.row(), tile.col(), WAYS[random.nextInt(4)]));
            }
        }
        return orders;
    }

    public static void main(String[] arguments) {
        CodeBattle.run(new Bot());
    }
}
