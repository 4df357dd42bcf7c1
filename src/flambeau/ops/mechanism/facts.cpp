#include "flambeau/ops/mechanism/facts.h"

#include "flambeau/ops/mechanism/operator.h"

namespace flambeau::ops {
namespace {

uint64_t count(const Tensor& tensor) { return static_cast<uint64_t>(tensor.element_count()); }

bool has_fractions(const Tensor& tensor) {
  const DTypeInfo& info = dtype_info(tensor.dtype());
  return info.is_floating || info.is_complex;
}

}  // namespace

Operator::Operator() = default;
Operator::~Operator() = default;

const Facts& Operator::facts() const {
  static const Facts none;
  return own_facts != nullptr ? *own_facts : base != nullptr ? base->facts() : none;
}

uint64_t operation_count(const Operator& op, std::span<const Value> arguments,
                         std::span<const Tensor> outputs) {
  if (outputs.empty()) return 0;
  const Facts& facts = op.facts();
  if (facts.work != nullptr) return facts.work(arguments, outputs[0]);
  return op.is(Trait::kElementwise) && has_fractions(outputs[0]) ? count(outputs[0]) : 0;
}

uint64_t no_work(const Tensor&) { return 0; }

uint64_t product_work(const Tensor& out, const Tensor& left) {
  return left.dim() == 0 ? 0 : 2 * count(out) * static_cast<uint64_t>(left.sizes().back());
}

uint64_t reduction_work(const Tensor& out, const Tensor& self) {
  return has_fractions(out) && count(out) < count(self) ? count(self) : 0;
}

}  // namespace flambeau::ops
