/* AI Code Battle for bots: the signed web service, and the events that a bot answers. */

#ifndef CODE_BATTLE_H
#define CODE_BATTLE_H

#include <stdbool.h>

struct tile {
    int row, col;
};

struct config {
    int rows, cols, max_turns, vision_radius2, attack_radius2, spawn_cost, energy_interval;
};

/* A match. `memory` is yours; free it in on_end. */
struct match {
    char match_id[65];
    struct config config;
    void *memory;
};

/* What stands on a tile. The owner 0 is you, -1 is none; `active` is told of cores. */
struct thing {
    int row, col, owner;
    bool active;
};

struct things {
    int count;
    struct thing *items;
};

/* What you see in a turn; `energy` are the nodes that hold some. */
struct view {
    int turn;
    struct {
        int id, energy, score;
    } you;
    struct things bots, energy, cores, walls, dead;
};

/* Sends the bot on a tile into a direction: 'N', 'E', 'S' or 'W'. */
struct order {
    int row, col;
    char direction;
};

/* What you write: choose, and whichever of the other events you want to hear of. */
struct bot {
    /* A match is heard of for the first time. */
    void (*on_start)(struct match *match);
    /* Write your orders, at most one for each of your bots; give their number. Bots without one
       hold. */
    int (*choose)(struct match *match, const struct view *view, struct order *orders);
    /* A match is forgotten, as too many others came after it. */
    void (*on_end)(struct match *match);
};

/* Serves the bot on PORT, 8080 by default, with the secret BOT_SECRET. Calls for different matches
   come from different threads, those for one match one after the other. */
_Noreturn void run(const struct bot *bot);

/* Gives the tile one step away; row grows to the south, and the grid has no edges. */
struct tile step(const struct match *match, struct tile tile, char direction);

/* Gives the squared distance of two tiles. */
int distance2(const struct match *match, struct tile a, struct tile b);

#endif
