// A bot for End of Codes: attack a neighbour, else stay or wander. Rewrite choose.

#include <random>

#include "end_of_codes.hpp"

using namespace end_of_codes;

// Attacks a random opponent next to it, else is idle or makes a random valid move.
class SampleBot : public Bot {
public:
    std::string botname() const override { return "sample"; }
    std::string version() const override { return "1.0"; }

    // Gives your intents, at most one for each of your living creatures.
    std::vector<Intent> choose(Game& game) override
    {
        std::vector<Intent> intents;
        for (const Creature& creature : game.mine()) act(game, creature, intents);
        return intents;
    }

private:
    // Chooses for one creature; to add nothing is idle.
    static void act(const Game& game, const Creature& creature, std::vector<Intent>& intents)
    {
        std::vector<Direction> targets, ways;
        for (const Direction& direction : DIRECTIONS) {
            int x = creature.x + direction.dx, y = creature.y + direction.dy;
            const Creature* other = game.at(x, y);
            if (!other && game.is_on_map(x, y)) ways.push_back(direction);
            if (other && other->userid != game.myid) targets.push_back(direction);
        }
        if (!targets.empty())
            intents.push_back(creature.attack(targets[below(targets.size())]));
        else if (!ways.empty() && below(2) == 0)
            intents.push_back(creature.move(ways[below(ways.size())]));
    }

    // Draws a number from 0 to end - 1.
    static std::size_t below(std::size_t end)
    {
        thread_local std::mt19937 random{std::random_device{}()};
        return std::uniform_int_distribution<std::size_t>(0, end - 1)(random);
    }
};

int main()
{
    SampleBot bot;
    run(bot);
}
