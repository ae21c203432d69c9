// A bot for Circuit Wars that draws a random free segment: rewrite choose.

#include <random>

#include "circuit_wars.hpp"

// Draws any free segment, each equally likely.
class RandomBot : public circuit_wars::Bot {
public:
    // Gives the free segment to draw.
    circuit_wars::Segment choose(const circuit_wars::Board& board, int /*player*/) override
    {
        auto free = board.free_segments();
        return free[std::uniform_int_distribution<std::size_t>(0, free.size() - 1)(random_)];
    }

private:
    std::mt19937 random_{std::random_device{}()};
};

int main(int argc, char** argv)
{
    RandomBot bot;
    return circuit_wars::run(bot, argc, argv);
}
