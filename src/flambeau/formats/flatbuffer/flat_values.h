// The values of a mobile module in a flatbuffer: a row, each of which may refer to those before it.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "flambeau/formats/flatbuffer/flat_module.h"
#include "flambeau/formats/torchscript/object_maker.h"
#include "flambeau/script/bytecode/bytecode.h"
#include "flambeau/script/unit.h"
#include "flambeau/value/type.h"

namespace flambeau::script {

// All functions, in order, without their constants.
bytecode::Program read_flat_program(const FlatModule& module);

class FlatValues {
 public:
  // Objects get classes of `unit`.
  FlatValues(const FlatModule& module, Unit& unit, const LoadHooks& hooks, KeptStates& kept)
      : module_(module), unit_(unit), objects_(unit, hooks, kept) {}

  // Reads the first `count`. Functions among them, those of `program` in its order, get their constants; null
  // leaves functions alone. Throws Error(kCorrupt, kUnsupported, kLimit) located at the value, and what the
  // hooks throw.
  void read(size_t count, bytecode::Program* program);
  // Throws Error(kCorrupt) for one that was not read.
  const IValue& at(uint64_t number) const;

 private:
  IValue make(const flatbuffer::Table& value);
  IValue make_items(const flatbuffer::Table& list, bool is_tuple);
  IValue make_dict(const flatbuffer::Table& dict);
  IValue make_object(const flatbuffer::Table& object);
  IValue make_enumerator(const flatbuffer::Table& held);
  Tensor make_tensor(const flatbuffer::Table& tensor, bool may_be_quantized);
  // That value, which the one that is being read refers to.
  const IValue& part(uint64_t number);
  Type type_named(std::string_view text);

  const FlatModule& module_;
  Unit& unit_;
  ObjectMaker objects_;
  std::vector<IValue> values_;
  std::vector<uint16_t> depths_;
  uint16_t depth_ = 0;  // of the one that is being read
  std::unordered_map<std::string_view, Type> types_;
  IValue empty_tuple_ = IValue::tuple({});
};

}  // namespace flambeau::script
