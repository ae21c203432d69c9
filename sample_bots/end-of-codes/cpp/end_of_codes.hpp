// End of Codes for bots: the web service, the map, and the events that a bot answers.

#pragma once

#include <any>
#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace end_of_codes {

struct Direction {
    const char* name;
    int dx, dy;
};

// The four directions; y grows to the north.
constexpr std::array<Direction, 4> DIRECTIONS{
    {{"north", 0, 1}, {"east", 1, 0}, {"south", 0, -1}, {"west", -1, 0}}};

struct Intent {
    int creatureid;
    std::string action, direction;
};

// A creature; it is alive while hp is above 0.
struct Creature {
    int creatureid, userid, x, y, hp;

    Intent move(const Direction& direction) const { return {creatureid, "move", direction.name}; }
    Intent attack(const Direction& direction) const { return {creatureid, "attack", direction.name}; }
};

struct Player {
    int userid;
    std::string username;
};

// A game, as it stands in this round. `creatures` holds the dead ones too; `memory` is yours and
// lives as long as the game. M and MAX_HP are 0 if the game began before this program.
struct Game {
    int gameid = 0, myid = 0, round = 0, W = 0, H = 0, M = 0, MAX_HP = 0;
    std::vector<Player> players;
    std::vector<Creature> creatures;
    std::any memory;

    // Gives your living creatures.
    std::vector<Creature> mine() const;

    // Gives the living creature in a cell, or null.
    const Creature* at(int x, int y) const;

    // Tells whether there is such a cell.
    bool is_on_map(int x, int y) const { return x >= 0 && x < W && y >= 0 && y < H; }

    // Counts the players that have a living creature.
    std::size_t owners_alive() const;

    // Takes over the map of a round.
    void update(std::vector<Creature> creatures);

private:
    std::unordered_map<std::int64_t, std::size_t> living_;
};

// What you write: choose, and whichever of the other events you want to hear of. Calls for
// different games come from different threads, those for one game one after the other.
class Bot {
public:
    virtual ~Bot() = default;

    virtual std::string botname() const { return "sample"; }
    virtual std::string version() const { return "1.0"; }

    // Hears that a game begins; there are no creatures yet.
    virtual void on_start(Game& /*game*/) {}

    // Gives your intents, at most one for each of your living creatures.
    virtual std::vector<Intent> choose(Game& game) = 0;

    // Hears that a game is over; `game` shows how it ended.
    virtual void on_end(Game& /*game*/) {}
};

// Serves the bot on PORT, 8801 by default, as BOT_USERNAME; API_KEY is asked for if it is set.
[[noreturn]] void run(Bot& bot);

}  // namespace end_of_codes
