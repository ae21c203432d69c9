/* An HTTP server for bots, with a thread for each connection. */

#define _GNU_SOURCE
#include "bot_server.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAX_HEAD (64 * 1024)

static struct reply (*answer)(const struct request *);

/* ---- the conversation with a client ---- */

struct connection {
    int socket;
    char *data;
    size_t used, capacity;
};

static void *must(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "out of memory\n");
        _exit(1);
    }
    return memory;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* Reads more; false if the client is gone. The data always ends with a 0 that does not count. */
static bool fill(struct connection *client)
{
    if (client->capacity - client->used < 65537) {
        client->capacity = client->capacity * 2 + 131072;
        client->data = must(realloc(client->data, client->capacity));
    }
    ssize_t got = recv(client->socket, client->data + client->used,
                       client->capacity - client->used - 1, 0);
    client->used += got > 0 ? (size_t)got : 0;
    client->data[client->used] = 0;
    return got > 0;
}

static const char *reason(int status)
{
    switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 404: return "Not Found";
    case 409: return "Conflict";
    case 411: return "Length Required";
    case 413: return "Content Too Large";
    case 431: return "Request Header Fields Too Large";
    default: return "Internal Server Error";
    }
}

static bool send_all(int socket, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(socket, data, length, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        data += sent;
        length -= (size_t)sent;
    }
    return true;
}

/* Writes head and body at once: two writes would cost 40 ms on a kept connection. */
static bool send_reply(struct connection *client, const char *method, const char *path,
                       struct reply reply, double started, bool keep)
{
    const char *body = reply.body ? reply.body : "", *text = reply.signature;
    char *whole;
    int length = asprintf(&whole,
                          "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\n"
                          "Content-Length: %zu\r\n%s%s%s%s\r\n%s",
                          reply.status, reason(reply.status), strlen(body),
                          *text ? "X-ACB-Signature: " : "", text, *text ? "\r\n" : "",
                          keep ? "" : "Connection: close\r\n", body);
    must(length < 0 ? NULL : whole);
    /* Logged first, so that whoever has the reply can rely on the line. */
    fprintf(stderr, "%s %s %d %.1f ms\n", method, path, reply.status, now() - started);
    bool sent = send_all(client->socket, whole, (size_t)length);
    free(whole);
    free(reply.body);
    return sent && keep;
}

static bool refuse(struct connection *client, int status)
{
    struct reply reply = {.status = status};
    return send_reply(client, "-", "-", reply, now(), false);
}

/* Takes the head apart, in place; gives 0, or the status that refuses it. */
static int read_head(char *head, struct request *request, bool *keep)
{
    char *line = head, *next = strstr(head, "\r\n");
    *next = 0;
    char *target = strchr(line, ' '), *version = target ? strchr(target + 1, ' ') : NULL;
    if (version == NULL || target == line || strncmp(version, " HTTP/1.", 8) != 0
        || strlen(version) != 9)
        return 400;
    *keep = version[8] == '1';
    *target++ = *version = 0;
    char *query = strchr(target, '?');
    if (query)
        *query++ = 0;
    request->method = line;
    request->path = target;
    request->query = query ? query : "";
    for (line = next + 2; *line; line = next + 2) {
        next = strstr(line, "\r\n");
        *next = 0;
        char *value = strchr(line, ':');
        if (value == NULL || request->header_count == MAX_HEADERS)
            return value ? 431 : 400;
        *value++ = 0;
        value += strspn(value, " \t");
        for (char *end = next; end > value && strchr(" \t", end[-1]); )
            *--end = 0;
        request->names[request->header_count] = line;
        request->values[request->header_count++] = value;
    }
    *keep = *keep && strcasecmp(header(request, "Connection"), "close") != 0;
    return 0;
}

/* Gives 0 and the length of the body, or the status that refuses it. */
static int read_length(const struct request *request, size_t *length)
{
    const char *text = header(request, "Content-Length");
    if (*header(request, "Transfer-Encoding"))
        return 411;
    if (strspn(text, "0123456789") != strlen(text))
        return 400;
    *length = strlen(text) > 9 ? MAX_BODY + 1 : strtoul(text, NULL, 10);
    return *length > MAX_BODY ? 413 : 0;
}

/* Answers one request; tells whether the connection is kept. */
static bool serve_one(struct connection *client)
{
    char *end;
    while ((end = client->used ? memmem(client->data, client->used, "\r\n\r\n", 4) : NULL) == NULL) {
        if (client->used > MAX_HEAD)
            return refuse(client, 431);
        if (!fill(client))
            return false;
    }
    size_t head_length = (size_t)(end - client->data) + 4;
    char *head = must(strndup(client->data, head_length - 2));
    struct request request = {0};
    bool keep = false;
    int status = strlen(head) < head_length - 2 ? 400 : read_head(head, &request, &keep);
    status = status ? status : read_length(&request, &request.length);
    if (status == 0 && strcasecmp(header(&request, "Expect"), "100-continue") == 0)
        send_all(client->socket, "HTTP/1.1 100 Continue\r\n\r\n", 25);
    bool here = status == 0;
    while (here && client->used < head_length + request.length)
        here = fill(client);
    if (here) {
        double started = now();
        request.body = must(malloc(request.length + 1));
        memcpy(request.body, client->data + head_length, request.length);
        request.body[request.length] = 0;
        client->used -= head_length + request.length;
        memmove(client->data, client->data + head_length + request.length, client->used);
        keep = send_reply(client, request.method, request.path, answer(&request), started, keep);
        free(request.body);
    } else {
        keep = status ? refuse(client, status) : false;
    }
    free(head);
    return keep;
}

