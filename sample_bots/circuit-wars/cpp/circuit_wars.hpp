// Circuit Wars for bots: the loop that plays a game over HTTP, the board, and its events.

#pragma once

#include <string>
#include <vector>

namespace circuit_wars {

// The sides of a square and their bits.
enum Border { TOP = 1, RIGHT = 2, BOTTOM = 4, LEFT = 8 };

struct Segment {
    int x, y;
    Border border;
};

// The board: squares[y][x] has a bit for each drawn side, 16 or 32 if player 1 or 2 owns it. A copy
// is a board to try moves on.
struct Board {
    int size = 0;
    std::vector<std::vector<int>> squares;

    // Tells whether this side of the square is drawn.
    bool has_border(int x, int y, Border border) const;

    // Tells who owns the square: 0 nobody, 1 or 2.
    int owner(int x, int y) const;

    // Gives every free segment once.
    std::vector<Segment> free_segments() const;
};

struct Status {
    int status_code = 0;
    std::string status;
    int score_1 = 0, score_2 = 0;
    std::string last_move;
    Board board;
};

// What you write: choose, and whichever of the other events you want to hear of.
class Bot {
public:
    virtual ~Bot() = default;

    // Hears that you are player 1 or 2.
    virtual void on_start(int /*player*/) {}

    // Gives the free segment to draw.
    virtual Segment choose(const Board& board, int player) = 0;

    // Hears how the game ended.
    virtual void on_end(const Status& /*status*/) {}
};

// Registers at CW_SERVER as the team of the command line or TEAM_ID, and plays one game; gives the
// exit code.
int run(Bot& bot, int argc, char** argv);

// Tells who won: 301 is a win of player 1, 401 and 501 are a loss.
int winner(int status_code);

}  // namespace circuit_wars
