// Pieces of output that several commands share, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "command.h"
#include "flambeau/error.h"
#include "flambeau/files.h"
#include "flambeau/inspect.h"
#include "flambeau/json.h"
#include "flambeau/tensor.h"

namespace flambeau::cli {

// In words that every reader of JSON knows (report::strict).
void print_json(const json::Value& value);

// One line on standard error; with --json an object on standard output.
void report_error(const Error& error, const CommonOptions& common);

// `limit` 0: all. `digests`: one for each, or none.
void print_records(const std::vector<RecordInfo>& records, size_t limit,
                   const std::vector<std::string>& digests = {});

// min, max, mean, NaN; "-" where a type has none.
std::vector<std::string> statistics_cells(const Tensor& tensor, ThreadPool& pool);

}  // namespace flambeau::cli
