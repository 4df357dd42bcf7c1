// What a run gave: shown as a table or as JSON, written to files, compared with others.
#pragma once

#include <string>
#include <vector>

#include "flambeau/json.h"
#include "flambeau/runtime.h"
#include "output_check.h"

namespace flambeau::cli {

json::Value leaf_json(const Leaf& leaf, const Value& value);

// A row for each output, with its numbers.
void print_outputs(const std::vector<Leaf>& leaves, const std::vector<Value>& outputs, ThreadPool& pool);
// The same; `written` is what save_outputs gave, or empty.
json::Array outputs_json(const std::vector<Leaf>& leaves, const std::vector<Value>& outputs,
                         const json::Array& written, ThreadPool& pool);

// To a file by its ending, else into a folder; what was written, one entry for each output.
json::Array save_outputs(const std::string& path, const std::vector<Leaf>& leaves,
                         const std::vector<Value>& outputs);

json::Value checks_json(const std::vector<OutputCheck>& checks);
// `problems_only`: with --quiet.
void print_checks(const std::vector<OutputCheck>& checks, const std::string& path, bool problems_only);
bool has_difference(const std::vector<OutputCheck>& checks);

}  // namespace flambeau::cli
