/* End of Codes for bots: the web service, the map, and the events that a bot answers. */

#ifndef END_OF_CODES_H
#define END_OF_CODES_H

#include <stdbool.h>

enum direction { NORTH, EAST, SOUTH, WEST };
enum action { MOVE, ATTACK };

/* The step of each direction; y grows to the north. */
static const struct step {
    int dx, dy;
} DIRECTIONS[4] = {{0, 1}, {1, 0}, {0, -1}, {-1, 0}};

/* A creature; it is alive while hp is above 0. */
struct creature {
    int creatureid, userid, x, y, hp;
};

struct intent {
    int creatureid;
    enum action action;
    enum direction direction;
};

struct player {
    int userid;
    char username[65];
};

/* A game, as it stands in this round. `creatures` holds the dead ones too. `memory` is yours; free
   it in on_end. M and MAX_HP are 0 if the game began before this program. */
struct game {
    int gameid, myid, round, W, H, M, MAX_HP;
    int player_count, creature_count;
    struct player *players;
    struct creature *creatures;
    void *memory;
    int *grid;
};

/* What you write: choose, and whichever of the other events you want to hear of. */
struct bot {
    const char *botname, *version;
    /* A game begins; there are no creatures yet. */
    void (*on_start)(struct game *game);
    /* Write your intents, at most one for each of your living creatures; give their number. */
    int (*choose)(struct game *game, struct intent *intents);
    /* A game is over; `game` shows how it ended. */
    void (*on_end)(struct game *game);
};

/* Serves the bot on PORT, 8801 by default, as BOT_USERNAME; API_KEY is asked for if it is set. Calls
   for different games come from different threads, those for one game one after the other. */
_Noreturn void run(const struct bot *bot);

/* Tells whether a creature is yours and alive. */
bool is_mine(const struct game *game, const struct creature *creature);

/* Gives the living creature in a cell, or NULL. */
const struct creature *at(const struct game *game, int x, int y);

/* Tells whether there is such a cell. */
bool is_on_map(const struct game *game, int x, int y);

#endif
