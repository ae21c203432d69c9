/* A bot for Hexagon that makes a random legal move: rewrite choose. */

#include <stdlib.h>

#include "hexagon.h"

/* Gives your move; `jumps` is how many jumps you have. */
static struct move choose(struct board *board, int color, int jumps)
{
    struct move moves[MAX_MOVES];
    int count = legal_moves(board, color, moves);
    (void)jumps;
    return moves[random() % count];
}

int main(void)
{
    run(&(struct bot){.choose = choose});
}
