#include "flambeau/migrate/outer_writes.h"

#include <algorithm>

#include "flambeau/base/error.h"
#include "flambeau/nn/functional/control_flow.h"
#include "flambeau/nn/session.h"
#include "flambeau/ops/mechanism/call.h"

namespace flambeau::migration {
namespace {

bool holds(const TensorList& tensors, const Tensor& wanted) {
  return std::ranges::any_of(tensors,
                             [&](const Tensor& tensor) { return tensor.storage() == wanted.storage(); });
}

}  // namespace

bool OuterWrites::take_found() {
  const size_t before = own.size();
  for (const Tensor& tensor : found) {
    if (!holds(own, tensor)) own.push_back(tensor);
  }
  found.clear();
  return own.size() > before;
}

void OuterWrites::begin_with_copies(std::span<const Value> from) const {
  for (size_t i = 0; i < own.size(); ++i) {
    const Tensor& given = from.empty() ? own[i] : from[i].tensor();
    control_flow().stand_for(own[i], ops::call<Tensor>(nn::current(), "aten::clone", given));
  }
}

void OuterWrites::add_to(TensorList& leaves) const {
  for (const Tensor& tensor : own)
    leaves.push_back(holds(leaves, tensor) ? ops::call<Tensor>(nn::current(), "aten::clone", tensor)
                                           : tensor);
}

void OuterWrites::write_back(ops::Context& context, std::span<const Value> results) const {
  for (size_t i = 0; i < own.size(); ++i) ops::call(context, "aten::copy_", own[i], results[i].tensor());
}

nn::ControlFlow& control_flow() {
  nn::Observer* const observer = nn::observer();
  nn::ControlFlow* const flow = observer == nullptr ? nullptr : observer->control_flow();
  if (flow == nullptr) throw Error(ErrorCode::kInternal, "a branch is traced, and nobody traces");
  return *flow;
}

}  // namespace flambeau::migration
