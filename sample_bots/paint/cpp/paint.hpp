// Paint for bots: the conversation over standard input and output, and its events.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace paint {

// A row and a column, or a step in rows and columns; row grows downward.
struct Square {
    int row, col;
    bool operator==(const Square& other) const { return row == other.row && col == other.col; }
};

// "walk" or "shoot" with a direction.
struct Action {
    std::string type;
    Square direction;
};

// The eight directions, and the 16 actions.
extern const std::vector<Square> DIRECTIONS;
extern const std::vector<Action> ACTIONS;

// The board of a turn: colors[row][col] is a player id or nothing, `player_id` is yours.
//
// turns_left counts this turn too; previous_actions holds one map a turn, the oldest first.
struct State {
    std::string player_id;
    int turns_left = 0, width = 0, height = 0;
    std::map<std::string, Square> player_positions;
    std::vector<std::vector<std::optional<std::string>>> colors;
    std::vector<std::map<std::string, Action>> previous_actions;
    std::vector<Square> obstacles;

    // Gives the square of your avatar.
    Square position() const { return player_positions.at(player_id); }

    // Tells whether a square is on the board and no obstacle.
    bool is_free(int row, int col) const;
};

// What you write: choose, and whichever of the other events you want to hear of.
class Bot {
public:
    virtual ~Bot() = default;

    // Hears who you are; there are 5 s until you must be ready.
    virtual void on_start(const std::string& /*player_id*/) {}

    // Gives your action; there is 0.5 s for it.
    virtual Action choose(const State& state) = 0;

    // Hears that the game is over.
    virtual void on_end() {}
};

// Plays until the referee closes our input.
void run(Bot& bot);

}  // namespace paint
