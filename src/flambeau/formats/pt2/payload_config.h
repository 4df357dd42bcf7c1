// The table of weights or constants in an archive: which record holds each, and how to look at it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/graph/meta.h"

namespace flambeau::pt2 {

struct Payload {
  std::string name;  // of the parameter, buffer, constant or object
  std::string path;  // of the record, inside its folder
  bool is_parameter = false;
  bool is_pickled = false;
  std::optional<graph::TensorMeta> meta;  // nothing for objects
  graph::Extras extras = {};
};

// What the table has besides its entries is passed over. Throws Error(kCorrupt, kUnsupported), located at the
// entry.
std::vector<Payload> read_payload_config(std::string_view text);
std::vector<Payload> read_payload_config(std::string_view text, const json::Limits& limits);
std::string write_payload_config(const std::vector<Payload>& payloads);

}  // namespace flambeau::pt2
