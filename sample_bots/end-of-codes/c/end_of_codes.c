#define _GNU_SOURCE
#include "end_of_codes.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "bot_server.h"

#define MAX_FIELDS 32
#define LONGEST_SIDE 4096

static const struct bot *the_bot;
static const char *const direction_names[] = {"north", "east", "south", "west"};
static const char *const action_names[] = {"move", "attack"};

/* ---- the map ---- */

bool is_mine(const struct game *game, const struct creature *creature)
{
    return creature->hp > 0 && creature->userid == game->myid;
}

bool is_on_map(const struct game *game, int x, int y)
{
    return x >= 0 && x < game->W && y >= 0 && y < game->H;
}

const struct creature *at(const struct game *game, int x, int y)
{
    int place = is_on_map(game, x, y) ? game->grid[y * game->W + x] : 0;
    return place ? &game->creatures[place - 1] : NULL;
}

static int count_mine(const struct game *game)
{
    int mine = 0;
    for (int place = 0; place < game->creature_count; place++)
        mine += is_mine(game, &game->creatures[place]);
    return mine;
}

/* Tells whether living creatures have at least two owners. */
static bool goes_on(const struct game *game)
{
    int owner = 0;
    for (int place = 0; place < game->creature_count; place++) {
        const struct creature *creature = &game->creatures[place];
        if (creature->hp > 0 && owner && creature->userid != owner)
            return true;
        if (creature->hp > 0)
            owner = creature->userid;
    }
    return false;
}

/* ---- forms ---- */

struct form {
    int count;
    char *names[MAX_FIELDS], *values[MAX_FIELDS];
};

static void add_field(struct form *form, char *name, char *value)
{
    if (form->count == MAX_FIELDS) {
        free(name);
        free(value);
        return;
    }
    form->names[form->count] = name;
    form->values[form->count++] = value;
}

static void free_form(struct form *form)
{
    for (int place = 0; place < form->count; place++) {
        free(form->names[place]);
        free(form->values[place]);
    }
}

static const char *field(const struct form *form, const char *name)
{
    for (int place = 0; place < form->count; place++)
        if (strcmp(form->names[place], name) == 0)
            return form->values[place];
    return "";
}

static void read_urlencoded(struct form *form, const char *body)
{
    while (*body) {
        size_t part = strcspn(body, "&"), name = strcspn(body, "=&");
        size_t value = name + (body[name] == '=');
        add_field(form, unescape(body, name), unescape(body + value, part - value));
        body += part + (body[part] == '&');
    }
}

/* Finds the boundary in a content type; "" if there is none. */
static void find_boundary(const char *type, char boundary[128])
{
    const char *start = strcasestr(type, "boundary=");
    start = start ? start + strlen("boundary=") : "";
    bool quoted = *start == '"';
    size_t length = quoted ? strcspn(++start, "\"") : strcspn(start, "; \t");
    snprintf(boundary, 128, "%.*s", (int)length, start);
}

static void read_part(struct form *form, const char *part, size_t length)
{
    const char *end = memmem(part, length, "\r\n\r\n", 4);
    const char *name = end ? memmem(part, (size_t)(end - part), "name=\"", 6) : NULL;
    if (name) {
        name += strlen("name=\"");
        char *value = strndup(end + 4, length - (size_t)(end + 4 - part));
        add_field(form, strndup(name, strcspn(name, "\"")), value);
    }
}

static bool read_multipart(struct form *form, const char *type, const struct request *request)
{
    char boundary[128], mark[140];
    find_boundary(type, boundary);
    size_t length = (size_t)snprintf(mark, sizeof mark, "\r\n--%s", boundary);
    const char *part = request->body, *last = request->body + request->length;
    if (*boundary == 0)
        return false;
    while (part < last) {
        const char *next = memmem(part, (size_t)(last - part), mark, length);
        next = next ? next : last;
        read_part(form, part, (size_t)(next - part));
        part = next + length;
    }
    return true;
}

static bool read_form(struct form *form, const struct request *request)
{
    const char *type = header(request, "Content-Type");
    size_t length = strcspn(type, "; \t");
    if (length == 33 && strncasecmp(type, "application/x-www-form-urlencoded", length) == 0) {
        read_urlencoded(form, request->body);
        return true;
    }
    return length == 19 && strncasecmp(type, "multipart/form-data", length) == 0
        && read_multipart(form, type, request);
}

