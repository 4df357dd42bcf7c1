// What an operator takes and gives, read from the text PyTorch prints, and printed as PyTorch prints it.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "flambeau/value/operator_name.h"
#include "flambeau/value/type.h"

namespace flambeau {

// The value an argument has when it is left out. None is std::monostate.
struct DefaultValue {
  using List = std::vector<DefaultValue>;
  std::variant<std::monostate, bool, int64_t, double, std::complex<double>, std::string, List> data;

  bool is_none() const { return std::holds_alternative<std::monostate>(data); }
  bool operator==(const DefaultValue& other) const;
};

// Which alias sets a value is in: "(a)"; that the operator writes to it: "(a!)"; and the sets it is in
// afterwards: "(a -> *)", where * is any set.
struct AliasInfo {
  std::vector<std::string> before;   // in the order of the text; PyTorch prints them in no fixed order
  std::vector<std::string> after;    // the same as `before` unless the text has an arrow
  bool is_write = false;             // of a list also when its elements are written: "Tensor(a!)[]"
  std::vector<AliasInfo> contained;  // of a list: that of its elements, if any

  bool operator==(const AliasInfo&) const = default;
};

// One argument or return value.
struct SchemaArgument {
  std::string name;  // may be empty for a return value
  Type type = TypeKind::kTensor;
  std::optional<AliasInfo> alias;
  std::optional<DefaultValue> default_value;
  std::string default_text;  // as it was written; empty without a default
  bool is_kwarg_only = false;

  bool is_written() const { return alias && alias->is_write; }
  // Compares the default's value, not its text.
  bool operator==(const SchemaArgument& other) const;
};

struct Schema {
  OperatorName name;
  std::vector<SchemaArgument> arguments;
  std::vector<SchemaArgument> returns;
  bool is_vararg = false;  // "...": any arguments may follow
  bool is_varret = false;  // "...": any return values may follow

  // It writes to an argument.
  bool is_mutable() const;
  // It writes nothing and returns something that shares an alias set with an argument: a view of the
  // argument, its elements, or perhaps the argument itself.
  bool is_view() const;
  // The argument's index; nothing when there is none.
  std::optional<size_t> find_argument(std::string_view argument_name) const;
  bool operator==(const Schema&) const = default;
};

constexpr size_t kMostSchemaBytes = size_t{64} * 1024;
// The largest N of "int[N]": a default given once stands for N values.
constexpr int64_t kMostListSize = 64;

// Reads "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", also in the slightly
// freer spelling of PyTorch's own sources ("Tensor! x", "Dimname", "float eps=1e-5", "ScalarType t=float").
// Throws Error(kCorrupt) located at the byte, and Error(kLimit) for text, nesting or lists beyond all reason.
Schema parse_schema(std::string_view text);

// The text PyTorch prints for it.
std::string to_string(const Schema& schema);
std::string to_string(const SchemaArgument& argument);
// The text PyTorch prints for a default of that type: "0.10000000000000001", "[1, 2]", "\"linear\"".
std::string to_string(const DefaultValue& value, const Type& type);

}  // namespace flambeau
