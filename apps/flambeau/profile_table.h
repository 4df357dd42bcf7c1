// Where the time of runs went, as tables and as JSON.
#pragma once

#include <chrono>
#include <string>

#include "flambeau/json.h"
#include "flambeau/runtime.h"

namespace flambeau::cli {

// "1.23 ms", "45.6 us".
std::string duration_text(std::chrono::nanoseconds time);
double milliseconds(std::chrono::nanoseconds time);

// Both sorted by time, the longest first; `limit` rows, 0 for all. Times are of one run, where the profile
// is of `runs`.
void print_by_operator(const Profile& profile, size_t runs, size_t limit);
void print_by_node(const Profile& profile, size_t runs, size_t limit);
// {"operators": [...], "nodes": [...], "serial_ms": ..., "loops": {...}}
json::Value profile_json(const Profile& profile, size_t runs);

}  // namespace flambeau::cli
