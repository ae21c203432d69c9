/* Circuit Wars for bots: the loop that plays a game over HTTP, the board, and its events. */

#ifndef CIRCUIT_WARS_H
#define CIRCUIT_WARS_H

#include <stdbool.h>

#define MAX_SIZE 31
#define MAX_SEGMENTS (2 * MAX_SIZE * (MAX_SIZE + 1))

/* The bit of each side of a square. */
enum border { TOP = 1, RIGHT = 2, BOTTOM = 4, LEFT = 8 };

struct segment {
    int x, y;
    enum border border;
};

/* The board: squares[y][x] has a bit for each drawn side, 16 or 32 if player 1 or 2 owns it. A copy
   of the structure is a board to try moves on. */
struct board {
    int size;
    int squares[MAX_SIZE][MAX_SIZE];
};

struct status {
    int status_code;
    char status[128];
    int score_1, score_2;
    char last_move[32];
    struct board board;
};

/* What you write: choose, and whichever of the other events you want to hear of. */
struct bot {
    /* You are player 1 or 2. */
    void (*on_start)(int player);
    /* Give the free segment to draw. */
    struct segment (*choose)(const struct board *board, int player);
    /* This is how the game ended. */
    void (*on_end)(const struct status *status);
};

/* Registers at CW_SERVER as the team of the command line or TEAM_ID, and plays one game; gives the
   exit code. */
int run(const struct bot *bot, int argc, char **argv);

/* Tells whether this side of the square is drawn. */
bool has_border(const struct board *board, int x, int y, enum border border);

/* Tells who owns the square: 0 nobody, 1 or 2. */
int owner(const struct board *board, int x, int y);

/* Finds every free segment once; gives their number. */
int free_segments(const struct board *board, struct segment found[MAX_SEGMENTS]);

/* Tells who won: 301 is a win of player 1, 401 and 501 are a loss. */
int winner(int status_code);

#endif
