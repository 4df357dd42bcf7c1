#include "flambeau/runtime/work.h"

#include "flambeau/ops/mechanism/facts.h"
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/runtime/plan/plan.h"

namespace flambeau::runtime {

Work work_of(const ops::Operator& op, std::span<const Value> arguments, std::span<const Tensor> outputs) {
  Work work;
  if (op.kind == ops::Kind::kView) return work;
  for (const Value& argument : arguments)
    for_each_tensor(argument, [&](const Tensor& tensor) { work.bytes += tensor.byte_count(); });
  for (const Tensor& output : outputs) {
    if (output.defined()) work.bytes += output.byte_count();
  }
  work.flops = ops::operation_count(op, arguments, outputs);
  return work;
}

}  // namespace flambeau::runtime
