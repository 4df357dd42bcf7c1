#include "flambeau/trace/symbolic_program.h"

#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/symbolic/parse.h"
#include "flambeau/trace/fake.h"

namespace flambeau::trace {
namespace {

using graph::ArgumentKind;
using symbolic::Expr;
using symbolic::Number;
using symbolic::NumberKind;
using symbolic::ValueRange;

ValueRange range_of(const graph::ExportedProgram& program, std::string_view name) {
  for (const auto& [symbol, range] : program.range_constraints) {
    if (symbol != name) continue;
    return {range.min ? Number(*range.min) : Number::of_kind(NumberKind::kNegativeIntInfinity),
            range.max ? Number(*range.max) : Number::int_infinity()};
  }
  return ValueRange::unknown_int();
}

Device device_of(const graph::DeviceSpec& spec) {
  return parse_device(spec.to_string()).value_or(Device{.type = DeviceType::kOther});
}

template <typename Number>
Value number_value(const graph::SymArgument<Number>& number, const SymbolicProgram::Lookup& lookup) {
  return number.ref ? lookup(*number.ref) : Value(number.literal);
}

Tensor tensor_value(const graph::ValueRef& ref, const SymbolicProgram::Lookup& lookup) {
  return ref ? lookup(*ref).tensor() : Tensor();
}

}  // namespace

SymbolicProgram::SymbolicProgram(const graph::ExportedProgram& program, ShapeEnv& env) : env_(env) {
  // Symbols that stand alone say their own example; those that never do have none.
  std::vector<std::pair<Expr, std::optional<int64_t>>> symbols;
  std::unordered_map<std::string, size_t> places;
  const auto see = [&](const graph::SymInt& number) {
    if (number.is_literal()) return;
    const Expr whole = expr(number.expr().text);
    for (const Expr& symbol : free_symbols(whole)) {
      const auto [place, is_new] = places.try_emplace(std::string(symbol.name()), symbols.size());
      if (is_new) symbols.emplace_back(symbol, std::nullopt);
      const int64_t* const hint = std::get_if<int64_t>(&number.expr().hint);
      if (whole.is_symbol() && hint != nullptr) symbols[place->second].second = *hint;
    }
  };
  for (const graph::Value* const value : program.graph().values_of(graph::ValueKind::kTensor)) {
    const graph::TensorMeta& meta = *value->tensor();
    for (const graph::SymInt& size : meta.sizes) see(size);
    for (const graph::SymInt& stride : meta.strides) see(stride);
    see(meta.storage_offset);
  }
  for (const graph::Value* const value : program.graph().values_of(graph::ValueKind::kSymInt))
    see(std::get<graph::SymInt>(value->meta()));
  for (const auto& [symbol, hint] : symbols) env.adopt(symbol, hint, range_of(program, symbol.name()));
}

Expr SymbolicProgram::expr(const std::string& text) const {
  const auto found = known_.find(text);
  if (found != known_.end()) return found->second;
  return known_.emplace(text, symbolic::parse(text)).first->second;
}

symbolic::SymInt SymbolicProgram::number(const graph::SymInt& number) const {
  if (number.is_literal()) return number.literal();
  return symbolic::SymInt(expr(number.expr().text), env_);
}

Tensor SymbolicProgram::tensor(const graph::TensorMeta& meta) const {
  ops::Info<SymInt> info{.dtype = meta.dtype, .device = device_of(meta.device)};
  for (const graph::SymInt& size : meta.sizes) info.sizes.push_back(number(size));
  for (const graph::SymInt& stride : meta.strides) info.strides.push_back(number(stride));
  info.offset = number(meta.storage_offset);
  Tensor tensor = make_fake(info);
  tensor.set_requires_grad(meta.requires_grad);
  return tensor;
}

Value SymbolicProgram::argument(const graph::Argument& argument, const Lookup& lookup) {
  switch (argument.kind()) {
    case ArgumentKind::kNone:
      return {};
    case ArgumentKind::kTensor:
      return lookup(*argument.get<ArgumentKind::kTensor>());
    case ArgumentKind::kOptionalTensor: {
      const graph::ValueRef& ref = argument.get<ArgumentKind::kOptionalTensor>();
      return ref ? lookup(*ref) : Value();
    }
    case ArgumentKind::kTensors:
    case ArgumentKind::kOptionalTensors: {
      TensorList list;
      argument.for_each_ref([&](const graph::ValueRef& ref) { list.push_back(tensor_value(ref, lookup)); });
      return list;
    }
    case ArgumentKind::kInt:
      return argument.get<ArgumentKind::kInt>();
    case ArgumentKind::kInts:
      return Dims(std::span<const int64_t>(argument.get<ArgumentKind::kInts>()));
    case ArgumentKind::kFloat:
      return argument.get<ArgumentKind::kFloat>();
    case ArgumentKind::kFloats:
      return argument.get<ArgumentKind::kFloats>();
    case ArgumentKind::kString:
      return argument.get<ArgumentKind::kString>();
    case ArgumentKind::kStrings:
      return argument.get<ArgumentKind::kStrings>();
    case ArgumentKind::kSymInt:
      return number_value(argument.get<ArgumentKind::kSymInt>(), lookup);
    case ArgumentKind::kSymBool:
      return number_value(argument.get<ArgumentKind::kSymBool>(), lookup);
    case ArgumentKind::kSymFloat:
      return number_value(argument.get<ArgumentKind::kSymFloat>(), lookup);
    case ArgumentKind::kSymInts: {
      ValueList list;
      for (const auto& number : argument.get<ArgumentKind::kSymInts>())
        list.push_back(number_value(number, lookup));
      return list;
    }
    case ArgumentKind::kScalarType:
      return argument.get<ArgumentKind::kScalarType>();
    case ArgumentKind::kMemoryFormat:
      return argument.get<ArgumentKind::kMemoryFormat>();
    case ArgumentKind::kLayout:
      return argument.get<ArgumentKind::kLayout>();
    case ArgumentKind::kDevice:
      return device_of(argument.get<ArgumentKind::kDevice>());
    case ArgumentKind::kBool:
      return argument.get<ArgumentKind::kBool>();
    case ArgumentKind::kBools: {
      const auto& flags = argument.get<ArgumentKind::kBools>();
      return std::vector<bool>(flags.begin(), flags.end());
    }
    case ArgumentKind::kComplex:
      return argument.get<ArgumentKind::kComplex>();
    default:
      break;
  }
  throw Error(ErrorCode::kUnsupported, fmt::format("an argument of kind {} cannot be traced again",
                                                   argument_kind_key(argument.kind())));
}

}  // namespace flambeau::trace
