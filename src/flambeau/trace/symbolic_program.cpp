#include "flambeau/trace/symbolic_program.h"

#include <string>
#include <unordered_map>
#include <vector>

#include "flambeau/base/error.h"
#include "flambeau/trace/fake.h"

namespace flambeau::trace {
namespace {

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

}  // namespace

SymbolicProgram::SymbolicProgram(const graph::ExportedProgram& program, ShapeEnv& env) : env_(env) {
  // Symbols that stand alone say their own example; those that never do have none.
  std::vector<std::pair<Expr, std::optional<int64_t>>> symbols;
  std::unordered_map<std::string, size_t> places;
  const auto see = [&](const graph::SymInt& number) {
    if (number.is_literal()) return;
    const Expr& whole = number.expr().expr();
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

symbolic::SymInt SymbolicProgram::number(const graph::SymInt& number) const {
  if (number.is_literal()) return number.literal();
  return symbolic::SymInt(number.expr().expr(), env_);
}

Tensor SymbolicProgram::tensor(const graph::TensorMeta& meta) const {
  ops::Info<SymInt> info{.dtype = meta.dtype, .device = meta.device.device()};
  for (const graph::SymInt& size : meta.sizes) info.sizes.push_back(number(size));
  for (const graph::SymInt& stride : meta.strides) info.strides.push_back(number(stride));
  info.offset = number(meta.storage_offset);
  Tensor tensor = make_fake(info);
  tensor.set_requires_grad(meta.requires_grad);
  return tensor;
}

}  // namespace flambeau::trace
