// An HTTP server for bots: each reply leaves in one write, each request is logged in one line.

#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

namespace bot_server {

// Bytes that the body of a request may have.
constexpr std::size_t MAX_BODY = 16 * 1024 * 1024;

using Fields = std::map<std::string, std::string>;

// What came; the names of headers are in lower case.
struct Request {
    std::string method, path, body;
    Fields query, headers;

    std::string header(const std::string& name) const;
};

// What goes back; a signature of "" is none.
struct Reply {
    int status = 200;
    std::string body = {};
    std::string signature = {};
};

// A request that is answered with a status of 4xx.
struct Refusal : std::runtime_error {
    int status;
    Refusal(int code, const std::string& message) : runtime_error(message), status(code) {}
};

// Answers requests until SIGTERM or Ctrl-C. Listens on PORT or BOT_PORT (0 for any free port) of
// BOT_HOST, which is 127.0.0.1 by default.
[[noreturn]] void serve(const std::function<Reply(const Request&)>& handle, int default_port);

// Gives a setting of the environment.
std::string setting(const char* name, const std::string& otherwise);

// Gives a text with its ASCII letters in lower case.
std::string lower(std::string text);

// Reads a query or an urlencoded form.
Fields decode(const std::string& text);

// The games by key; when there are too many, the oldest is forgotten.
template <class Key, class Game>
class Table {
public:
    // A game; hold its lock while you use it.
    struct Entry {
        std::mutex lock;
        Game game;
    };

    static constexpr std::size_t MAX_GAMES = 64;

    // `forget` hears of each game that is taken out.
    explicit Table(std::function<void(Game&)> forget) : forget_(std::move(forget)) {}

    // Gives the game of this key; null if there is none.
    std::shared_ptr<Entry> find(const Key& key)
    {
        std::lock_guard guard(lock_);
        for (auto& [known, entry] : entries_)
            if (known == key) return entry;
        return nullptr;
    }

    // Puts a game in, in place of one with the same key.
    std::shared_ptr<Entry> put(const Key& key, Game game)
    {
        remove(key);
        auto entry = std::make_shared<Entry>();
        entry->game = std::move(game);
        std::shared_ptr<Entry> oldest;
        {
            std::lock_guard guard(lock_);
            entries_.emplace_back(key, entry);
            if (entries_.size() > MAX_GAMES) {
                oldest = entries_.front().second;
                entries_.pop_front();
            }
        }
        forget(oldest);
        return entry;
    }

    // Takes a game out, if there is such a one.
    void remove(const Key& key)
    {
        std::shared_ptr<Entry> found;
        {
            std::lock_guard guard(lock_);
            for (auto place = entries_.begin(); place != entries_.end() && !found; ++place) {
                if (place->first == key) {
                    found = place->second;
                    entries_.erase(place);
                    break;
                }
            }
        }
        forget(found);
    }

private:
    void forget(const std::shared_ptr<Entry>& entry)
    {
        if (!entry) return;
        std::lock_guard guard(entry->lock);
        forget_(entry->game);
    }

    std::function<void(Game&)> forget_;
    std::mutex lock_;
    std::list<std::pair<Key, std::shared_ptr<Entry>>> entries_;
};

}  // namespace bot_server
