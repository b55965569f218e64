// simdjson as its documentation says: streams of documents, parsers that are used again. Without SIMDJSON_THREADS_ENABLED
// it has one thread.
#include "simdjson.h"

#include <cstdint>

namespace {
constexpr size_t BATCH_BYTES = 1 << 20; // about simdjson's default
simdjson::dom::parser dom_parser;
simdjson::ondemand::parser ondemand_parser;

// The same as `mixed` in contestants.rs.
uint64_t mixed(std::string_view token) {
    uint64_t first = uint8_t(token.front()), last = uint8_t(token.back());
    return token.size() + (first << 16) + (last << 24);
}
} // namespace

extern "C" {
// Chooses the kernels for AVX2, also where the CPU has AVX-512.
void peer_simdjson_narrow() {
    simdjson::get_active_implementation() = simdjson::get_available_implementations()["haswell"];
}

const char *peer_simdjson_version() { return SIMDJSON_VERSION; }

const char *peer_simdjson_dom_kernels() {
    static std::string name;
    name = simdjson::get_active_implementation()->name();
    return name.c_str();
}

const char *peer_simdjson_ondemand_kernels() {
    static std::string name;
    name = simdjson::builtin_implementation()->name();
    return name.c_str();
}

// Parses all documents; returns how many there are, or -1. SIMDJSON_PADDING bytes must follow the text.
int64_t peer_simdjson_dom(const char *text, size_t bytes) {
    simdjson::dom::document_stream documents;
    if (dom_parser.parse_many(text, bytes, BATCH_BYTES).get(documents)) return -1;
    int64_t count = 0;
    for (auto document : documents) {
        if (document.error()) return -1;
        count++;
    }
    return documents.truncated_bytes() == 0 ? count : -1;
}

// Sums up what `mixed` makes of one member of each document, by On-Demand; -1 if a document has none.
int64_t peer_simdjson_ondemand(const char *text, size_t bytes, const char *name, size_t name_bytes) {
    std::string_view wanted(name, name_bytes);
    simdjson::ondemand::document_stream documents;
    if (ondemand_parser.iterate_many(text, bytes, BATCH_BYTES).get(documents)) return -1;
    uint64_t sum = 0;
    for (auto document : documents) {
        simdjson::ondemand::object object;
        simdjson::ondemand::value value;
        if (document.get_object().get(object)) return -1;
        if (object.find_field(wanted).get(value)) return -1;
        sum += mixed(value.raw_json_token());
    }
    return int64_t(sum);
}
}
