// Shapes, types and devices as the program format writes them; programs and payload configs share them.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "flambeau/archive/json/json.h"
#include "flambeau/archive/json/writer.h"
#include "flambeau/graph/program.h"

namespace flambeau::pt2 {

// Reads descriptions of values; equal expressions become one.
class MetaReader {
 public:
  // Each takes the JSON apart. Throws Error(kCorrupt, kUnsupported).
  graph::TensorMeta tensor(json::Value& value);
  graph::SymInt sym_int(json::Value& value);
  graph::SymFloat sym_float(json::Value& value);
  graph::SymBool sym_bool(json::Value& value);
  graph::DeviceSpec device(json::Value& value);
  // Notes whether there is a member that says nothing. True unless it is there and says something.
  bool is_unsaid(const json::Value* member);
  bool has_seen_null() const { return has_seen_null_; }

 private:
  std::shared_ptr<const graph::SymExpr> expr(json::Value& value);

  std::unordered_map<std::string, std::shared_ptr<const graph::SymExpr>> exprs_;
  bool has_seen_null_ = false;
};

class MetaWriter {
 public:
  explicit MetaWriter(json::Writer& out, graph::ExportedProgram::Style style = {})
      : out_(out), style_(style) {}

  void tensor(const graph::TensorMeta& meta);
  void sym(const graph::SymInt& number);
  void sym(const graph::SymFloat& number);
  void sym(const graph::SymBool& number);
  void device(const graph::DeviceSpec& device);
  // Infinities and NaN in quotes, or bare.
  void real(double value);
  void extras(const graph::Extras& extras);

 private:
  void expr(const graph::SymExpr& expr);

  json::Writer& out_;
  graph::ExportedProgram::Style style_;
};

}  // namespace flambeau::pt2
