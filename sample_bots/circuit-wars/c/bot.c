/* A bot for Circuit Wars that draws a random free segment: rewrite choose. */

#include <stdlib.h>

#include "circuit_wars.h"

/* Gives the free segment to draw. */
static struct segment choose(const struct board *board, int player)
{
    struct segment found[MAX_SEGMENTS];
    (void)player;
    return found[random() % free_segments(board, found)];
}

int main(int argc, char **argv)
{
    return run(&(struct bot){.choose = choose}, argc, argv);
}
