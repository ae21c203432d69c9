#include "paint.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <iostream>

#include "json.hpp"

namespace paint {

namespace {

using Clock = std::chrono::steady_clock;

std::vector<Action> all_actions()
{
    std::vector<Action> actions;
    for (const char* type : {"walk", "shoot"})
        for (Square direction : DIRECTIONS) actions.push_back({type, direction});
    return actions;
}

Square read_square(const cJSON* said)
{
    if (cJSON_GetArraySize(said) != 2) throw json::Wrong("a square has two numbers");
    return {json::integer(json::first(said)), json::integer(json::first(said)->next)};
}

std::map<std::string, Action> read_turn(const cJSON* said)
{
    std::map<std::string, Action> turn;
    for (auto* item = said->child; item; item = item->next)
        turn[item->string ? item->string : ""] = {json::text(json::member(item, "type")),
                                                  read_square(json::member(item, "direction"))};
    return turn;
}

std::vector<std::optional<std::string>> read_row(const cJSON* said)
{
    std::vector<std::optional<std::string>> row;
    for (auto* item = json::first(said); item; item = item->next)
        row.push_back(cJSON_IsNull(item) ? std::nullopt : std::optional(json::text(item)));
    return row;
}

State read_state(const std::string& player_id, const cJSON* message)
{
    State state;
    state.player_id = player_id;
    state.turns_left = json::integer(message, "turns_left");
    state.width = json::integer(message, "width");
    state.height = json::integer(message, "height");
    const cJSON* positions = json::member(message, "player_positions");
    if (!cJSON_IsObject(positions)) throw json::Wrong("no player_positions");
    for (auto* item = positions->child; item; item = item->next)
        state.player_positions[item->string] = read_square(item);
    for (auto* row = json::first(json::member(message, "colors")); row; row = row->next)
        state.colors.push_back(read_row(row));
    const cJSON* turns = json::member(message, "previous_actions");
    for (auto* turn = turns ? json::first(turns) : nullptr; turn; turn = turn->next)
        state.previous_actions.push_back(read_turn(turn));
    const cJSON* obstacles = json::member(message, "obstacles");
    for (auto* item = obstacles ? json::first(obstacles) : nullptr; item; item = item->next)
        state.obstacles.push_back(read_square(item));
    return state;
}

// Logs to standard error: standard output belongs to the referee.
void send(const std::string& message, const std::string& text, Clock::time_point started)
{
    std::chrono::duration<double, std::milli> time = Clock::now() - started;
    std::fprintf(stderr, "%s %.1f ms\n", text.c_str(), time.count());
    std::cout << message << std::endl;
}

void take_turn(Bot& bot, const State& state, Clock::time_point started)
{
    Action action = bot.choose(state);
    std::string turns = std::to_string(state.turns_left), way = "[";
    way += std::to_string(action.direction.row) + "," + std::to_string(action.direction.col) + "]";
    send(R"({"turns_left":)" + turns + R"(,"type":")" + action.type + R"(","direction":)" + way + "}",
         "turns_left " + turns + ": " + action.type + " " + way, started);
}

// What a line holds: a player id, or a state, or neither.
struct Message {
    std::optional<std::string> player_id;
    std::optional<State> state;
};

Message read(const std::string& player_id, const std::string& line)
{
    try {
        auto document = json::read(line);
        const cJSON* id = json::member(document.get(), "player_id");
        if (id) return {json::text(id), {}};
        return {{}, read_state(player_id, document.get())};
    } catch (const json::Wrong&) {
        return {};
    }
}

}  // namespace

const std::vector<Square> DIRECTIONS{{-1, -1}, {-1, 0}, {-1, 1}, {0, -1},
                                     {0, 1},   {1, -1}, {1, 0},  {1, 1}};
const std::vector<Action> ACTIONS = all_actions();

bool State::is_free(int row, int col) const
{
    bool on_board = row >= 0 && row < height && col >= 0 && col < width;
    return on_board && std::find(obstacles.begin(), obstacles.end(), Square{row, col}) == obstacles.end();
}

void run(Bot& bot)
{
    std::signal(SIGTERM, [](int) { _exit(0); });
    std::signal(SIGINT, [](int) { _exit(0); });
    std::string player_id, line;
    while (std::getline(std::cin, line)) {
        auto started = Clock::now();
        Message message = read(player_id, line);
        if (message.player_id) {
            player_id = *message.player_id;
            bot.on_start(player_id);
            send(R"({"ready":true})", "ready as " + player_id, started);
        } else if (message.state) {
            take_turn(bot, *message.state, started);
        } else if (line.find_first_not_of(" \t\r") != line.npos) {
            std::cerr << "skipped an unreadable line\n";
        }
    }
    bot.on_end();
}

}  // namespace paint
