#include "end_of_codes.hpp"

#include <set>

#include "bot_server.hpp"
#include "json.hpp"

namespace end_of_codes {

using bot_server::Fields;
using bot_server::Refusal;
using bot_server::Reply;
using bot_server::Request;

namespace {

std::int64_t key(int x, int y) { return std::int64_t(y) << 32 | std::uint32_t(x); }

std::string field(const Fields& fields, const char* name)
{
    auto found = fields.find(name);
    return found == fields.end() ? "" : found->second;
}

int integer(const Fields& fields, const char* name)
{
    std::string text = field(fields, name);
    if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != text.npos)
        throw Refusal(400, std::string(name) + " must be an integer");
    return std::stoi(text);
}

Fields read_multipart(const std::string& boundary, const std::string& body)
{
    Fields fields;
    const std::string mark = "\r\n--" + boundary, whole = "\r\n" + body;
    for (std::size_t at = whole.find(mark); at != whole.npos;) {
        std::size_t next = whole.find(mark, at + mark.size()), end = whole.find("\r\n\r\n", at);
        std::size_t name = whole.find("name=\"", at);
        if (end < next && name < end) {
            std::size_t from = name + 6, last = std::min(next, whole.size());
            fields[whole.substr(from, whole.find('"', from) - from)] = whole.substr(end + 4, last - end - 4);
        }
        at = next;
    }
    return fields;
}

// Finds the boundary in a content type; "" if there is none.
std::string find_boundary(const std::string& type)
{
    const std::string name = "boundary=";
    std::size_t at = bot_server::lower(type).find(name);
    if (at == type.npos) return "";
    std::string rest = type.substr(at + name.size());
    return rest[0] == '"' ? rest.substr(1, rest.find('"', 1) - 1) : rest.substr(0, rest.find_first_of("; \t"));
}

Fields read_form(const Request& request)
{
    const std::string type = request.header("content-type"), boundary = find_boundary(type);
    const std::string kind = bot_server::lower(type.substr(0, type.find_first_of("; \t")));
    if (kind == "application/x-www-form-urlencoded") return bot_server::decode(request.body);
    if (kind == "multipart/form-data" && !boundary.empty())
        return read_multipart(boundary, request.body);
    throw Refusal(400, "the body is not a form");
}

std::vector<Creature> read_creatures(const std::string& text)
{
    std::vector<Creature> creatures;
    auto document = json::read(text);
    for (auto* item = json::first(document.get()); item; item = item->next)
        creatures.push_back({json::integer(item, "creatureid"), json::integer(item, "userid"),
                             json::integer(item, "x"), json::integer(item, "y"),
                             json::integer(item, "hp")});
    return creatures;
}

std::vector<Player> read_players(const std::string& text)
{
    std::vector<Player> players;
    auto document = json::read(text);
    for (auto* item = json::first(document.get()); item; item = item->next)
        players.push_back({json::integer(item, "userid"), json::text(json::member(item, "username"))});
    return players;
}

std::string print(const std::vector<Intent>& intents)
{
    std::string text = R"({"intent":[)";
    for (auto& intent : intents) {
        text += text.back() == '}' ? "," : "";
        text += R"({"creatureid":)" + std::to_string(intent.creatureid) + R"(,"action":)";
        text += json::quote(intent.action) + R"(,"direction":)" + json::quote(intent.direction) + "}";
    }
    return text + "]}";
}

// What the requests mean.
class Service {
public:
    explicit Service(Bot& bot) : bot_(bot) {}

    Reply handle(const Request& request)
    {
        try {
            return {200, dispatch(request)};
        } catch (const Refusal& refusal) {
            return {refusal.status, R"({"error":)" + json::quote(refusal.what()) + "}"};
        } catch (const json::Wrong& wrong) {
            return {400, R"({"error":)" + json::quote(wrong.what()) + "}"};
        }
    }

private:
    std::string dispatch(const Request& request)
    {
        const std::string route = request.method + " " + request.path;
        if (route == "GET /bot") return identify(request);
        if (route == "POST /game") return start(form(request));
        if (route == "POST /round") return play(form(request));
        throw Refusal(404, "there is no " + route);
    }

