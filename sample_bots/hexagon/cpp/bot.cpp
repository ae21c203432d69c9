// A bot for Hexagon that makes a random legal move: rewrite choose.

#include <random>

#include "hexagon.hpp"

// Makes any legal move, each equally likely.
class RandomBot : public hexagon::Bot {
public:
    // Gives your move; `jumps` is how many jumps you have.
    hexagon::Move choose(hexagon::Board& board, int color, int /*jumps*/) override
    {
        thread_local std::mt19937 random{std::random_device{}()};
        auto moves = board.legal_moves(color);
        return moves[std::uniform_int_distribution<std::size_t>(0, moves.size() - 1)(random)];
    }
};

int main()
{
    RandomBot bot;
    hexagon::run(bot);
}
