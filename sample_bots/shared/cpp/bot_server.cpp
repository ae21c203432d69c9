#include "bot_server.hpp"

#include <arpa/inet.h>
#include <cxxabi.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>
#include <thread>
#include <typeinfo>

namespace bot_server {

namespace {

constexpr std::size_t MAX_HEAD = 64 * 1024;

// Bytes of what was thrown that are sent.
constexpr std::size_t MAX_WORDS = 1000;
using Clock = std::chrono::steady_clock;
using Handler = std::function<Reply(const Request&)>;

std::string trim(const std::string& text)
{
    auto start = text.find_first_not_of(" \t");
    return start == text.npos ? "" : text.substr(start, text.find_last_not_of(" \t") - start + 1);
}

const char* reason(int status)
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

// Gives the name of the class of an exception.
std::string type_of(const std::exception& error)
{
    int status = 0;
    char* name = abi::__cxa_demangle(typeid(error).name(), nullptr, nullptr, &status);
    std::string text = name ? name : "exception";
    std::free(name);
    return text;
}

// A client, and what has come from it.
class Connection {
public:
    Connection(int socket, const Handler& handle) : socket_(socket), handle_(handle)
    {
        int on = 1;
        setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    ~Connection() { close(socket_); }

    // Answers one request; tells whether the connection is kept.
    bool answer()
    {
        try {
            auto request = read();
            if (!request) return false;
            auto started = Clock::now();
            return send(request->method, request->path, safely(*request), started);
        } catch (const Refusal& refusal) {
            keep_ = false;
            return send("-", "-", {refusal.status}, Clock::now());
        }
    }

private:
    // Reads more; false if the client is gone.
    bool fill()
    {
        char part[65536];
        ssize_t got = recv(socket_, part, sizeof part, 0);
        if (got > 0) data_.append(part, std::size_t(got));
        return got > 0;
    }

    // Reads a request; nothing if the client is gone.
    std::optional<Request> read()
    {
        std::size_t end;
        while ((end = data_.find("\r\n\r\n")) == data_.npos) {
            if (data_.size() > MAX_HEAD) throw Refusal(431, "");
            if (!fill()) return {};
        }
        Request request = read_head(data_.substr(0, end));
        data_.erase(0, end + 4);
        std::size_t length = read_length(request);
        if (lower(request.header("expect")) == "100-continue")
            send_all("HTTP/1.1 100 Continue\r\n\r\n");
        while (data_.size() < length)
            if (!fill()) return {};
        request.body = data_.substr(0, length);
        data_.erase(0, length);
        return request;
    }

    Request read_head(const std::string& head)
    {
        Request request;
        std::size_t at = head.find("\r\n"), space = head.find(' '), last = head.find(' ', space + 1);
        std::string line = head.substr(0, at);
        if (space == head.npos || last >= line.size() || line.compare(last, 8, " HTTP/1.") != 0
            || line.size() != last + 9)
            throw Refusal(400, "");
        std::string target = line.substr(space + 1, last - space - 1);
        std::size_t mark = target.find('?');
        request.method = line.substr(0, space);
        request.path = target.substr(0, mark);
        request.query = mark == target.npos ? Fields{} : decode(target.substr(mark + 1));
        while (at != head.npos) {
            std::size_t next = head.find("\r\n", at + 2), colon = head.find(':', at);
            if (colon >= next) throw Refusal(400, "");
            request.headers[lower(head.substr(at + 2, colon - at - 2))] =
                trim(head.substr(colon + 1, next - colon - 1));
            at = next;
        }
        keep_ = line.back() == '1' && lower(request.header("connection")) != "close";
        return request;
    }

    static std::size_t read_length(const Request& request)
    {
        std::string text = request.header("content-length");
        if (request.headers.count("transfer-encoding")) throw Refusal(411, "");
        if (text.find_first_not_of("0123456789") != text.npos) throw Refusal(400, "");
        if (text.size() > 9 || std::strtoul(text.c_str(), nullptr, 10) > MAX_BODY)
            throw Refusal(413, "");
        return std::strtoul(text.c_str(), nullptr, 10);
    }

    Reply safely(const Request& request)
    {
        try {
            return handle_(request);
        } catch (const std::exception& error) {
            return failed(type_of(error) + ": " + error.what());
        } catch (...) {
            return failed("an exception other than std::exception");
        }
    }

    // Says what was thrown, which in C++ does not know where.
    static Reply failed(const std::string& words)
    {
        std::cerr << "error: " + words + "\n";
        return {500, words.substr(0, MAX_WORDS)};
    }

    bool send_all(const std::string& text)
    {
        std::size_t at = 0;
        while (at < text.size()) {
            ssize_t sent = ::send(socket_, text.data() + at, text.size() - at, MSG_NOSIGNAL);
            if (sent <= 0) return false;
            at += std::size_t(sent);
        }
        return true;
    }

    // Writes head and body at once: two writes would cost 40 ms on a kept connection.
    bool send(const std::string& method, const std::string& path, const Reply& reply,
              Clock::time_point started)
    {
        std::string text = "HTTP/1.1 " + std::to_string(reply.status) + " " + reason(reply.status);
        text += "\r\nContent-Type: ";
        text += reply.status == 500 ? "text/plain; charset=utf-8" : "application/json";
        text += "\r\nContent-Length: ";
        text += std::to_string(reply.body.size()) + "\r\n";
        if (!reply.signature.empty()) text += "X-ACB-Signature: " + reply.signature + "\r\n";
        text += (keep_ ? "\r\n" : "Connection: close\r\n\r\n") + reply.body;
        // Logged first, so that whoever has the reply can rely on the line.
        std::chrono::duration<double, std::milli> time = Clock::now() - started;
        std::fprintf(stderr, "%s %s %d %.1f ms\n", method.c_str(), path.c_str(), reply.status,
                     time.count());
        return send_all(text) && keep_;
    }

    int socket_;
    const Handler& handle_;
    std::string data_;
    bool keep_ = true;
};

int listen_on(const std::string& host, const std::string& port)
{
    addrinfo wanted{}, *found = nullptr;
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = AI_PASSIVE;
    const char *reason = "there is no such address";
    int server = -1, on = 1;
    if (getaddrinfo(host.c_str(), port.c_str(), &wanted, &found) == 0) {
        server = socket(found->ai_family, SOCK_STREAM, 0);
        setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        bool fine = bind(server, found->ai_addr, found->ai_addrlen) == 0 && listen(server, 128) == 0;
        if (!fine) reason = std::strerror(errno);
        freeaddrinfo(found);
        if (fine) return server;
    }
    std::cerr << "cannot listen on " << host << ":" << port << ": " << reason << "\n";
    std::exit(1);
}

int port_of(int server)
{
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    getsockname(server, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                               : reinterpret_cast<sockaddr_in&>(address).sin_port);
}

std::string unescape(const std::string& text)
{
    std::string made;
    made.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); ++at) {
        bool code = text[at] == '%' && at + 2 < text.size() && std::isxdigit(text[at + 1])
            && std::isxdigit(text[at + 2]);
        if (code) {
            const char digits[] = {text[at + 1], text[at + 2], 0};
            made += char(std::strtol(digits, nullptr, 16));
            at += 2;
        } else {
            made += text[at] == '+' ? ' ' : text[at];
        }
    }
    return made;
}

}  // namespace

