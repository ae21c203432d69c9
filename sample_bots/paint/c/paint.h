/* Paint for bots: the conversation over standard input and output, and its events. */

#ifndef PAINT_H
#define PAINT_H

#include <cjson/cJSON.h>
#include <stdbool.h>

/* A row and a column, or a step in rows and columns; row grows downward. */
struct square {
    int row, col;
};

enum action_type { WALK, SHOOT };

struct action {
    enum action_type type;
    struct square direction;
};

/* The eight directions, and the 16 actions. */
extern const struct square DIRECTIONS[8];
extern const struct action ACTIONS[16];

struct position {
    const char *player_id;
    struct square square;
};

/* The board of a turn. colors[row * width + col] is a player id or NULL, `player_id` is yours;
   turns_left counts this turn too; previous_actions is the list of the message, the oldest turn
   first, NULL if there is none. All of it is gone when choose has returned. */
struct state {
    const char *player_id;
    int turns_left, width, height;
    int player_count;
    struct position *player_positions;
    const char **colors;
    const cJSON *previous_actions;
    int obstacle_count;
    struct square *obstacles;
};

/* What you write: choose, and whichever of the other events you want to hear of. */
struct bot {
    /* This is who you are; there are 5 s until you must be ready. */
    void (*on_start)(const char *player_id);
    /* Give your action; there is 0.5 s for it. */
    struct action (*choose)(const struct state *state);
    /* The game is over. */
    void (*on_end)(void);
};

/* Plays until the referee closes our input; gives the exit code. */
int run(const struct bot *bot);

/* Gives the square of your avatar. */
struct square position(const struct state *state);

/* Tells whether a square is on the board and no obstacle. */
bool is_free(const struct state *state, int row, int col);

#endif
