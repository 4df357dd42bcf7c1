#include "flambeau/formats/pt2/meta_json.h"

#include <fmt/format.h>

#include <cmath>

#include "flambeau/base/error.h"
#include "flambeau/formats/pt2/enums.h"
#include "flambeau/formats/pt2/json_fields.h"

namespace flambeau::pt2 {
namespace {

using graph::DeviceSpec;
using graph::SymBool;
using graph::SymExpr;
using graph::SymFloat;
using graph::SymInt;
using graph::TensorMeta;

[[noreturn]] void fail_member(std::string_view what, const json::Member& member) {
  throw Error(ErrorCode::kUnsupported, fmt::format("{} has a member '{}', which this version does not know",
                                                   what, printable(member.first)));
}

}  // namespace

bool MetaReader::is_unsaid(const json::Value* member) {
  if (member == nullptr) return true;
  has_seen_null_ = has_seen_null_ || member->is_null();
  return member->is_null();
}

std::shared_ptr<const SymExpr> MetaReader::expr(json::Value& value) {
  Fields fields(value, "an expression");
  SymExpr made;
  made.text = std::move(fields.required("expr_str").as_string());
  if (json::Value* const hint = fields.optional("hint"); !is_unsaid(hint)) {
    json::Member& member = union_member(*hint, "a hint");
    if (member.first == "as_int") {
      made.hint = member.second.as_int();
    } else if (member.first == "as_bool") {
      made.hint = member.second.as_bool();
    } else if (member.first == "as_float") {
      made.hint = read_double(member.second);
    } else {
      fail_member("a hint", member);
    }
  }
  made.extras = fields.rest();
  if (!made.extras.empty() || std::holds_alternative<double>(made.hint)) {
    return std::make_shared<const SymExpr>(std::move(made));
  }
  std::string key = made.text;
  if (const int64_t* const hint = std::get_if<int64_t>(&made.hint)) key += fmt::format("\n{}", *hint);
  if (const bool* const hint = std::get_if<bool>(&made.hint)) key += *hint ? "\ntrue" : "\nfalse";
  std::shared_ptr<const SymExpr>& shared = exprs_[key];
  if (shared == nullptr) shared = std::make_shared<const SymExpr>(std::move(made));
  return shared;
}

SymInt MetaReader::sym_int(json::Value& value) {
  json::Member& member = union_member(value, "a SymInt");
  if (member.first == "as_int") return member.second.as_int();
  if (member.first == "as_expr") return SymInt(expr(member.second));
  fail_member("a SymInt", member);
}

SymFloat MetaReader::sym_float(json::Value& value) {
  json::Member& member = union_member(value, "a SymFloat");
  if (member.first == "as_float") return read_double(member.second);
  if (member.first == "as_expr") return SymFloat(expr(member.second));
  fail_member("a SymFloat", member);
}

SymBool MetaReader::sym_bool(json::Value& value) {
  json::Member& member = union_member(value, "a SymBool");
  if (member.first == "as_bool") return member.second.as_bool();
  if (member.first == "as_expr") return SymBool(expr(member.second));
  fail_member("a SymBool", member);
}

DeviceSpec MetaReader::device(json::Value& value) {
  Fields fields(value, "a device");
  DeviceSpec device;
  device.type = std::move(fields.required("type").as_string());
  if (const json::Value* const index = fields.optional("index"); !is_unsaid(index)) {
    device.index = index->as_int();
  }
  device.extras = fields.rest();
  return device;
}

TensorMeta MetaReader::tensor(json::Value& value) {
  Fields fields(value, "a tensor's description");
  TensorMeta meta;
  meta.dtype = dtype_from_schema(fields.required("dtype").as_int());
  json::Array& sizes = fields.required("sizes").as_array();
  meta.sizes.reserve(sizes.size());
  for (json::Value& size : sizes) meta.sizes.push_back(sym_int(size));
  meta.requires_grad = fields.required("requires_grad").as_bool();
  meta.device = device(fields.required("device"));
  json::Array& strides = fields.required("strides").as_array();
  meta.strides.reserve(strides.size());
  for (json::Value& stride : strides) meta.strides.push_back(sym_int(stride));
  meta.storage_offset = sym_int(fields.required("storage_offset"));
  meta.layout = layout_from_schema(fields.required("layout").as_int());
  meta.extras = fields.rest();
  return meta;
}

void MetaWriter::extras(const graph::Extras& extras) {
  for (const auto& [key, value] : extras.members()) {
    out_.key(key);
    out_.value(value);
  }
}

void MetaWriter::real(double value) {
  if (std::isfinite(value) || style_.has_bare_infinity) {
    out_.real(value);
  } else {
    out_.string(std::isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity");
  }
}

void MetaWriter::expr(const SymExpr& expr) {
  out_.begin_object();
  out_.key("as_expr");
  out_.begin_object();
  out_.key("expr_str");
  out_.string(expr.text);
  const bool has_hint = !std::holds_alternative<std::monostate>(expr.hint);
  if (has_hint || !style_.omits_nulls) out_.key("hint");
  if (!has_hint) {
    if (!style_.omits_nulls) out_.null();
  } else {
    out_.begin_object();
    if (const int64_t* const integer = std::get_if<int64_t>(&expr.hint)) {
      out_.key("as_int");
      out_.integer(*integer);
    } else if (const bool* const boolean = std::get_if<bool>(&expr.hint)) {
      out_.key("as_bool");
      out_.boolean(*boolean);
    } else {
      out_.key("as_float");
      real(std::get<double>(expr.hint));
    }
    out_.end_object();
  }
  extras(expr.extras);
  out_.end_object();
  out_.end_object();
}

void MetaWriter::sym(const SymInt& number) {
  if (!number.is_literal()) return expr(number.expr());
  out_.begin_object();
  out_.key("as_int");
  out_.integer(number.literal());
  out_.end_object();
}

void MetaWriter::sym(const SymFloat& number) {
  if (!number.is_literal()) return expr(number.expr());
  out_.begin_object();
  out_.key("as_float");
  real(number.literal());
  out_.end_object();
}

void MetaWriter::sym(const SymBool& number) {
  if (!number.is_literal()) return expr(number.expr());
  out_.begin_object();
  out_.key("as_bool");
  out_.boolean(number.literal());
  out_.end_object();
}

void MetaWriter::device(const DeviceSpec& device) {
  out_.begin_object();
  out_.key("type");
  out_.string(device.type);
  if (device.index) {
    out_.key("index");
    out_.integer(*device.index);
  } else if (!style_.omits_nulls) {
    out_.key("index");
    out_.null();
  }
  extras(device.extras);
  out_.end_object();
}

void MetaWriter::tensor(const TensorMeta& meta) {
  out_.begin_object();
  out_.key("dtype");
  out_.integer(schema_number(meta.dtype));
  out_.key("sizes");
  out_.begin_array();
  for (const SymInt& size : meta.sizes) sym(size);
  out_.end_array();
  out_.key("requires_grad");
  out_.boolean(meta.requires_grad);
  out_.key("device");
  device(meta.device);
  out_.key("strides");
  out_.begin_array();
  for (const SymInt& stride : meta.strides) sym(stride);
  out_.end_array();
  out_.key("storage_offset");
  sym(meta.storage_offset);
  out_.key("layout");
  out_.integer(schema_number(meta.layout));
  extras(meta.extras);
  out_.end_object();
}

}  // namespace flambeau::pt2