std::string Request::header(const std::string& name) const
{
    auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
}

void serve(const Handler& handle, int default_port)
{
    std::string host = setting("BOT_HOST", "127.0.0.1");
    int server = listen_on(host, setting("PORT", setting("BOT_PORT", std::to_string(default_port))));
    // What the bot prints is there at once, also if its program is killed.
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    std::signal(SIGTERM, [](int) { _exit(0); });
    std::signal(SIGINT, [](int) { _exit(0); });
    std::cout << "listening on http://" << host << ":" << port_of(server) << std::endl;
    while (true) {
        int client = accept(server, nullptr, nullptr);
        if (client < 0) continue;
        std::thread([client, &handle] {
            Connection connection(client, handle);
            while (connection.answer()) continue;
        }).detach();
    }
}

std::string setting(const char* name, const std::string& otherwise)
{
    const char* text = std::getenv(name);
    return text && *text ? text : otherwise;
}

std::string lower(std::string text)
{
    for (char& each : text) each = each >= 'A' && each <= 'Z' ? char(each + 32) : each;
    return text;
}

Fields decode(const std::string& text)
{
    Fields fields;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = std::min(text.find('&', at), text.size());
        std::size_t equal = std::min(text.find('=', at), end);
        std::string value = equal < end ? text.substr(equal + 1, end - equal - 1) : "";
        fields[unescape(text.substr(at, equal - at))] = unescape(value);
        at = end + 1;
    }
    return fields;
}

}  // namespace bot_server
