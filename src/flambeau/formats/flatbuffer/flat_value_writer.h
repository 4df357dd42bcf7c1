// Builds the row of values of a mobile module, in the order in which PyTorch does: small values once, what
// has an identity each time it is met.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "flambeau/archive/flatbuffer/writer.h"
#include "flambeau/formats/torchscript/value_pickler.h"
#include "flambeau/script/bytecode/bytecode.h"
#include "flambeau/script/unit.h"
#include "flambeau/script/values/ivalue.h"

namespace flambeau::script {

class FlatValueWriter {
 public:
  FlatValueWriter(flatbuffer::Builder& builder, const Unit& unit, const SaveHooks& hooks,
                  const KeptStates& kept, const bytecode::Program& program);

  // The number of the value. Throws Error(kUnsupported, kLimit) for what flatbuffers cannot hold, and what
  // the hooks throw.
  uint32_t add(const IValue& value, int depth = 0);
  // A constant of the sources: PyTorch writes tensors once more for them.
  uint32_t add_constant(const IValue& value);
  uint32_t add_function(const bytecode::Code& code);

  const std::vector<flatbuffer::Built>& values() const { return values_; }
  const std::vector<flatbuffer::Built>& object_types() const { return object_types_; }
  // By the number of their storage; one of those that are in it.
  const std::vector<Tensor>& storages() const { return storages_; }

 private:
  using Built = flatbuffer::Built;
  Built build(const IValue& value, int depth, uint8_t& kind);
  Built build_object(const IValue& value, int depth);
  Built build_native(const std::string& name, const IValue& state, int depth);
  Built object_table(uint32_t type, uint32_t state, Built attributes, uint32_t set_state);
  Built build_dict(const IValue& value, int depth);
  Built build_tensor(const Tensor& tensor);
  Built build_function(const bytecode::Code& code);
  Built build_schema(const bytecode::FunctionSchema& schema);
  std::vector<Built> argument_tables(const std::vector<bytecode::SchemaArgument>& arguments);
  Built one_field(Built field);
  Built numbers(const std::vector<IValue>& items, int depth);
  uint32_t insert(uint8_t kind, Built built);
  // `type`: null for a class of PyTorch's own.
  uint32_t type_of(const std::string& name, const Class* type);

  flatbuffer::Builder& builder_;
  const Unit& unit_;
  const SaveHooks& hooks_;
  const KeptStates& kept_;
  std::vector<Built> values_;
  std::vector<Built> object_types_;
  std::vector<Tensor> storages_;
  std::unordered_map<const Storage*, uint32_t> storage_numbers_;
  std::unordered_map<std::string, uint32_t> known_;  // small values, by what they are
  std::unordered_map<std::string, uint32_t> functions_;
  std::unordered_map<std::string, uint32_t> types_;
  std::vector<IValue> made_;               // so that identities stay their own
  std::unordered_set<std::string> names_;  // of all functions
};

}  // namespace flambeau::script
