#include "hexagon.hpp"

#include <algorithm>

#include "bot_server.hpp"
#include "json.hpp"

namespace hexagon {

using bot_server::Refusal;
using bot_server::Reply;
using bot_server::Request;

namespace {

// Steps by distance, for even rows and for odd rows.
const std::vector<Cell> OFFSETS[3][2] = {
    {},
    {{{-1, -1}, {-1, 0}, {0, -1}, {0, 1}, {1, -1}, {1, 0}},
     {{-1, 0}, {-1, 1}, {0, -1}, {0, 1}, {1, 0}, {1, 1}}},
    {{{-2, -1}, {-2, 0}, {-2, 1}, {-1, -2}, {-1, 1}, {0, -2},
      {0, 2}, {1, -2}, {1, 1}, {2, -1}, {2, 0}, {2, 1}},
     {{-2, -1}, {-2, 0}, {-2, 1}, {-1, -1}, {-1, 2}, {0, -2},
      {0, 2}, {1, -1}, {1, 2}, {2, -1}, {2, 0}, {2, 1}}},
};

bool starts_with(const std::string& text, const std::string& start)
{
    return text.compare(0, start.size(), start) == 0;
}

std::string print(Cell cell)
{
    return "[" + std::to_string(cell.i) + "," + std::to_string(cell.j) + "]";
}

std::array<int, 3> read_jumps(const cJSON* document)
{
    const cJSON* jumps = json::member(document, "jumps");
    return {0, json::integer(jumps, "1"), json::integer(jumps, "2")};
}

Board read_board(const cJSON* document)
{
    Board board;
    board.id = json::text(json::member(document, "id"));
    board.jumps = read_jumps(document);
    const cJSON* rows = json::member(json::member(document, "board"), "cells");
    for (auto* row = json::first(rows); row; row = row->next) {
        board.cells.emplace_back();
        for (auto* value = json::first(row); value; value = value->next) {
            board.cells.back().push_back(json::integer(value));
            if (value->valueint == 1 || value->valueint == 2) ++board.placed[std::size_t(value->valueint)];
        }
    }
    board.size = int(board.cells.size() + 1) / 2;
    for (auto& row : board.cells)
        if (row.size() != board.cells.size() || row.size() % 2 == 0) throw json::Wrong("no square");
    if (board.cells.empty()) throw json::Wrong("no cells");
    return board;
}

std::vector<Change> read_changes(const cJSON* list, int side)
{
    std::vector<Change> changes;
    for (auto* item = json::first(list); item; item = item->next) {
        if (cJSON_GetArraySize(item) != 4) throw json::Wrong("no change");
        int values[4], place = 0;
        for (auto* value = json::first(item); value; value = value->next)
            values[place++] = json::integer(value);
        Change change{values[0], values[1], values[2], values[3]};
        if (change.i < 0 || change.i >= side || change.j < 0 || change.j >= side
            || change.new_value < 0 || change.new_value > 2)
            throw json::Wrong("no change");
        changes.push_back(change);
    }
    return changes;
}

// What the requests mean.
class Service {
public:
    explicit Service(Bot& bot) : bot_(bot) {}

    Reply handle(const Request& request)
    {
        try {
            return {200, R"({"status":"ok")" + dispatch(request) + "}"};
        } catch (const Refusal& refusal) {
            std::string message = json::quote(refusal.what());
            return {refusal.status, R"({"status":"error","message":)" + message + "}"};
        } catch (const json::Wrong& wrong) {
            std::string message = json::quote(wrong.what());
            return {400, R"({"status":"error","message":)" + message + "}"};
        }
    }

private:
    // Answers a request; gives what stands in the answer beside the status.
    std::string dispatch(const Request& request)
    {
        if (request.method == "POST" && request.path == "/games") return post(request);
        std::string start = "/games/", id = request.path.substr(std::min(start.size(), request.path.size()));
        bool known = request.method == "GET" || request.method == "PUT" || request.method == "DELETE";
        if (!starts_with(request.path, start) || id.empty() || id.find('/') != id.npos || !known)
            throw Refusal(404, "there is no " + request.method + " " + request.path);
        if (request.method == "DELETE") {
            games_.remove(id);
            return "";
        }
        auto entry = games_.find(id);
        if (!entry) throw Refusal(404, "there is no game " + id);
        std::lock_guard guard(entry->lock);
        return request.method == "GET" ? get(entry->game, request) : put(entry->game, request);
    }

