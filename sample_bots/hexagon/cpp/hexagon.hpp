// Hexagon for bots: the web service, the board, and the events that a bot answers.

#pragma once

#include <any>
#include <array>
#include <string>
#include <vector>

namespace hexagon {

struct Cell {
    int i, j;
    bool operator==(const Cell& other) const { return i == other.i && j == other.j; }
};

struct Move {
    Cell move_from, move_to;
};

struct Change {
    int i, j, old_value, new_value;
};

// A game: cells[i][j] is -1 stone, 0 empty, 1 or 2 a chip of that colour.
//
// jumps[color] is how many jumps a colour may make now, placed[color] how many chips it has
// placed; `memory` is yours and lives as long as the game. A copy is a board to try moves on.
struct Board {
    std::string id;
    int size = 0;
    std::vector<std::vector<int>> cells;
    std::array<int, 3> jumps{}, placed{};
    std::any memory;

    // Gives the cells of the array at distance 1 or 2.
    std::vector<Cell> neighbours(Cell cell, int distance) const;

    // Gives all moves of a colour.
    std::vector<Move> legal_moves(int color) const;

    // Makes a legal move; gives what it changed.
    std::vector<Change> play(int color, Move move);

    // Writes changes to the cells.
    void write(const std::vector<Change>& changes);
};

// What you write: choose, and whichever of the other events you want to hear of. Calls for
// different games come from different threads, those for one game one after the other.
class Bot {
public:
    virtual ~Bot() = default;

    // Hears that a game begins, and which colour is yours.
    virtual void on_start(Board& /*board*/, int /*color*/, bool /*training*/) {}

    // Gives your move; `jumps` is how many jumps you have.
    virtual Move choose(Board& board, int color, int jumps) = 0;

    // Hears what a move has changed, yours or the opponent's; it is on the board already.
    virtual void on_changes(Board& /*board*/, const std::vector<Change>& /*changes*/) {}

    // Hears that a game is over.
    virtual void on_end(Board& /*board*/) {}
};

// Serves the bot on PORT, 3000 by default.
[[noreturn]] void run(Bot& bot);

}  // namespace hexagon
