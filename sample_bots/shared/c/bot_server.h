/* An HTTP server for bots: each reply leaves in one write, each request is logged in one line. */

#ifndef BOT_SERVER_H
#define BOT_SERVER_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes that the body of a request may have. */
#define MAX_BODY (16 * 1024 * 1024)

/* Games that are remembered; when one more comes, the oldest is forgotten. */
#define MAX_GAMES 64

#define MAX_KEY 64
#define MAX_HEADERS 64

/* What came. The body ends with a byte of 0 that does not count. */
struct request {
    const char *method, *path, *query;
    int header_count;
    const char *names[MAX_HEADERS], *values[MAX_HEADERS];
    char *body;
    size_t length;
};

/* What goes back: a body of malloc or NULL for none, and a signature or "" for none. */
struct reply {
    int status;
    char *body;
    char signature[65];
};

/* Answers requests until SIGTERM or Ctrl-C. Listens on PORT or BOT_PORT (0 for any free port) of
   BOT_HOST, which is 127.0.0.1 by default. */
_Noreturn void serve(struct reply (*handle)(const struct request *), int default_port);

/* Gives a header, "" if there is none; the case of the name does not matter. */
const char *header(const struct request *request, const char *name);

/* Gives a setting of the environment. */
const char *setting(const char *name, const char *otherwise);

/* Decodes a part of a query or an urlencoded form; free it. */
char *unescape(const char *text, size_t length);

/* Gives a value of a query, decoded, or "" if there is none; free it. */
char *query_value(const char *query, const char *name);

/* A game in the table. It is not freed while it is held. */
struct slot {
    char key[MAX_KEY + 1];
    void *game;
    bool held;
    long number;
};

/* Names the function that frees a game which is over or forgotten. Must be called first. */
void table_open(void (*forget)(void *game));

/* Holds the game of this key, for one request at a time; NULL if there is none. */
struct slot *table_find(const char *key);

/* Puts a game into the table in place of one with the same key, and holds it. */
struct slot *table_put(const char *key, void *game);

/* Ends what table_find or table_put began. */
void table_release(struct slot *slot);

/* Forgets a game, if there is such a one; it must not be held by the caller. */
void table_remove(const char *key);

#endif