static bool read_integer(const struct form *form, const char *name, int *value)
{
    const char *text = field(form, name);
    size_t length = strlen(text);
    *value = atoi(text);
    return length > 0 && length < 10 && strspn(text, "0123456789") == length;
}

/* ---- documents ---- */

static bool read_member(const cJSON *object, const char *name, int *value)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    *value = item ? item->valueint : 0;
    return cJSON_IsNumber(item) && item->valuedouble == item->valueint;
}

static bool read_creatures(const cJSON *list, struct game *game)
{
    game->creature_count = 0;
    for (const cJSON *item = list->child; item; item = item->next) {
        struct creature *creature = &game->creatures[game->creature_count++];
        if (!read_member(item, "creatureid", &creature->creatureid)
            || !read_member(item, "userid", &creature->userid)
            || !read_member(item, "x", &creature->x) || !read_member(item, "y", &creature->y)
            || !read_member(item, "hp", &creature->hp)
            || !is_on_map(game, creature->x, creature->y))
            return false;
        if (creature->hp > 0)
            game->grid[creature->y * game->W + creature->x] = game->creature_count;
    }
    return true;
}

/* Reads the map into fresh memory of the game, whose W and H are set. */
static bool read_map(const char *text, struct game *game)
{
    cJSON *list = cJSON_ParseWithOpts(text, NULL, true);
    bool fine = cJSON_IsArray(list);
    if (fine) {
        game->creatures = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *game->creatures);
        game->grid = calloc((size_t)game->W * (size_t)game->H, sizeof *game->grid);
        fine = game->creatures && game->grid && read_creatures(list, game);
    }
    cJSON_Delete(list);
    return fine;
}

static bool read_players(const char *text, struct game *game)
{
    cJSON *list = cJSON_ParseWithOpts(text, NULL, true);
    bool fine = cJSON_IsArray(list);
    game->players = calloc(fine ? (size_t)cJSON_GetArraySize(list) + 1 : 1, sizeof *game->players);
    for (const cJSON *item = fine ? list->child : NULL; item && fine; item = item->next) {
        struct player *player = &game->players[game->player_count++];
        const cJSON *name = cJSON_GetObjectItemCaseSensitive(item, "username");
        fine = read_member(item, "userid", &player->userid) && cJSON_IsString(name);
        snprintf(player->username, sizeof player->username, "%s", fine ? name->valuestring : "");
    }
    cJSON_Delete(list);
    return fine;
}

static char *print_intents(const struct intent *intents, int count)
{
    cJSON *document = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(document, "intent");
    for (int place = 0; place < count; place++) {
        cJSON *intent = cJSON_CreateObject();
        cJSON_AddNumberToObject(intent, "creatureid", intents[place].creatureid);
        cJSON_AddStringToObject(intent, "action", action_names[intents[place].action]);
        cJSON_AddStringToObject(intent, "direction", direction_names[intents[place].direction]);
        cJSON_AddItemToArray(list, intent);
    }
    char *text = cJSON_PrintUnformatted(document);
    cJSON_Delete(document);
    return text;
}

/* ---- the web service ---- */

static struct reply ok(const char *body)
{
    return (struct reply){.status = 200, .body = strdup(body)};
}

static struct reply error(int status, const char *message)
{
    struct reply reply = {.status = status};
    cJSON *document = cJSON_CreateObject();
    cJSON_AddStringToObject(document, "error", message);
    reply.body = cJSON_PrintUnformatted(document);
    cJSON_Delete(document);
    return reply;
}

/* Compares in a time that depends on the length of what came alone. */
static bool is_key(const char *given)
{
    const char *right = setting("API_KEY", "");
    size_t length = strlen(right), came = strlen(given);
    unsigned char different = length != came;
    for (size_t place = 0; place < came; place++)
        different |= (unsigned char)(given[place] ^ (length ? right[place % length] : 0));
    return length == 0 || different == 0;
}

static void free_game(struct game *game)
{
    free(game->players);
    free(game->creatures);
    free(game->grid);
    free(game);
}

static void forget(void *game)
{
    if (the_bot->on_end)
        the_bot->on_end(game);
    free_game(game);
}

static struct slot *remember(struct game *game)
{
    char key[16];
    snprintf(key, sizeof key, "%d", game->gameid);
    return table_put(key, game);
}

