#define _GNU_SOURCE
#include "circuit_wars.h"

#include <cjson/cJSON.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* ---- the board ---- */

bool has_border(const struct board *board, int x, int y, enum border border)
{
    return (board->squares[y][x] & (int)border) != 0;
}

int owner(const struct board *board, int x, int y)
{
    return board->squares[y][x] >> 4;
}

/* Finds the free sides of a square that no square to the right or below names too. */
static int own_sides(const struct board *board, int x, int y, struct segment *found)
{
    const enum border sides[] = {TOP, LEFT, RIGHT, BOTTOM};
    int count = 0;
    for (int place = 0; place < 4; place++) {
        bool elsewhere = (sides[place] == RIGHT && x < board->size - 1)
                      || (sides[place] == BOTTOM && y < board->size - 1);
        if (!elsewhere && !has_border(board, x, y, sides[place]))
            found[count++] = (struct segment){x, y, sides[place]};
    }
    return count;
}

int free_segments(const struct board *board, struct segment found[MAX_SEGMENTS])
{
    int count = 0;
    for (int y = 0; y < board->size; y++)
        for (int x = 0; x < board->size; x++)
            if (owner(board, x, y) == 0)
                count += own_sides(board, x, y, found + count);
    return count;
}

int winner(int status_code)
{
    return status_code < 400 ? status_code % 10 : 3 - status_code % 10;
}

/* ---- HTTP ---- */

static const char *setting(const char *name, const char *otherwise)
{
    const char *text = getenv(name);
    return text && *text ? text : otherwise;
}

static const char *server(void)
{
    return setting("CW_SERVER", "http://127.0.0.1:5000");
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* Connects to the server; gives a socket, or -1. */
static int connect_to(const char *host, const char *port)
{
    struct addrinfo wanted = {.ai_socktype = SOCK_STREAM}, *found;
    struct timeval patience = {.tv_sec = 10};
    int peer = -1, on = 1;
    if (getaddrinfo(host, port, &wanted, &found) != 0)
        return -1;
    for (struct addrinfo *each = found; each && peer < 0; each = each->ai_next) {
        peer = socket(each->ai_family, SOCK_STREAM, 0);
        setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        setsockopt(peer, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        if (connect(peer, each->ai_addr, each->ai_addrlen) != 0) {
            close(peer);
            peer = -1;
        }
    }
    freeaddrinfo(found);
    return peer;
}

/* Requests a path with HTTP/1.0, which brings the whole reply and then the end; free it. */
static char *get(const char *path)
{
    char host[256] = "", port[16] = "80", base[256] = "", *request, *reply = malloc(1 << 20);
    if (sscanf(server(), "http://%255[^:/]:%15[0-9]%255s", host, port, base) < 2)
        sscanf(server(), "http://%255[^/]%255s", host, base);
    if (base[0] && base[strlen(base) - 1] == '/')
        base[strlen(base) - 1] = 0;
    int peer = connect_to(host, port);
    int length = asprintf(&request, "GET %s/%s HTTP/1.0\r\nHost: %s:%s\r\n\r\n", base, path, host, port);
    if (peer < 0 || length < 0 || send(peer, request, (size_t)length, MSG_NOSIGNAL) != length) {
        fprintf(stderr, "there is no server at %s\n", server());
        exit(1);
    }
    size_t used = 0;
    ssize_t got;
    while ((got = recv(peer, reply + used, (1 << 20) - 1 - used, 0)) > 0)
        used += (size_t)got;
    reply[used] = 0;
    close(peer);
    free(request);
    return reply;
}

/* Requests a path and gives its JSON; exits with a message if there is none. */
static cJSON *ask(const char *path)
{
    double started = now();
    int code = 0;
    char *reply = get(path), *body = strstr(reply, "\r\n\r\n");
    sscanf(reply, "HTTP/%*s %d", &code);
    fprintf(stderr, "GET /%s %d %.1f ms\n", path, code, now() - started);
    cJSON *document = body ? cJSON_Parse(body + 4) : NULL;
    free(reply);
    if (!cJSON_IsObject(document)) {
        fprintf(stderr, "the server at %s did not answer /%s with JSON\n", server(), path);
        exit(1);
    }
    return document;
}

static int number(const cJSON *document, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(document, name);
    return cJSON_IsNumber(item) ? item->valueint : 0;
}

static const char *text(const cJSON *document, const char *name)
{
    const char *found = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(document, name));
    return found ? found : "";
}

/* ---- the game ---- */

static void read_board(const cJSON *rows, struct board *board)
{
    const cJSON *row, *square;
    board->size = 0;
    cJSON_ArrayForEach(row, rows) {
        int x = 0;
        if (board->size == MAX_SIZE)
            return;
        cJSON_ArrayForEach(square, row)
            if (x < MAX_SIZE)
                board->squares[board->size][x++] = square->valueint;
        board->size++;
    }
}

static struct status ask_status(const char *path)
{
    struct status status = {0};
    cJSON *document = ask(path);
    status.status_code = number(document, "status_code");
    status.score_1 = number(document, "score_1");
    status.score_2 = number(document, "score_2");
    snprintf(status.status, sizeof status.status, "%s", text(document, "status"));
    snprintf(status.last_move, sizeof status.last_move, "%s", text(document, "last_move"));
    read_board(cJSON_GetObjectItemCaseSensitive(document, "board"), &status.board);
    cJSON_Delete(document);
    return status;
}

static int register_team(const char *team)
{
    char path[128];
    snprintf(path, sizeof path, "reg/%s", team);
    cJSON *answer = ask(path);
    int player = number(answer, "player");
    if (strcmp(text(answer, "response"), "OK") != 0) {
        fprintf(stderr, "not registered as %s: %s%s\n", team, text(answer, "message"),
                text(answer, "error"));
        exit(1);
    }
    cJSON_Delete(answer);
    return player;
}

static void pause_between(void)
{
    usleep((useconds_t)(1e6 * atof(setting("CW_PAUSE", "0.2"))));
}

static const char *border_name(enum border border)
{
    return border == TOP ? "top" : border == RIGHT ? "right" : border == BOTTOM ? "bottom" : "left";
}

static struct status play(const struct bot *bot, const char *team, int player)
{
    while (true) {
        pause_between();
        struct status status = ask_status("status");
        if (status.status_code == 200 + player) {
            char path[128];
            struct segment chosen = bot->choose(&status.board, player);
            snprintf(path, sizeof path, "move/%s/%d,%d,%s", team, chosen.x, chosen.y,
                     border_name(chosen.border));
            pause_between();
            status = ask_status(path);
        }
        if (status.status_code >= 300)
            return status;
    }
}

static void leave(int number)
{
    (void)number;
    _exit(0);
}

int run(const struct bot *bot, int argc, char **argv)
{
    signal(SIGTERM, leave);
    signal(SIGINT, leave);
    srandom((unsigned)time(NULL) ^ (unsigned)getpid() << 16);
    const char *team = argc > 1 ? argv[1] : setting("TEAM_ID", "sample");
    int player = register_team(team);
    printf("%s is player %d. Watch the game at %s/\n", team, player, server());
    fflush(stdout);
    if (bot->on_start)
        bot->on_start(player);
    struct status status = play(bot, team, player);
    if (bot->on_end)
        bot->on_end(&status);
    printf("%s, %d to %d.\n", status.status, status.score_1, status.score_2);
    puts(winner(status.status_code) == player ? "You won." : "You lost.");
    return 0;
}
