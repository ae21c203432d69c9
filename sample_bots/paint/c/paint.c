#define _GNU_SOURCE
#include "paint.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const struct square DIRECTIONS[8] = {{-1, -1}, {-1, 0}, {-1, 1}, {0, -1},
                                     {0, 1},   {1, -1}, {1, 0},  {1, 1}};
const struct action ACTIONS[16] = {
    {WALK, {-1, -1}},  {WALK, {-1, 0}},  {WALK, {-1, 1}},  {WALK, {0, -1}},
    {WALK, {0, 1}},    {WALK, {1, -1}},  {WALK, {1, 0}},   {WALK, {1, 1}},
    {SHOOT, {-1, -1}}, {SHOOT, {-1, 0}}, {SHOOT, {-1, 1}}, {SHOOT, {0, -1}},
    {SHOOT, {0, 1}},   {SHOOT, {1, -1}}, {SHOOT, {1, 0}},  {SHOOT, {1, 1}},
};
static const char *const type_names[] = {"walk", "shoot"};

struct square position(const struct state *state)
{
    for (int place = 0; place < state->player_count; place++)
        if (strcmp(state->player_positions[place].player_id, state->player_id) == 0)
            return state->player_positions[place].square;
    return (struct square){-1, -1};
}

bool is_free(const struct state *state, int row, int col)
{
    for (int place = 0; place < state->obstacle_count; place++)
        if (state->obstacles[place].row == row && state->obstacles[place].col == col)
            return false;
    return row >= 0 && row < state->height && col >= 0 && col < state->width;
}

/* ---- reading ---- */

static bool read_int(const cJSON *item, int *value)
{
    *value = item ? item->valueint : 0;
    return cJSON_IsNumber(item) && item->valuedouble == item->valueint;
}

static bool read_member(const cJSON *message, const char *name, int *value)
{
    return read_int(cJSON_GetObjectItemCaseSensitive(message, name), value);
}

static bool read_square(const cJSON *said, struct square *square)
{
    return cJSON_GetArraySize(said) == 2 && read_int(cJSON_GetArrayItem(said, 0), &square->row)
        && read_int(cJSON_GetArrayItem(said, 1), &square->col);
}

static bool read_positions(const cJSON *said, struct state *state)
{
    const cJSON *item;
    size_t count = (size_t)cJSON_GetArraySize(said);
    state->player_positions = calloc(count + 1, sizeof *state->player_positions);
    cJSON_ArrayForEach(item, said) {
        struct position *position = &state->player_positions[state->player_count++];
        position->player_id = item->string;
        if (!read_square(item, &position->square))
            return false;
    }
    return cJSON_IsObject(said);
}

static bool read_colors(const cJSON *said, struct state *state)
{
    const cJSON *row, *item;
    int place = 0;
    if (state->width < 1 || state->height < 1 || state->width > 100 || state->height > 100
        || cJSON_GetArraySize(said) != state->height)
        return false;
    state->colors = calloc((size_t)(state->width * state->height), sizeof *state->colors);
    cJSON_ArrayForEach(row, said) {
        if (cJSON_GetArraySize(row) != state->width)
            return false;
        cJSON_ArrayForEach(item, row)
            state->colors[place++] = cJSON_GetStringValue(item);
    }
    return true;
}

static bool read_obstacles(const cJSON *said, struct state *state)
{
    const cJSON *item;
    state->obstacles = calloc((size_t)cJSON_GetArraySize(said) + 1, sizeof *state->obstacles);
    cJSON_ArrayForEach(item, said)
        if (!read_square(item, &state->obstacles[state->obstacle_count++]))
            return false;
    return true;
}

static bool read_state(const cJSON *message, struct state *state)
{
    state->previous_actions = cJSON_GetObjectItemCaseSensitive(message, "previous_actions");
    return read_member(message, "turns_left", &state->turns_left)
        && read_member(message, "width", &state->width)
        && read_member(message, "height", &state->height)
        && read_positions(cJSON_GetObjectItemCaseSensitive(message, "player_positions"), state)
        && read_colors(cJSON_GetObjectItemCaseSensitive(message, "colors"), state)
        && read_obstacles(cJSON_GetObjectItemCaseSensitive(message, "obstacles"), state);
}

static void free_state(struct state *state)
{
    free(state->player_positions);
    free(state->colors);
    free(state->obstacles);
}

/* ---- the conversation ---- */

static void leave(int number)
{
    (void)number;
    _exit(0);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void take_turn(const struct bot *bot, const struct state *state, double started)
{
    struct action action = bot->choose(state);
    const char *type = type_names[action.type];
    int down = action.direction.row, right = action.direction.col;
    fprintf(stderr, "turns_left %d: %s [%d,%d] %.1f ms\n", state->turns_left, type, down, right,
            now() - started);
    printf("{\"turns_left\":%d,\"type\":\"%s\",\"direction\":[%d,%d]}\n", state->turns_left, type,
           down, right);
    fflush(stdout);
}

static void hear(const struct bot *bot, char player_id[65], const char *line)
{
    double started = now();
    cJSON *message = cJSON_ParseWithOpts(line, NULL, true);
    const char *id = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(message, "player_id"));
    struct state state = {.player_id = player_id};
    if (id) {
        snprintf(player_id, 65, "%s", id);
        if (bot->on_start)
            bot->on_start(player_id);
        fprintf(stderr, "ready as %s %.1f ms\n", player_id, now() - started);
        puts("{\"ready\":true}");
        fflush(stdout);
    } else if (read_state(message, &state)) {
        take_turn(bot, &state, started);
    } else if (line[strspn(line, " \t\r\n")]) {
        fprintf(stderr, "skipped an unreadable line\n");
    }
    free_state(&state);
    cJSON_Delete(message);
}

int run(const struct bot *bot)
{
    char player_id[65] = "", *line = NULL;
    size_t size = 0;
    signal(SIGTERM, leave);
    signal(SIGINT, leave);
    srandom((unsigned)time(NULL) ^ (unsigned)getpid() << 16);
    while (getline(&line, &size, stdin) >= 0)
        hear(bot, player_id, line);
    free(line);
    if (bot->on_end)
        bot->on_end();
    return 0;
}