    // Compares in a time that depends on the length of what came alone.
    void check_key(const Fields& fields) const
    {
        const std::string given = field(fields, "api_key");
        unsigned different = given.size() != api_key_.size();
        for (std::size_t at = 0; at < given.size() && !api_key_.empty(); ++at)
            different |= unsigned(given[at] ^ api_key_[at % api_key_.size()]);
        if (!api_key_.empty() && different) throw Refusal(401, "wrong api_key");
    }

    std::string identify(const Request& request) const
    {
        check_key(request.query);
        return R"({"botname":)" + json::quote(bot_.botname()) + R"(,"version":)"
            + json::quote(bot_.version()) + R"(,"username":)" + json::quote(username_) + "}";
    }

    Fields form(const Request& request) const
    {
        Fields fields = read_form(request);
        check_key(fields);
        if (field(fields, "method") != "create") throw Refusal(400, "method must be create");
        return fields;
    }

    std::string start(const Fields& fields)
    {
        Game game;
        game.gameid = integer(fields, "gameid");
        game.W = integer(fields, "W");
        game.H = integer(fields, "H");
        game.M = integer(fields, "M");
        game.MAX_HP = integer(fields, "MAX_HP");
        game.players = read_players(field(fields, "players"));
        auto entry = games_.put(game.gameid, game);
        std::lock_guard guard(entry->lock);
        bot_.on_start(entry->game);
        return "[]";
    }

    std::string play(const Fields& fields)
    {
        int round = integer(fields, "round"), myid = integer(fields, "myid");
        int width = integer(fields, "W"), height = integer(fields, "H");
        int gameid = integer(fields, "gameid");
        auto creatures = read_creatures(field(fields, "map"));
        auto entry = find(gameid);
        std::vector<Intent> intents;
        {
            std::lock_guard guard(entry->lock);
            Game& game = entry->game;
            game.round = round;
            game.myid = myid;
            game.W = width;
            game.H = height;
            game.update(std::move(creatures));
            if (game.owners_alive() > 1) return print(game.mine().empty() ? intents : bot_.choose(game));
        }
        games_.remove(gameid);
        return print(intents);
    }

    // Gives the game; one that began before this program is made here.
    std::shared_ptr<bot_server::Table<int, Game>::Entry> find(int gameid)
    {
        if (auto entry = games_.find(gameid)) return entry;
        Game game;
        game.gameid = gameid;
        return games_.put(gameid, game);
    }

    Bot& bot_;
    const std::string username_ = bot_server::setting("BOT_USERNAME", "sample");
    const std::string api_key_ = bot_server::setting("API_KEY", "");
    bot_server::Table<int, Game> games_{[this](Game& game) { bot_.on_end(game); }};
};

}  // namespace

void Game::update(std::vector<Creature> now)
{
    creatures = std::move(now);
    living_.clear();
    for (std::size_t place = 0; place < creatures.size(); ++place)
        if (creatures[place].hp > 0) living_[key(creatures[place].x, creatures[place].y)] = place;
}

std::vector<Creature> Game::mine() const
{
    std::vector<Creature> mine;
    for (auto& creature : creatures)
        if (creature.hp > 0 && creature.userid == myid) mine.push_back(creature);
    return mine;
}

const Creature* Game::at(int x, int y) const
{
    auto found = living_.find(key(x, y));
    return found == living_.end() ? nullptr : &creatures[found->second];
}

std::size_t Game::owners_alive() const
{
    std::set<int> owners;
    for (auto& [cell, place] : living_) owners.insert(creatures[place].userid);
    return owners.size();
}

void run(Bot& bot)
{
    Service service(bot);
    bot_server::serve([&](const Request& request) { return service.handle(request); }, 8801);
}

}  // namespace end_of_codes