/* Holds the game; one that began before this program is made here. */
static struct slot *find(int gameid)
{
    char key[16];
    snprintf(key, sizeof key, "%d", gameid);
    struct slot *slot = table_find(key);
    if (slot)
        return slot;
    struct game *game = calloc(1, sizeof *game);
    game->gameid = gameid;
    return remember(game);
}

static struct reply identify(const struct request *request)
{
    char *key = query_value(request->query, "api_key");
    bool fine = is_key(key);
    free(key);
    if (!fine)
        return error(401, "wrong api_key");
    cJSON *document = cJSON_CreateObject();
    cJSON_AddStringToObject(document, "botname", the_bot->botname);
    cJSON_AddStringToObject(document, "version", the_bot->version);
    cJSON_AddStringToObject(document, "username", setting("BOT_USERNAME", "sample"));
    struct reply reply = {.status = 200, .body = cJSON_PrintUnformatted(document)};
    cJSON_Delete(document);
    return reply;
}

static bool has_size(const struct game *game)
{
    return game->W > 0 && game->W <= LONGEST_SIDE && game->H > 0 && game->H <= LONGEST_SIDE;
}

static struct reply start(const struct form *form)
{
    struct game *game = calloc(1, sizeof *game);
    if (!read_integer(form, "gameid", &game->gameid) || !read_integer(form, "W", &game->W)
        || !read_integer(form, "H", &game->H) || !read_integer(form, "M", &game->M)
        || !read_integer(form, "MAX_HP", &game->MAX_HP) || !has_size(game)
        || !read_players(field(form, "players"), game)) {
        free_game(game);
        return error(400, "this is not a valid game");
    }
    struct slot *slot = remember(game);
    if (the_bot->on_start)
        the_bot->on_start(game);
    table_release(slot);
    return ok("[]");
}

static struct reply choose(struct game *game)
{
    int mine = count_mine(game);
    struct intent *intents = calloc((size_t)mine + 1, sizeof *intents);
    int count = mine && goes_on(game) ? the_bot->choose(game, intents) : 0;
    struct reply reply = {.status = 200, .body = print_intents(intents, count)};
    free(intents);
    return reply;
}

/* Takes the map of a round over from `now`. */
static void update(struct game *game, const struct game *now)
{
    free(game->creatures);
    free(game->grid);
    game->round = now->round;
    game->myid = now->myid;
    game->W = now->W;
    game->H = now->H;
    game->creature_count = now->creature_count;
    game->creatures = now->creatures;
    game->grid = now->grid;
}

static struct reply play(const struct form *form)
{
    struct game now = {0};
    if (!read_integer(form, "round", &now.round) || !read_integer(form, "myid", &now.myid)
        || !read_integer(form, "W", &now.W) || !read_integer(form, "H", &now.H)
        || !read_integer(form, "gameid", &now.gameid) || !has_size(&now)
        || !read_map(field(form, "map"), &now)) {
        free(now.creatures);
        free(now.grid);
        return error(400, "this is not a valid round");
    }
    struct slot *slot = find(now.gameid);
    update(slot->game, &now);
    bool over = !goes_on(slot->game);
    struct reply reply = choose(slot->game);
    table_release(slot);
    char key[16];
    snprintf(key, sizeof key, "%d", now.gameid);
    if (over)
        table_remove(key);
    return reply;
}

static struct reply of_form(const struct request *request, struct reply (*take)(const struct form *))
{
    struct form form = {0};
    struct reply reply;
    if (!read_form(&form, request))
        reply = error(400, "the body is not a form");
    else if (!is_key(field(&form, "api_key")))
        reply = error(401, "wrong api_key");
    else if (strcmp(field(&form, "method"), "create") != 0)
        reply = error(400, "method must be create");
    else
        reply = take(&form);
    free_form(&form);
    return reply;
}

static struct reply handle(const struct request *request)
{
    bool get = strcmp(request->method, "GET") == 0, post = strcmp(request->method, "POST") == 0;
    if (get && strcmp(request->path, "/bot") == 0)
        return identify(request);
    if (post && strcmp(request->path, "/game") == 0)
        return of_form(request, start);
    if (post && strcmp(request->path, "/round") == 0)
        return of_form(request, play);
    return error(404, "there is no such path");
}

_Noreturn void run(const struct bot *bot)
{
    the_bot = bot;
    srandom((unsigned)time(NULL) ^ (unsigned)getpid() << 16);
    table_open(forget);
    serve(handle, 8801);
}