    std::string post(const Request& request)
    {
        auto document = json::read(request.body);
        Board board = read_board(document.get());
        std::string id = board.id;
        auto entry = games_.put(id, std::move(board));
        std::lock_guard guard(entry->lock);
        int color = json::flag(document.get(), "first_turn") ? 1 : 2;
        bot_.on_start(entry->game, color, json::flag(document.get(), "training"));
        return "";
    }

    std::string get(Board& board, const Request& request)
    {
        auto found = request.query.find("color");
        if (found == request.query.end() || (found->second != "1" && found->second != "2"))
            throw Refusal(400, "color must be 1 or 2");
        int color = found->second == "1" ? 1 : 2;
        if (board.legal_moves(color).empty()) throw Refusal(409, "there is no legal move");
        Move move = bot_.choose(board, color, board.jumps[std::size_t(color)]);
        return R"(,"move_from":)" + print(move.move_from) + R"(,"move_to":)" + print(move.move_to);
    }

    std::string put(Board& board, const Request& request)
    {
        auto document = json::read(request.body);
        auto changes = read_changes(json::member(document.get(), "changes"), int(board.cells.size()));
        board.jumps = read_jumps(document.get());
        board.write(changes);
        if (!changes.empty() && changes[0].new_value > 0) ++board.placed[std::size_t(changes[0].new_value)];
        bot_.on_changes(board, changes);
        return "";
    }

    Bot& bot_;
    bot_server::Table<std::string, Board> games_{[this](Board& board) { bot_.on_end(board); }};
};

}  // namespace

std::vector<Cell> Board::neighbours(Cell cell, int distance) const
{
    std::vector<Cell> near;
    int side = int(cells.size());
    for (Cell step : OFFSETS[distance][cell.i % 2]) {
        Cell next{cell.i + step.i, cell.j + step.j};
        if (next.i >= 0 && next.i < side && next.j >= 0 && next.j < side) near.push_back(next);
    }
    return near;
}

std::vector<Move> Board::legal_moves(int color) const
{
    std::vector<Move> moves;
    int side = int(cells.size()), reach = jumps[std::size_t(color)] > 0 ? 2 : 1;
    for (Cell cell{0, 0}; cell.i < side; ++cell.i)
        for (cell.j = 0; cell.j < side; ++cell.j)
            for (int distance = 1; distance <= reach; ++distance)
                if (cells[std::size_t(cell.i)][std::size_t(cell.j)] == color)
                    for (Cell target : neighbours(cell, distance))
                        if (cells[std::size_t(target.i)][std::size_t(target.j)] == 0)
                            moves.push_back({cell, target});
    return moves;
}

std::vector<Change> Board::play(int color, Move move)
{
    auto [from, to] = move;
    auto near = neighbours(from, 1);
    std::vector<Change> changes;
    if (std::find(near.begin(), near.end(), to) != near.end()) {
        jumps[std::size_t(color)] += ++placed[std::size_t(color)] % 2 == 0;
    } else {
        --jumps[std::size_t(color)];
        changes.push_back({from.i, from.j, color, 0});
    }
    changes.push_back({to.i, to.j, 0, color});
    for (Cell cell : neighbours(to, 1))
        if (cells[std::size_t(cell.i)][std::size_t(cell.j)] == 3 - color)
            changes.push_back({cell.i, cell.j, 3 - color, color});
    write(changes);
    return changes;
}

void Board::write(const std::vector<Change>& changes)
{
    for (auto& change : changes)
        cells[std::size_t(change.i)][std::size_t(change.j)] = change.new_value;
}

void run(Bot& bot)
{
    Service service(bot);
    bot_server::serve([&](const Request& request) { return service.handle(request); }, 3000);
}

}  // namespace hexagon
