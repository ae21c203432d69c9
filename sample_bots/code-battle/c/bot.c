/* A bot for AI Code Battle that gives random orders: rewrite choose. */

#include <stdlib.h>

#include "code_battle.h"

/* Writes your orders; gives their number. Bots without one hold; one bot in five does here. */
static int choose(struct match *match, const struct view *view, struct order *orders)
{
    int count = 0;
    (void)match;
    for (int place = 0; place < view->bots.count; place++) {
        const struct thing *bot = &view->bots.items[place];
        if (bot->owner == 0 && random() % 5 > 0)
            orders[count++] = (struct order){bot->row, bot->col, "NESW"[random() % 4]};
    }
    return count;
}

int main(void)
{
    run(&(struct bot){.choose = choose});
}
