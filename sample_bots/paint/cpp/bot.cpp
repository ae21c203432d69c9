// A bot for Paint that takes any of the 16 actions: rewrite choose.
// Standard output belongs to the referee: print to std::cerr.

#include <random>

#include "paint.hpp"

// Takes any of the 16 actions, each equally likely.
class RandomBot : public paint::Bot {
public:
    // Gives your action.
    paint::Action choose(const paint::State& /*state*/) override { return paint::ACTIONS[any_(random_)]; }

private:
    std::mt19937 random_{std::random_device{}()};
    std::uniform_int_distribution<std::size_t> any_{0, paint::ACTIONS.size() - 1};
};

int main()
{
    RandomBot bot;
    paint::run(bot);
}