static void *converse(void *argument)
{
    struct connection client = {.socket = (int)(long)argument};
    int on = 1;
    setsockopt(client.socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    while (serve_one(&client))
        continue;
    close(client.socket);
    free(client.data);
    return NULL;
}

/* ---- the server ---- */

static void leave(int number)
{
    (void)number;
    _exit(0);
}

static int listen_on(const char *host, const char *port)
{
    struct addrinfo wanted = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found;
    const char *reason = "there is no such address";
    int server = -1, on = 1;
    if (getaddrinfo(host, port, &wanted, &found) == 0) {
        server = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (bind(server, found->ai_addr, found->ai_addrlen) || listen(server, 128)) {
            reason = strerror(errno);
            close(server);
            server = -1;
        }
        freeaddrinfo(found);
    }
    if (server < 0) {
        fprintf(stderr, "cannot listen on %s:%s: %s\n", host, port, reason);
        exit(1);
    }
    return server;
}

static int port_of(int server)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    getsockname(server, (struct sockaddr *)&address, &size);
    return ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
                                               : ((struct sockaddr_in *)&address)->sin_port);
}

_Noreturn void serve(struct reply (*handle)(const struct request *), int default_port)
{
    char otherwise[16];
    snprintf(otherwise, sizeof otherwise, "%d", default_port);
    const char *host = setting("BOT_HOST", "127.0.0.1");
    int server = listen_on(host, setting("PORT", setting("BOT_PORT", otherwise)));
    answer = handle;
    /* What the bot prints is there at once, also if its program is killed. */
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGTERM, leave);
    signal(SIGINT, leave);
    printf("listening on http://%s:%d\n", host, port_of(server));
    fflush(stdout);
    while (true) {
        pthread_t thread;
        int client = accept(server, NULL, NULL);
        if (client >= 0 && pthread_create(&thread, NULL, converse, (void *)(long)client) == 0)
            pthread_detach(thread);
        else if (client >= 0)
            close(client);
    }
}

const char *setting(const char *name, const char *otherwise)
{
    const char *text = getenv(name);
    return text && *text ? text : otherwise;
}

const char *header(const struct request *request, const char *name)
{
    for (int place = 0; place < request->header_count; place++)
        if (strcasecmp(request->names[place], name) == 0)
            return request->values[place];
    return "";
}

char *unescape(const char *text, size_t length)
{
    char *made = must(malloc(length + 1)), *end = made;
    for (size_t at = 0; at < length; at++) {
        if (text[at] == '%' && at + 2 < length && isxdigit((unsigned char)text[at + 1])
            && isxdigit((unsigned char)text[at + 2])) {
            char code[3] = {text[at + 1], text[at + 2], 0};
            *end++ = (char)strtol(code, NULL, 16);
            at += 2;
        } else {
            *end++ = text[at] == '+' ? ' ' : text[at];
        }
    }
    *end = 0;
    return made;
}

char *query_value(const char *query, const char *name)
{
    size_t length = strlen(name);
    while (*query) {
        size_t part = strcspn(query, "&");
        if (part > length && strncmp(query, name, length) == 0 && query[length] == '=')
            return unescape(query + length + 1, part - length - 1);
        query += part + (query[part] == '&');
    }
    return must(strdup(""));
}

/* ---- the table of games ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t released = PTHREAD_COND_INITIALIZER;
static struct slot slots[MAX_GAMES];
static void (*forget_game)(void *game);
static long counter;

void table_open(void (*forget)(void *game))
{
    forget_game = forget;
}

static struct slot *look(const char *key)
{
    for (int place = 0; place < MAX_GAMES; place++)
        if (slots[place].game && strcmp(slots[place].key, key) == 0)
            return &slots[place];
    return NULL;
}

/* Gives the slot of a key when nobody holds it; the lock must be held. */
static struct slot *wait_for(const char *key)
{
    struct slot *slot;
    while ((slot = look(key)) != NULL && slot->held)
        pthread_cond_wait(&released, &lock);
    return slot;
}

static void *take(struct slot *slot)
{
    void *game = slot ? slot->game : NULL;
    if (slot)
        slot->game = NULL;
    return game;
}

static struct slot *free_slot(void)
{
    for (int place = 0; place < MAX_GAMES; place++)
        if (slots[place].game == NULL)
            return &slots[place];
    return NULL;
}

/* Gives the slot of the oldest game that nobody holds, NULL if all are held. */
static struct slot *oldest_slot(void)
{
    struct slot *oldest = NULL;
    for (int place = 0; place < MAX_GAMES; place++)
        if (!slots[place].held && (oldest == NULL || slots[place].number < oldest->number))
            oldest = &slots[place];
    return oldest;
}

struct slot *table_find(const char *key)
{
    pthread_mutex_lock(&lock);
    struct slot *slot = wait_for(key);
    if (slot)
        slot->held = true;
    pthread_mutex_unlock(&lock);
    return slot;
}

struct slot *table_put(const char *key, void *game)
{
    table_remove(key);
    pthread_mutex_lock(&lock);
    void *oldest = NULL;
    struct slot *slot;
    while ((slot = free_slot()) == NULL)
        if ((oldest = take(oldest_slot())) == NULL)
            pthread_cond_wait(&released, &lock);
    snprintf(slot->key, sizeof slot->key, "%s", key);
    slot->game = game;
    slot->held = true;
    slot->number = counter++;
    pthread_mutex_unlock(&lock);
    if (oldest)
        forget_game(oldest);
    return slot;
}

void table_release(struct slot *slot)
{
    pthread_mutex_lock(&lock);
    slot->held = false;
    pthread_cond_broadcast(&released);
    pthread_mutex_unlock(&lock);
}

void table_remove(const char *key)
{
    pthread_mutex_lock(&lock);
    void *game = take(wait_for(key));
    pthread_mutex_unlock(&lock);
    if (game)
        forget_game(game);
}
