// Pieces of output that several commands share, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "commands.h"
#include "flambeau/error.h"
#include "flambeau/files.h"
#include "flambeau/inspect.h"
#include "flambeau/json.h"
#include "flambeau/tensor.h"

namespace flambeau::cli {

void print_json(const json::Value& value);

// {"error": {"code", "message", "remedy", "locations", "text"}}
json::Value error_json(const Error& error);
// One line on standard error; with --json an object on standard output.
void report_error(const Error& error, const CommonOptions& common);

json::Value records_json(const std::vector<RecordInfo>& records);
// `limit` 0: all.
void print_records(const std::vector<RecordInfo>& records, size_t limit);

json::Value statistics_json(const Tensor& tensor, ThreadPool& pool);
// min, max, mean, NaN; "-" where a type has none.
std::vector<std::string> statistics_cells(const Tensor& tensor, ThreadPool& pool);

}  // namespace flambeau::cli
