// The operators PyTorch 2.13 has, and those a caller adds: found by name, read from their text when first
// asked for. A table is a value that its user owns; any number of threads may search one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "flambeau/value/schema.h"

namespace flambeau {

// What PyTorch's tags say of an operator; TorchScript's own operators (prim::) have none.
enum class OperatorFlag : uint32_t {
  kCore = 1U << 0,  // in the core ATen operator set
  kPointwise = 1U << 1,
  kReduction = 1U << 2,
  kView = 1U << 3,      // Schema::is_view
  kViewCopy = 1U << 4,  // the copying twin of a view
  kInplace = 1U << 5,
  kInplaceView = 1U << 6,  // changes the shape of its argument
  kOut = 1U << 7,          // writes to an argument that is there for the result
  kNondeterministicSeeded = 1U << 8,
  kNondeterministicBitwise = 1U << 9,
  kDataDependentOutput = 1U << 10,  // gives a number that depends on the data
  kDynamicOutputShape = 1U << 11,   // gives a shape that depends on the data
  kMaybeAliasingOrMutating = 1U << 12,
  kNeedsContiguousStrides = 1U << 13,
  kNeedsExactStrides = 1U << 14,
  kNeedsFixedStrideOrder = 1U << 15,
  kFlexibleLayout = 1U << 16,
  kCudagraphUnsafe = 1U << 17,
  kOutVariant = 1U << 18,
  // What no tag says.
  kFiles = 1U << 19,       // reads or writes files
  kKeptInCore = 1U << 20,  // a check on symbols or tensors that decompositions leave in core programs
};

// PyTorch's name of the flag: "nondeterministic_seeded".
std::string_view operator_flag_name(OperatorFlag flag);

struct OperatorEntry {
  Schema schema;
  uint32_t flags = 0;

  bool has(OperatorFlag flag) const { return (flags & static_cast<uint32_t>(flag)) != 0; }
};

class SchemaTable {
 public:
  // Knows the operators of PyTorch 2.13 and torchvision 0.28. Costs an allocation, no reading.
  SchemaTable();
  ~SchemaTable();
  SchemaTable(SchemaTable&&) noexcept;
  SchemaTable& operator=(SchemaTable&&) noexcept;

  // The operator "aten::add", overload "Tensor" (empty for the default one); null when there is none. Entries
  // stay where they are as long as the table lives.
  const OperatorEntry* find(std::string_view name, std::string_view overload) const;
  const OperatorEntry* find(const OperatorName& name) const { return find(name.name, name.overload); }
  // By its name in Python, "torch.ops.aten.add.Tensor", as find_python_operator reads it.
  const OperatorEntry* find_python(std::string_view target) const;
  // As find, but throws Error(kNotFound) that says what there is.
  const OperatorEntry& get(std::string_view name, std::string_view overload) const;
  const OperatorEntry& get(const OperatorName& name) const { return get(name.name, name.overload); }

  // Every operator, in no particular order.
  std::vector<OperatorName> names() const;
  // The overloads an operator has, sorted; empty when it is unknown.
  std::vector<std::string> overloads(std::string_view name) const;

  // Adds an operator of the caller's. One that is there already must be the same, flags aside, else
  // Error(kInvalidArgument). Throws what parse_schema throws.
  const OperatorEntry& add(std::string_view schema_text, uint32_t flags = 0);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// How many operators the built-in table has.
size_t builtin_schema_count();

}  // namespace flambeau
