#define _GNU_SOURCE
#include "hexagon.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bot_server.h"

#define MAX_CHANGES (MAX_SIDE * MAX_SIDE)

static const struct bot *the_bot;

/* The number of steps by distance, and the steps for even rows and for odd rows. */
static const int counts[3] = {0, 6, 12};
static const struct cell offsets[3][2][12] = {
    {{{0, 0}}, {{0, 0}}},
    {{{-1, -1}, {-1, 0}, {0, -1}, {0, 1}, {1, -1}, {1, 0}},
     {{-1, 0}, {-1, 1}, {0, -1}, {0, 1}, {1, 0}, {1, 1}}},
    {{{-2, -1}, {-2, 0}, {-2, 1}, {-1, -2}, {-1, 1}, {0, -2},
      {0, 2}, {1, -2}, {1, 1}, {2, -1}, {2, 0}, {2, 1}},
     {{-2, -1}, {-2, 0}, {-2, 1}, {-1, -1}, {-1, 2}, {0, -2},
      {0, 2}, {1, -1}, {1, 2}, {2, -1}, {2, 0}, {2, 1}}},
};

/* ---- the board ---- */

int neighbours(const struct board *board, struct cell cell, int distance, struct cell near[12])
{
    int found = 0;
    for (int step = 0; step < counts[distance]; step++) {
        int i = cell.i + offsets[distance][cell.i % 2][step].i;
        int j = cell.j + offsets[distance][cell.i % 2][step].j;
        if (i >= 0 && i < board->side && j >= 0 && j < board->side)
            near[found++] = (struct cell){i, j};
    }
    return found;
}

static int moves_from(const struct board *board, struct cell from, int color, struct move *moves)
{
    struct cell near[12];
    int found = 0;
    for (int distance = 1; distance <= (board->jumps[color] > 0 ? 2 : 1); distance++) {
        int count = neighbours(board, from, distance, near);
        for (int place = 0; place < count; place++)
            if (board->cells[near[place].i][near[place].j] == 0)
                moves[found++] = (struct move){from, near[place]};
    }
    return found;
}

int legal_moves(const struct board *board, int color, struct move moves[MAX_MOVES])
{
    int found = 0;
    for (int i = 0; i < board->side; i++)
        for (int j = 0; j < board->side; j++)
            if (board->cells[i][j] == color)
                found += moves_from(board, (struct cell){i, j}, color, moves + found);
    return found;
}

static void write_changes(struct board *board, const struct change *changes, int count)
{
    for (int place = 0; place < count; place++)
        board->cells[changes[place].i][changes[place].j] = changes[place].new_value;
}

int play(struct board *board, int color, struct move move, struct change changes[8])
{
    struct cell near[12], from = move.move_from, to = move.move_to;
    int count = neighbours(board, from, 1, near), made = 0;
    bool multiplies = false;
    for (int place = 0; place < count; place++)
        multiplies = multiplies || (near[place].i == to.i && near[place].j == to.j);
    if (multiplies) {
        board->placed[color]++;
        board->jumps[color] += board->placed[color] % 2 == 0;
    } else {
        board->jumps[color]--;
        changes[made++] = (struct change){from.i, from.j, color, 0};
    }
    changes[made++] = (struct change){to.i, to.j, 0, color};
    count = neighbours(board, to, 1, near);
    for (int place = 0; place < count; place++)
        if (board->cells[near[place].i][near[place].j] == 3 - color)
            changes[made++] = (struct change){near[place].i, near[place].j, 3 - color, color};
    write_changes(board, changes, made);
    return made;
}

/* ---- reading ---- */

static bool read_int(const cJSON *item, int *value)
{
    *value = item ? item->valueint : 0;
    return cJSON_IsNumber(item) && item->valuedouble == item->valueint;
}

static bool read_jumps(const cJSON *document, int jumps[3])
{
    const cJSON *said = cJSON_GetObjectItemCaseSensitive(document, "jumps");
    return read_int(cJSON_GetObjectItemCaseSensitive(said, "1"), &jumps[1])
        && read_int(cJSON_GetObjectItemCaseSensitive(said, "2"), &jumps[2]);
}

static bool read_cells(const cJSON *said, struct board *board)
{
    board->side = cJSON_GetArraySize(said);
    board->size = (board->side + 1) / 2;
    if (!cJSON_IsArray(said) || board->side % 2 == 0 || board->side > MAX_SIDE)
        return false;
    int i = 0;
    for (const cJSON *row = said->child; row; row = row->next, i++) {
        int j = 0;
        if (!cJSON_IsArray(row) || cJSON_GetArraySize(row) != board->side)
            return false;
        for (const cJSON *item = row->child; item; item = item->next, j++) {
            if (!read_int(item, &board->cells[i][j]))
                return false;
            if (board->cells[i][j] == 1 || board->cells[i][j] == 2)
                board->placed[board->cells[i][j]]++;
        }
    }
    return true;
}

static bool read_board(const cJSON *document, struct board *board)
{
    const char *id = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(document, "id"));
    const cJSON *said = cJSON_GetObjectItemCaseSensitive(document, "board");
    if (id == NULL || strlen(id) >= sizeof board->id)
        return false;
    strcpy(board->id, id);
    return read_cells(cJSON_GetObjectItemCaseSensitive(said, "cells"), board)
        && read_jumps(document, board->jumps);
}

