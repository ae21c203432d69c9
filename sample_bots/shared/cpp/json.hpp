// JSON by cJSON, freed by itself and checked.

#pragma once

#include <cjson/cJSON.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace json {

struct Delete {
    void operator()(cJSON* document) const { cJSON_Delete(document); }
};
using Document = std::unique_ptr<cJSON, Delete>;

// Says that a value is not what it should be.
struct Wrong : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Reads a text; raises Wrong if it is not one JSON value.
inline Document read(const std::string& text)
{
    Document document(cJSON_ParseWithOpts(text.c_str(), nullptr, true));
    if (!document) throw Wrong("no JSON");
    return document;
}

// Gives a member of an object, null if there is none.
inline const cJSON* member(const cJSON* object, const char* name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

inline int integer(const cJSON* item)
{
    if (!cJSON_IsNumber(item) || item->valuedouble != item->valueint) throw Wrong("not an integer");
    return item->valueint;
}

inline int integer(const cJSON* object, const char* name) { return integer(member(object, name)); }

inline std::string text(const cJSON* item)
{
    if (!cJSON_IsString(item)) throw Wrong("no text");
    return item->valuestring;
}

inline bool flag(const cJSON* object, const char* name) { return cJSON_IsTrue(member(object, name)); }

// Gives the first item of a list, null if it is empty; go on with `->next`.
inline const cJSON* first(const cJSON* list)
{
    if (!cJSON_IsArray(list)) throw Wrong("no list");
    return list->child;
}

// Writes a text with its quotation marks.
inline std::string quote(const std::string& text)
{
    Document made(cJSON_CreateString(text.c_str()));
    std::unique_ptr<char, void (*)(void*)> printed(cJSON_PrintUnformatted(made.get()), cJSON_free);
    return printed ? printed.get() : "\"\"";
}

}  // namespace json
