#include "code_battle.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>

#include "bot_server.hpp"
#include "json.hpp"
#include "sha256.hpp"

namespace code_battle {

using bot_server::Reply;
using bot_server::Request;

namespace {

int around(int difference, int length)
{
    difference = std::abs(difference);
    return std::min(difference, length - difference);
}

int number(const cJSON* object, const char* name, int otherwise)
{
    const cJSON* item = json::member(object, name);
    return cJSON_IsNumber(item) ? item->valueint : otherwise;
}

std::vector<Thing> things(const cJSON* document, const char* name)
{
    std::vector<Thing> found;
    const cJSON* list = json::member(document, name);
    for (auto* item = list ? list->child : nullptr; item; item = item->next)
        found.push_back({number(item, "row", 0), number(item, "col", 0), number(item, "owner", -1),
                         json::flag(item, "active")});
    return found;
}

View read_view(const cJSON* document)
{
    const cJSON* you = json::member(document, "you");
    return {number(document, "turn", 0),
            {number(you, "id", 0), number(you, "energy", 0), number(you, "score", 0)},
            things(document, "bots"), things(document, "energy"), things(document, "cores"),
            things(document, "walls"), things(document, "dead")};
}

Config read_config(const cJSON* config)
{
    return {number(config, "rows", 0), number(config, "cols", 0), number(config, "max_turns", 0),
            number(config, "vision_radius2", 0), number(config, "attack_radius2", 0),
            number(config, "spawn_cost", 0), number(config, "energy_interval", 0)};
}

std::string print(const std::vector<Order>& orders)
{
    std::string text = R"({"moves":[)";
    for (auto& order : orders) {
        text += text.back() == '}' ? "," : "";
        text += R"({"row":)" + std::to_string(order.row) + R"(,"col":)" + std::to_string(order.col);
        text += R"(,"direction":")" + std::string(1, order.direction) + R"("})";
    }
    return text + "]}";
}

bool is_decimal(const std::string& text)
{
    return !text.empty() && text.size() <= 18 && text.find_first_not_of("0123456789") == text.npos;
}

// Compares all places, so that the time does not tell which one differs.
bool is_same(const std::string& given, const std::string& right)
{
    unsigned different = given.size() != right.size();
    for (std::size_t at = 0; at < right.size(); ++at)
        different |= unsigned(right[at] ^ (at < given.size() ? given[at] : 0));
    return different == 0;
}

// What the requests mean.
class Service {
public:
    Service(Bot& bot, std::string secret) : bot_(bot), secret_(std::move(secret)) {}

    Reply handle(const Request& request)
    {
        const std::string route = request.method + " " + request.path;
        if (route == "GET /health") return {200, R"({"status":"ok"})"};
        if (route != "POST /turn") return {404};
        if (!is_signed(request)) return {401};
        try {
            return play(request, json::read(request.body));
        } catch (const json::Wrong&) {
            return {400};
        }
    }

private:
    std::string sign(const std::string& text, const std::string& body) const
    {
        return hmac_sha256_hex(secret_, text + "." + sha256_hex(body));
    }

    bool is_signed(const Request& request) const
    {
        const std::string match_id = request.header("x-acb-match-id");
        const std::string turn = request.header("x-acb-turn");
        const std::string timestamp = request.header("x-acb-timestamp");
        if (match_id.empty() || request.header("x-acb-bot-id").empty()) return false;
        if (!is_decimal(turn) || !is_decimal(timestamp)) return false;
        if (std::abs(std::stoll(timestamp) - static_cast<long long>(std::time(nullptr))) > 30) return false;
        const std::string right = sign(match_id + "." + turn + "." + timestamp, request.body);
        return is_same(request.header("x-acb-signature"), right);
    }

    Reply play(const Request& request, const json::Document& document)
    {
        const std::string match_id = request.header("x-acb-match-id"), turn = request.header("x-acb-turn");
        if (json::text(json::member(document.get(), "match_id")) != match_id
            || json::integer(document.get(), "turn") != std::stoll(turn))
            return {400};
        auto entry = find(match_id, document.get());
        std::lock_guard guard(entry->lock);
        Reply reply{200, print(choose(entry->game, read_view(document.get())))};
        reply.signature = sign(match_id + "." + turn, reply.body);
        return reply;
    }

    // Asks the bot, and logs how long it took.
    std::vector<Order> choose(Match& match, const View& view)
    {
        auto started = std::chrono::steady_clock::now();
        auto orders = bot_.choose(match, view);
        std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - started;
        std::fprintf(stderr, "turn %d %.1f ms %zu moves\n", view.turn, taken.count(), orders.size());
        return orders;
    }

    std::shared_ptr<bot_server::Table<std::string, Match>::Entry> find(
        const std::string& match_id, const cJSON* document)
    {
        if (auto entry = matches_.find(match_id)) return entry;
        auto entry = matches_.put(match_id, {match_id, read_config(json::member(document, "config")), {}});
        std::lock_guard guard(entry->lock);
        bot_.on_start(entry->game);
        return entry;
    }

    Bot& bot_;
    const std::string secret_;
    bot_server::Table<std::string, Match> matches_{[this](Match& match) { bot_.on_end(match); }};
};

}  // namespace

Tile Match::step(Tile tile, char direction) const
{
    int down = (direction == 'S') - (direction == 'N'), right = (direction == 'E') - (direction == 'W');
    return {(tile.row + down + config.rows) % config.rows, (tile.col + right + config.cols) % config.cols};
}

int Match::distance2(Tile a, Tile b) const
{
    int down = around(a.row - b.row, config.rows), right = around(a.col - b.col, config.cols);
    return down * down + right * right;
}

std::vector<Tile> View::mine() const
{
    std::vector<Tile> mine;
    for (auto& bot : bots)
        if (bot.owner == 0) mine.push_back({bot.row, bot.col});
    return mine;
}

void run(Bot& bot)
{
    const std::string secret = bot_server::setting("BOT_SECRET", "");
    if (secret.empty()) {
        std::cerr << "set BOT_SECRET to the secret of your bot, 64 hexadecimal digits\n";
        std::exit(1);
    }
    Service service(bot, secret);
    bot_server::serve([&](const Request& request) { return service.handle(request); }, 8080);
}

}  // namespace code_battle
