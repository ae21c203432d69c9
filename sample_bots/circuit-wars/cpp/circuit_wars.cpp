#include "circuit_wars.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <regex>
#include <thread>

#include "json.hpp"

namespace circuit_wars {

namespace {

using Clock = std::chrono::steady_clock;

// Says why the game cannot be played.
struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

std::string setting(const char* name, const std::string& otherwise)
{
    const char* text = std::getenv(name);
    return text && *text ? text : otherwise;
}

// Connects to the server; gives a socket, or -1.
int connect_to(const std::string& host, const std::string& port)
{
    addrinfo wanted{}, *found = nullptr;
    wanted.ai_socktype = SOCK_STREAM;
    timeval patience{10, 0};
    int peer = -1, on = 1;
    if (getaddrinfo(host.c_str(), port.c_str(), &wanted, &found) != 0) return -1;
    for (addrinfo* each = found; each && peer < 0; each = each->ai_next) {
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

// The server, asked with HTTP/1.0, which brings the whole reply and then the end.
class Client {
public:
    // Requests a path and gives its JSON; raises Failure if there is none.
    json::Document ask(const std::string& path) const
    {
        auto started = Clock::now();
        std::string reply = get(path);
        std::chrono::duration<double, std::milli> time = Clock::now() - started;
        std::string code = reply.substr(0, 5) == "HTTP/" ? reply.substr(9, 3) : "0";
        std::fprintf(stderr, "GET /%s %s %.1f ms\n", path.c_str(), code.c_str(), time.count());
        std::size_t body = reply.find("\r\n\r\n");
        try {
            if (body != reply.npos) return json::read(reply.substr(body + 4));
        } catch (const json::Wrong&) {
            // Said below.
        }
        throw Failure("the server at " + server + " did not answer /" + path + " with JSON");
    }

    const std::string server = setting("CW_SERVER", "http://127.0.0.1:5000");

private:
    std::string get(const std::string& path) const
    {
        std::smatch found;
        if (!std::regex_match(server, found, std::regex("http://([^/:]+)(:([0-9]+))?(.*?)/*")))
            throw Failure("CW_SERVER must be of the form http://host:port, not " + server);
        std::string host = found[1], port = found[2].matched ? found[3].str() : "80";
        std::string request = "GET " + found[4].str() + "/" + path + " HTTP/1.0\r\nHost: " + host + ":";
        request += port + "\r\n\r\n";
        int peer = connect_to(host, port);
        if (peer < 0) throw Failure("there is no server at " + server);
        send(peer, request.data(), request.size(), MSG_NOSIGNAL);
        std::string reply;
        char part[65536];
        for (ssize_t got; (got = recv(peer, part, sizeof part, 0)) > 0;)
            reply.append(part, std::size_t(got));
        close(peer);
        return reply;
    }
};

std::string text(const cJSON* document, const char* name)
{
    const cJSON* item = json::member(document, name);
    return cJSON_IsString(item) ? item->valuestring : "";
}

Status read_status(const cJSON* document)
{
    Status status;
    status.status_code = json::integer(document, "status_code");
    status.status = text(document, "status");
    status.score_1 = json::integer(document, "score_1");
    status.score_2 = json::integer(document, "score_2");
    status.last_move = text(document, "last_move");
    for (auto* row = json::first(json::member(document, "board")); row; row = row->next) {
        status.board.squares.emplace_back();
        for (auto* square = json::first(row); square; square = square->next)
            status.board.squares.back().push_back(json::integer(square));
    }
    status.board.size = int(status.board.squares.size());
    return status;
}

void pause()
{
    double seconds = std::atof(setting("CW_PAUSE", "0.2").c_str());
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

std::string print(Segment segment)
{
    std::string border = segment.border == TOP ? "top"
        : segment.border == RIGHT              ? "right"
        : segment.border == BOTTOM             ? "bottom"
                                               : "left";
    return std::to_string(segment.x) + "," + std::to_string(segment.y) + "," + border;
}

int register_team(const Client& client, const std::string& team)
{
    auto answer = client.ask("reg/" + team);
    if (text(answer.get(), "response") != "OK")
        throw Failure("not registered as " + team + ": " + text(answer.get(), "message")
                      + text(answer.get(), "error"));
    return json::integer(answer.get(), "player");
}

Status play(const Client& client, Bot& bot, const std::string& team, int player)
{
    while (true) {
        pause();
        Status status = read_status(client.ask("status").get());
        if (status.status_code == 200 + player) {
            Segment chosen = bot.choose(status.board, player);
            pause();
            status = read_status(client.ask("move/" + team + "/" + print(chosen)).get());
        }
        if (status.status_code >= 300) return status;
    }
}

void play_one_game(Bot& bot, const std::string& team)
{
    Client client;
    int player = register_team(client, team);
    std::cout << team << " is player " << player << ". Watch the game at " << client.server << "/"
              << std::endl;
    bot.on_start(player);
    Status status = play(client, bot, team, player);
    bot.on_end(status);
    std::cout << status.status << ", " << status.score_1 << " to " << status.score_2 << ".\n"
              << (winner(status.status_code) == player ? "You won." : "You lost.") << std::endl;
}

}  // namespace

bool Board::has_border(int x, int y, Border border) const
{
    return (squares[std::size_t(y)][std::size_t(x)] & border) != 0;
}

int Board::owner(int x, int y) const { return squares[std::size_t(y)][std::size_t(x)] >> 4; }

std::vector<Segment> Board::free_segments() const
{
    std::vector<Segment> found;
    for (int y = 0; y < size; ++y)
        for (int x = 0; x < size; ++x)
            for (Border border : {TOP, LEFT, RIGHT, BOTTOM}) {
                // Named by the square to the right or below.
                bool elsewhere = (border == RIGHT && x < size - 1) || (border == BOTTOM && y < size - 1);
                if (!elsewhere && owner(x, y) == 0 && !has_border(x, y, border))
                    found.push_back({x, y, border});
            }
    return found;
}

int winner(int status_code) { return status_code < 400 ? status_code % 10 : 3 - status_code % 10; }

int run(Bot& bot, int argc, char** argv)
{
    std::signal(SIGTERM, [](int) { _exit(0); });
    std::signal(SIGINT, [](int) { _exit(0); });
    try {
        play_one_game(bot, argc > 1 ? argv[1] : setting("TEAM_ID", "sample"));
    } catch (const std::exception& failure) {
        std::cerr << failure.what() << "\n";
        return 1;
    }
    return 0;
}

}  // namespace circuit_wars
