// AI Code Battle for bots: the signed web service, and the events that a bot answers.

#pragma once

#include <any>
#include <string>
#include <vector>

namespace code_battle {

struct Tile {
    int row, col;
};

struct Config {
    int rows, cols, max_turns, vision_radius2, attack_radius2, spawn_cost, energy_interval;
};

// A match; `memory` is yours and lives as long as the match.
struct Match {
    std::string match_id;
    Config config{};
    std::any memory;

    // Gives the tile one step away; row grows to the south, and the grid has no edges.
    Tile step(Tile tile, char direction) const;

    // Gives the squared distance of two tiles.
    int distance2(Tile a, Tile b) const;
};

// What stands on a tile. The owner 0 is you, -1 is none; `active` is told of cores.
struct Thing {
    int row, col, owner;
    bool active;
};

// What you see in a turn; `energy` are the nodes that hold some.
struct View {
    int turn;
    struct {
        int id, energy, score;
    } you;
    std::vector<Thing> bots, energy, cores, walls, dead;

    // Gives the tiles of your bots.
    std::vector<Tile> mine() const;
};

// Sends the bot on a tile into a direction: 'N', 'E', 'S' or 'W'.
struct Order {
    int row, col;
    char direction;
};

// What you write: choose, and whichever of the other events you want to hear of. Calls for
// different matches come from different threads, those for one match one after the other.
class Bot {
public:
    virtual ~Bot() = default;

    // Hears of a match for the first time.
    virtual void on_start(Match& /*match*/) {}

    // Gives your orders; bots without one hold.
    virtual std::vector<Order> choose(Match& match, const View& view) = 0;

    // Hears that a match is forgotten, as too many others came after it.
    virtual void on_end(Match& /*match*/) {}
};

// Serves the bot on PORT, 8080 by default, with the secret BOT_SECRET.
[[noreturn]] void run(Bot& bot);

}  // namespace code_battle
