/* A bot for Paint that takes any of the 16 actions: rewrite choose.
   Standard output belongs to the referee: print with fprintf(stderr, ...). */

#include <stdlib.h>

#include "paint.h"

/* Gives your action. */
static struct action choose(const struct state *state)
{
    (void)state;
    return ACTIONS[random() % 16];
}

int main(void)
{
    return run(&(struct bot){.choose = choose});
}
