#define _GNU_SOURCE
#include "code_battle.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bot_server.h"
#include "sha256.h"

static const struct bot *the_bot;

/* ---- the grid ---- */

struct tile step(const struct match *match, struct tile tile, char direction)
{
    int rows = match->config.rows, cols = match->config.cols;
    int down = (direction == 'S') - (direction == 'N');
    int right = (direction == 'E') - (direction == 'W');
    return (struct tile){(tile.row + down + rows) % rows, (tile.col + right + cols) % cols};
}

static int around(int difference, int length)
{
    difference = abs(difference);
    return length - difference < difference ? length - difference : difference;
}

int distance2(const struct match *match, struct tile a, struct tile b)
{
    int down = around(a.row - b.row, match->config.rows);
    int right = around(a.col - b.col, match->config.cols);
    return down * down + right * right;
}

/* ---- reading ---- */

static int number(const cJSON *object, const char *name, int otherwise)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(item) ? item->valueint : otherwise;
}

static void read_things(const cJSON *document, const char *name, struct things *things)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(document, name), *item;
    things->items = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *things->items);
    cJSON_ArrayForEach(item, list)
        things->items[things->count++] = (struct thing){
            number(item, "row", 0), number(item, "col", 0), number(item, "owner", -1),
            cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "active"))};
}

static void read_view(const cJSON *document, struct view *view)
{
    const cJSON *you = cJSON_GetObjectItemCaseSensitive(document, "you");
    view->turn = number(document, "turn", 0);
    view->you.id = number(you, "id", 0);
    view->you.energy = number(you, "energy", 0);
    view->you.score = number(you, "score", 0);
    read_things(document, "bots", &view->bots);
    read_things(document, "energy", &view->energy);
    read_things(document, "cores", &view->cores);
    read_things(document, "walls", &view->walls);
    read_things(document, "dead", &view->dead);
}

static void free_view(struct view *view)
{
    free(view->bots.items);
    free(view->energy.items);
    free(view->cores.items);
    free(view->walls.items);
    free(view->dead.items);
}

static struct match *read_match(const cJSON *document, const char *match_id)
{
    struct match *match = calloc(1, sizeof *match);
    const cJSON *config = cJSON_GetObjectItemCaseSensitive(document, "config");
    snprintf(match->match_id, sizeof match->match_id, "%s", match_id);
    match->config = (struct config){
        number(config, "rows", 0), number(config, "cols", 0), number(config, "max_turns", 0),
        number(config, "vision_radius2", 0), number(config, "attack_radius2", 0),
        number(config, "spawn_cost", 0), number(config, "energy_interval", 0)};
    return match;
}

/* ---- signatures ---- */

static bool is_decimal(const char *text)
{
    size_t length = strlen(text);
    return length > 0 && length <= 18 && strspn(text, "0123456789") == length;
}

/* Signs match id, turn, timestamp ("" for none, else with its point) and the hash of a body. */
static void sign(const struct request *request, const char *timestamp, const char *body,
                 size_t length, char signature[65])
{
    char hash[65], *text;
    sha256_hex(body, length, hash);
    if (asprintf(&text, "%s.%s.%s%s%s", header(request, "X-ACB-Match-Id"),
                 header(request, "X-ACB-Turn"), timestamp, *timestamp ? "." : "", hash) < 0)
        abort();
    hmac_sha256_hex(setting("BOT_SECRET", ""), text, signature);
    free(text);
}

static bool is_signed(const struct request *request)
{
    const char *timestamp = header(request, "X-ACB-Timestamp");
    const char *given = header(request, "X-ACB-Signature");
    if (*header(request, "X-ACB-Match-Id") == 0 || *header(request, "X-ACB-Bot-Id") == 0
        || !is_decimal(header(request, "X-ACB-Turn")) || !is_decimal(timestamp))
        return false;
    long long away = (long long)time(NULL) - atoll(timestamp);
    if (away > 30 || away < -30)
        return false;
    char right[65];
    sign(request, timestamp, request->body, request->length, right);
    /* All places are compared, so that the time does not tell which one differs. */
    size_t length = strlen(given);
    unsigned char different = length != 64;
    for (size_t place = 0; place < 64; place++)
        different |= (unsigned char)(right[place] ^ (place < length ? given[place] : 0));
    return different == 0;
}

/* ---- the web service ---- */

static void forget(void *game)
{
    if (the_bot->on_end)
        the_bot->on_end(game);
    free(game);
}

static struct slot *find(const cJSON *document, const char *match_id)
{
    struct slot *slot = table_find(match_id);
    if (slot)
        return slot;
    slot = table_put(match_id, read_match(document, match_id));
    if (the_bot->on_start)
        the_bot->on_start(slot->game);
    return slot;
}

static char *print_orders(const struct order *orders, int count)
{
    cJSON *document = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(document, "moves");
    for (int place = 0; place < count; place++) {
        cJSON *order = cJSON_CreateObject();
        cJSON_AddNumberToObject(order, "row", orders[place].row);
        cJSON_AddNumberToObject(order, "col", orders[place].col);
        cJSON_AddStringToObject(order, "direction", (char[]){orders[place].direction, 0});
        cJSON_AddItemToArray(list, order);
    }
    char *text = cJSON_PrintUnformatted(document);
    cJSON_Delete(document);
    return text;
}

static double milliseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static struct reply play(const struct request *request, const cJSON *document, const char *match_id)
{
    struct view view = {0};
    read_view(document, &view);
    struct order *orders = calloc((size_t)view.bots.count + 1, sizeof *orders);
    struct slot *slot = find(document, match_id);
    double started = milliseconds();
    int count = the_bot->choose(slot->game, &view, orders);
    fprintf(stderr, "turn %d %.1f ms %d moves\n", view.turn, milliseconds() - started, count);
    table_release(slot);
    struct reply reply = {.status = 200, .body = print_orders(orders, count)};
    sign(request, "", reply.body, strlen(reply.body), reply.signature);
    free(orders);
    free_view(&view);
    return reply;
}

static struct reply turn(const struct request *request)
{
    struct reply reply = {.status = is_signed(request) ? 400 : 401};
    if (reply.status == 401)
        return reply;
    cJSON *document = cJSON_ParseWithOpts(request->body, NULL, true);
    const cJSON *said = cJSON_GetObjectItemCaseSensitive(document, "turn");
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(document, "match_id");
    if (cJSON_IsNumber(said) && said->valuedouble == (double)atoll(header(request, "X-ACB-Turn"))
        && cJSON_IsString(id) && strlen(id->valuestring) <= MAX_KEY
        && strcmp(id->valuestring, header(request, "X-ACB-Match-Id")) == 0)
        reply = play(request, document, id->valuestring);
    cJSON_Delete(document);
    return reply;
}

static struct reply handle(const struct request *request)
{
    if (strcmp(request->method, "GET") == 0 && strcmp(request->path, "/health") == 0)
        return (struct reply){.status = 200, .body = strdup("{\"status\":\"ok\"}")};
    if (strcmp(request->method, "POST") == 0 && strcmp(request->path, "/turn") == 0)
        return turn(request);
    return (struct reply){.status = 404};
}

_Noreturn void run(const struct bot *bot)
{
    if (*setting("BOT_SECRET", "") == 0) {
        fprintf(stderr, "set BOT_SECRET to the secret of your bot, 64 hexadecimal digits\n");
        exit(1);
    }
    the_bot = bot;
    srandom((unsigned)time(NULL) ^ (unsigned)getpid() << 16);
    table_open(forget);
    serve(handle, 8080);
}
