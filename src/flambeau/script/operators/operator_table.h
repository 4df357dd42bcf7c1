// What TorchScript knows of operators beyond their schemas: in which order overloads are tried, as
// signatures of its own types; how they were called in older versions; functions that stand in for operators.
// A table is a value that units share; any number of threads may ask it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/script/operators/upgraders.h"
#include "flambeau/script/unit.h"
#include "flambeau/value/schema_table.h"

namespace flambeau::script {

// One overload as a call sees it.
struct Overload {
  const OperatorEntry* entry = nullptr;
  Signature signature;
  // Of an old schema: how it is expressed today.
  const Upgrader* upgrader = nullptr;
};

// A function of TorchScript's own library that is called like an operator, "aten::mul(float a, Tensor b)".
struct ScriptedOperator {
  Signature signature;
  std::string text;  // "def mul(a : float, b : Tensor) -> Tensor:\n  return torch.mul(b, a)\n"
};

class OperatorTable {
 public:
  explicit OperatorTable(std::shared_ptr<const SchemaTable> schemas);
  ~OperatorTable();
  OperatorTable(const OperatorTable&) = delete;
  OperatorTable& operator=(const OperatorTable&) = delete;

  const SchemaTable& schemas() const { return *schemas_; }

  // All overloads of "aten::add", in the order of registration; empty when there are none.
  std::span<const Overload> overloads(std::string_view name) const { return current(name); }
  // The overloads of "aten::add" that a call may mean, in the order they are tried; empty when there are
  // none. In code of an archive's version, an overload that was another one then is replaced by that one, and
  // those come last. Pointers stay as long as the table lives.
  std::vector<const Overload*> candidates(std::string_view name,
                                          std::optional<int64_t> archive_version = {}) const;
  // Tried behind the overloads.
  std::span<const ScriptedOperator> scripted(std::string_view name) const;
  // Of the entry of any node, an old one too; throws Error(kInvalidArgument) for one of another table.
  const Overload& overload(const OperatorEntry& entry) const;
  // The remedy for a name that no operator has: "did you mean 'aten::add'?"; empty when none is near.
  std::string did_you_mean(std::string_view name) const;

 private:
  struct State;
  const std::vector<Overload>& current(std::string_view name) const;
  std::shared_ptr<const SchemaTable> schemas_;
  std::unique_ptr<State> state_;
};

// A schema as a signature: data types, layouts, memory formats and symbolic sizes are ints here.
Signature signature_of(const Schema& schema);

}  // namespace flambeau::script
