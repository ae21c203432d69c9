/* A bot for End of Codes: attack a neighbour, else stay or wander. Rewrite choose. */

#include <stdlib.h>

#include "end_of_codes.h"

/* Chooses for one creature; gives the number of intents: 0 is idle. */
static int act(const struct game *game, const struct creature *creature, struct intent *intent)
{
    enum direction targets[4], ways[4];
    int target_count = 0, way_count = 0;
    for (int direction = NORTH; direction <= WEST; direction++) {
        int x = creature->x + DIRECTIONS[direction].dx, y = creature->y + DIRECTIONS[direction].dy;
        const struct creature *other = at(game, x, y);
        if (other == NULL && is_on_map(game, x, y))
            ways[way_count++] = (enum direction)direction;
        else if (other != NULL && other->userid != game->myid)
            targets[target_count++] = (enum direction)direction;
    }
    intent->creatureid = creature->creatureid;
    if (target_count > 0) {
        intent->action = ATTACK;
        intent->direction = targets[random() % target_count];
        return 1;
    }
    if (way_count == 0 || random() % 2)
        return 0;
    intent->action = MOVE;
    intent->direction = ways[random() % way_count];
    return 1;
}

/* Writes your intents, at most one for each of your living creatures; gives their number. */
static int choose(struct game *game, struct intent *intents)
{
    int count = 0;
    for (int place = 0; place < game->creature_count; place++)
        if (is_mine(game, &game->creatures[place]))
            count += act(game, &game->creatures[place], &intents[count]);
    return count;
}

int main(void)
{
    run(&(struct bot){.botname = "sample", .version = "1.0", .choose = choose});
}