/* Gives the number of changes, or -1 if these are none. */
static int read_changes(const cJSON *said, int side, struct change *changes)
{
    int count = 0;
    if (!cJSON_IsArray(said) || cJSON_GetArraySize(said) > MAX_CHANGES)
        return -1;
    for (const cJSON *item = said->child; item; item = item->next, count++) {
        struct change *change = &changes[count];
        if (!cJSON_IsArray(item) || cJSON_GetArraySize(item) != 4
            || !read_int(cJSON_GetArrayItem(item, 0), &change->i)
            || !read_int(cJSON_GetArrayItem(item, 1), &change->j)
            || !read_int(cJSON_GetArrayItem(item, 2), &change->old_value)
            || !read_int(cJSON_GetArrayItem(item, 3), &change->new_value)
            || change->i < 0 || change->i >= side || change->j < 0 || change->j >= side
            || change->new_value < 0 || change->new_value > 2)
            return -1;
    }
    return count;
}

/* ---- the web service ---- */

static struct reply ok(void)
{
    return (struct reply){.status = 200, .body = strdup("{\"status\":\"ok\"}")};
}

static struct reply error(int status, const char *message)
{
    struct reply reply = {.status = status};
    cJSON *document = cJSON_CreateObject();
    cJSON_AddStringToObject(document, "status", "error");
    cJSON_AddStringToObject(document, "message", message);
    reply.body = cJSON_PrintUnformatted(document);
    cJSON_Delete(document);
    return reply;
}

static void forget(void *game)
{
    if (the_bot->on_end)
        the_bot->on_end(game);
    free(game);
}

static struct reply post(const cJSON *document)
{
    struct board *board = calloc(1, sizeof *board);
    if (board == NULL || !read_board(document, board)) {
        free(board);
        return error(400, "this is not a valid game");
    }
    struct slot *slot = table_put(board->id, board);
    int color = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(document, "first_turn")) ? 1 : 2;
    bool training = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(document, "training"));
    if (the_bot->on_start)
        the_bot->on_start(board, color, training);
    table_release(slot);
    return ok();
}

static struct reply get(struct board *board, const char *text)
{
    if (strcmp(text, "1") != 0 && strcmp(text, "2") != 0)
        return error(400, "color must be 1 or 2");
    static _Thread_local struct move moves[MAX_MOVES];
    int color = *text - '0';
    if (legal_moves(board, color, moves) == 0)
        return error(409, "there is no legal move");
    struct move move = the_bot->choose(board, color, board->jumps[color]);
    struct reply reply = {.status = 200};
    if (asprintf(&reply.body, "{\"status\":\"ok\",\"move_from\":[%d,%d],\"move_to\":[%d,%d]}",
                 move.move_from.i, move.move_from.j, move.move_to.i, move.move_to.j) < 0)
        reply.body = NULL;
    return reply;
}

static struct reply put(struct board *board, const cJSON *document)
{
    static _Thread_local struct change changes[MAX_CHANGES];
    int jumps[3] = {0};
    int count = read_changes(cJSON_GetObjectItemCaseSensitive(document, "changes"), board->side,
                             changes);
    if (count < 0 || !read_jumps(document, jumps))
        return error(400, "the changes are invalid");
    write_changes(board, changes, count);
    memcpy(board->jumps, jumps, sizeof jumps);
    if (count > 0 && changes[0].new_value > 0)
        board->placed[changes[0].new_value]++;
    if (the_bot->on_changes)
        the_bot->on_changes(board, changes, count);
    return ok();
}

static struct reply of_game(const struct request *request, const char *id, const cJSON *document)
{
    struct slot *slot = table_find(id);
    if (slot == NULL)
        return error(404, "there is no such game");
    struct reply reply;
    if (strcmp(request->method, "GET") == 0) {
        char *color = query_value(request->query, "color");
        reply = get(slot->game, color);
        free(color);
    } else {
        reply = put(slot->game, document);
    }
    table_release(slot);
    return reply;
}

static struct reply dispatch(const struct request *request, const cJSON *document)
{
    const char *method = request->method, *id = request->path + strlen("/games/");
    if (strcmp(method, "POST") == 0 && strcmp(request->path, "/games") == 0)
        return post(document);
    if (strncmp(request->path, "/games/", strlen("/games/")) != 0 || *id == 0 || strchr(id, '/'))
        return error(404, "there is no such path");
    if (strcmp(method, "GET") == 0 || strcmp(method, "PUT") == 0)
        return of_game(request, id, document);
    if (strcmp(method, "DELETE") != 0)
        return error(404, "there is no such method");
    table_remove(id);
    return ok();
}

static struct reply handle(const struct request *request)
{
    cJSON *document = cJSON_ParseWithOpts(request->body, NULL, true);
    struct reply reply = dispatch(request, document);
    cJSON_Delete(document);
    return reply;
}

_Noreturn void run(const struct bot *bot)
{
    the_bot = bot;
    srandom((unsigned)time(NULL) ^ (unsigned)getpid() << 16);
    table_open(forget);
    serve(handle, 3000);
}
