// A bot for AI Code Battle that gives random orders: rewrite choose.

#include <random>

#include "code_battle.hpp"

using namespace code_battle;

// Lets one bot in five hold and sends the others anywhere.
class RandomBot : public Bot {
public:
    // Gives your orders; bots without one hold.
    std::vector<Order> choose(Match& /*match*/, const View& view) override
    {
        thread_local std::mt19937 random{std::random_device{}()};
        std::uniform_int_distribution<int> five(0, 4), four(0, 3);
        std::vector<Order> orders;
        for (Tile tile : view.mine())
            if (five(random) > 0) orders.push_back({tile.row, tile.col, "NESW"[four(random)]});
        return orders;
    }
};

int main()
{
    RandomBot bot;
    run(bot);
}
