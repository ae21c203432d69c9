/* Hexagon for bots: the web service, the board, and the events that a bot answers. */

#ifndef HEXAGON_H
#define HEXAGON_H

#include <stdbool.h>

/* Cells in a row of the largest board, and moves that there may be on it. */
#define MAX_SIDE 23
#define MAX_MOVES (MAX_SIDE * MAX_SIDE * 18)

struct cell {
    int i, j;
};

struct move {
    struct cell move_from, move_to;
};

struct change {
    int i, j, old_value, new_value;
};

/* A game: cells[i][j] is -1 stone, 0 empty, 1 or 2 a chip of that colour; `side` is the number of
   cells in a row. jumps[color] is how many jumps a colour may make now, placed[color] how many
   chips it has placed. `memory` is yours; free it in on_end. A copy of the structure is a board to
   try moves on. */
struct board {
    char id[65];
    int size, side;
    int cells[MAX_SIDE][MAX_SIDE];
    int jumps[3], placed[3];
    void *memory;
};

/* What you write: choose, and whichever of the other events you want to hear of. */
struct bot {
    /* A game begins, and `color` is yours. */
    void (*on_start)(struct board *board, int color, bool training);
    /* Give your move; `jumps` is how many jumps you have. */
    struct move (*choose)(struct board *board, int color, int jumps);
    /* A move has changed this, yours or the opponent's; it is on the board already. */
    void (*on_changes)(struct board *board, const struct change *changes, int count);
    /* A game is over. */
    void (*on_end)(struct board *board);
};

/* Serves the bot on PORT, 3000 by default. Calls for different games come from different threads
   at the same time, those for one game one after the other. */
_Noreturn void run(const struct bot *bot);

/* Finds the cells of the array at distance 1 or 2; gives their number. */
int neighbours(const struct board *board, struct cell cell, int distance, struct cell near[12]);

/* Finds all moves of a colour; gives their number. */
int legal_moves(const struct board *board, int color, struct move moves[MAX_MOVES]);

/* Makes a legal move; gives the number of cells that it has changed. */
int play(struct board *board, int color, struct move move, struct change changes[8]);

#endif
