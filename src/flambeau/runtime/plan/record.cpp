#include "flambeau/runtime/plan/record.h"

#include <algorithm>
#include <cstring>

#include "flambeau/base/error.h"
#include "flambeau/ops/engines/overlap.h"
#include "flambeau/ops/mechanism/call.h"
#include "flambeau/ops/mechanism/library.h"
#include "flambeau/ops/mechanism/operator.h"
#include "flambeau/ops/mechanism/quantized.h"
#include "flambeau/ops/mechanism/strides.h"
#include "flambeau/runtime/plan/uses.h"

namespace flambeau::runtime {
namespace {

using ops::Kind;

// Results that are made anew when a program is loaded rather than in each run may not be larger than this,
// unless something as large goes in.
constexpr uint64_t kMostFolded = uint64_t{16} << 20;

Tensor over(std::shared_ptr<Storage> storage, const Tensor& like) {
  return Tensor::strided(like.dtype(), like.geometry(), std::move(storage), like.device());
}

}  // namespace

Tensor Recorder::stand_in(const Tensor& like, Buffer buffer) {
  const size_t bytes = static_cast<size_t>(storage_extent(like.geometry())) * like.element_size();
  buffer.bytes = bytes;
  std::shared_ptr<Storage> storage = Storage::meta(bytes);
  plan_.buffer_of.emplace(storage.get(), plan_.buffers.size());
  plan_.buffers.push_back(buffer);
  plan_.stand_ins.push_back(storage);
  return over(std::move(storage), like);
}

Tensor Recorder::fresh(const ops::Info<Size>& info) {
  const int64_t count = flambeau::element_count(info.sizes);
  Geometry geometry{info.sizes, info.strides, 0};
  const size_t bytes =
      count == 0 ? 0 : static_cast<size_t>(storage_extent(geometry)) * dtype_size(info.dtype);
  std::shared_ptr<Storage> storage = Storage::meta(bytes);
  plan_.buffer_of.emplace(storage.get(), plan_.buffers.size());
  plan_.buffers.push_back({.kind = Buffer::Kind::kArena, .bytes = bytes});
  plan_.stand_ins.push_back(storage);
  return Tensor::strided(info.dtype, std::move(geometry), std::move(storage), info.device);
}

bool Recorder::is_known(std::span<const Value> arguments) const {
  bool known = true;
  for (const Value& argument : arguments) {
    for_each_tensor(argument, [&](const Tensor& tensor) { known = known && is_known(tensor); });
  }
  return known;
}

bool Recorder::may_fold(const ops::Operator& op, std::span<const Value> arguments) const {
  if (op.is(ops::Trait::kRandom) || op.schema.returns.empty() || !is_known(arguments)) return false;
  bool may = true;
  uint64_t largest = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool is_written = op.schema.arguments[i].is_written();
    for_each_tensor(arguments[i], [&](const Tensor& tensor) {
      largest = std::max(largest, tensor.byte_count());
      if (is_written)
        may = may && own_.contains(tensor.storage().get()) && !read_.contains(tensor.storage().get());
    });
  }
  if (may && op.kind == Kind::kKernel) {
    for (const ops::Info<Size>& info : op.shape(arguments)) {
      const uint64_t bytes =
          static_cast<uint64_t>(flambeau::element_count(info.sizes)) * dtype_size(info.dtype);
      may = may && bytes <= std::max(kMostFolded, largest);
    }
  }
  return may;
}

std::vector<Value> Recorder::fold(ops::Context& context, const ops::Operator& op,
                                  std::span<const Value> arguments) {
  ops::Context plain = context.without_interceptor();
  std::vector<Value> results = ops::execute(plain, op, arguments);
  for (const Value& result : results) {
    for_each_tensor(result, [&](const Tensor& tensor) {
      // A view of a weight is not our own.
      bool is_new = true;
      for (const Value& argument : arguments) {
        for_each_tensor(argument,
                        [&](const Tensor& given) { is_new = is_new && given.storage() != tensor.storage(); });
      }
      if (is_new && own_.insert(tensor.storage().get()).second) kept_.push_back(tensor.storage());
    });
  }
  return results;
}

// A constant that a run changes: from now on it is memory of the run, which starts with what the constant
// holds.
void Recorder::demote(const std::shared_ptr<Storage>& storage, const ops::Library& library) {
  const auto bytes = static_cast<int64_t>(storage->size());
  std::shared_ptr<Storage> snapshot = Storage::uninitialized(storage->size());
  std::memcpy(snapshot->mutable_bytes().data(), storage->bytes().data(), storage->size());
  plan_.buffer_of.emplace(storage.get(), plan_.buffers.size());
  plan_.buffers.push_back({.kind = Buffer::Kind::kArena, .bytes = storage->size()});
  plan_.stand_ins.push_back(storage);
  Step step;
  step.op = &library.get("aten::clone");
  step.arguments = {Tensor::contiguous(DType::kUInt8, Dims{bytes}, std::move(snapshot)), Value()};
  step.outputs = {Tensor::contiguous(DType::kUInt8, Dims{bytes}, storage)};
  step.node = node_;
  plan_.steps.insert(plan_.steps.begin(), std::move(step));
}

void Recorder::add_step(const ops::Operator& op, std::span<const Value> arguments,
                        std::vector<Tensor> outputs) {
  Step step;
  step.op = &op;
  step.arguments.assign(arguments.begin(), arguments.end());
  step.outputs = std::move(outputs);
  step.node = node_;
  step.work = work_of(op, arguments, step.outputs);
  for (const Value& argument : arguments) {
    for_each_tensor(argument, [&](const Tensor& tensor) {
      if (is_known(tensor)) read_.insert(tensor.storage().get());
    });
  }
  plan_.steps.push_back(std::move(step));
}

// An image as convolutions want it. Their layers have no quick way from another order.
Tensor Recorder::turned(const Tensor& image, const ops::Library& library) {
  ops::Info<Size> info = ops::info_of(image);
  if (ops::is_channels_last(info)) return image;
  auto& [source, copy] = turned_[image.storage().get()];
  if (!copy.defined() || !is_same_view(source, image)) {
    source = image;
    info.strides = ops::channels_last_strides(info.sizes);
    info.offset = 0;
    copy = fresh(info);
    const Value arguments[] = {image, Value()};
    add_step(library.get("aten::clone"), arguments, {copy});
    order_.note(copy, image.strides());
  }
  return copy;
}

std::vector<Value> Recorder::add_kernel(const ops::Library& library, const ops::Operator& op,
                                        std::span<const Value> given) {
  const bool starts_images = order_.starts_here(op, given);
  std::vector<Value> arguments(given.begin(), given.end());
  if (starts_images) arguments[0] = turned(arguments[0].tensor(), library);
  TensorList outputs;
  bool has_elements = false;
  ops::Infos<Size> infos = op.shape(arguments);
  if (starts_images) infos[0].strides = ops::channels_last_strides(infos[0].sizes);
  for (const ops::Info<Size>& info : infos) {
    outputs.push_back(fresh(info));
    has_elements = has_elements || outputs.back().element_count() > 0;
  }
  if (starts_images || order_.has_changed(arguments)) {
    const ops::Infos<Size> believed = op.shape(order_.believed(arguments));
    for (size_t i = 0; i < outputs.size(); ++i) order_.note(outputs[i], believed[i].strides);
  }
  if (has_elements) add_step(op, arguments, outputs);
  std::vector<Value> results;
  if (op.returns_list()) {
    results.emplace_back(std::move(outputs));
  } else {
    for (Tensor& tensor : outputs) results.emplace_back(std::move(tensor));
  }
  return results;
}

// One that only writes to its arguments, or checks them, is a step. Any other must get along without data.
std::vector<Value> Recorder::add_function(ops::Context& context, const ops::Operator& op,
                                          std::span<const Value> arguments) {
  if (!op.schema.is_mutable() && !op.schema.returns.empty()) return ops::execute(context, op, arguments);
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!op.schema.arguments[i].is_written()) continue;
    for_each_tensor(arguments[i], [&](const Tensor& tensor) {
      if (is_known(tensor)) demote(tensor.storage(), context.library());
    });
  }
  add_step(op, arguments, {});
  std::vector<Value> results;
  for (size_t i = 0; i < op.schema.returns.size(); ++i) results.push_back(arguments[i]);
  return results;
}

std::vector<Value> Recorder::add_in_place(ops::Context& context, const ops::Operator& op,
                                          std::span<const Value> arguments) {
  const ops::Operator& base = *op.base;
  if (base.kind == Kind::kView) return ops::execute(context, base, arguments);
  const Tensor& self = arguments[0].tensor();
  if (is_known(self)) demote(self.storage(), context.library());
  if (base.kind == Kind::kKernel && base.is(ops::Trait::kElementwise) && !ops::has_internal_overlap(self)) {
    const ops::Infos<Size> infos = base.shape(arguments);
    const bool fits = infos.size() == 1 && infos[0].dtype == self.dtype() && infos[0].sizes == self.sizes();
    const bool is_clear = std::ranges::none_of(arguments, [&](const Value& argument) {
      const Tensor* const tensor = argument.get_if<Tensor>();
      return tensor != nullptr && tensor->defined() && ops::overlaps_partly(*tensor, self);
    });
    if (fits && is_clear) {
      if (self.element_count() > 0) add_step(base, arguments, {self});
      return {arguments[0]};
    }
  }
  const std::vector<Value> results = ops::call(context, base, arguments);
  ops::call(context, "aten::copy_", self, results.at(0));
  return {arguments[0]};
}

Tensor Recorder::restored(const Tensor& tensor, const ops::Library& library) {
  if (!order_.is_changed(tensor)) return tensor;
  Tensor& copy = restored_[tensor.storage().get()];
  if (!copy.defined()) {
    ops::Info<Size> info = ops::info_of(order_.believed(tensor));
    info.offset = 0;
    copy = fresh(info);
    const Value arguments[] = {tensor, Value()};
    add_step(library.get("aten::clone"), arguments, {copy});
  }
  return copy;
}

std::vector<Value> Recorder::call(ops::Context& context, const ops::Operator& op,
                                  std::span<const Value> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (op.schema.arguments[i].is_written())
      for_each_tensor(arguments[i], [&](const Tensor& tensor) { forget(tensor); });
  }
  if (!order_.has_changed(arguments)) return record(context, op, arguments);
  // Those that may give their argument itself, or a view of it, look at its strides.
  const bool is_decomposed = op.kind == Kind::kDecomposition && !op.schema.is_view();
  if (ImageOrder::is_indifferent(op.kind == Kind::kInPlace ? *op.base : op) || is_decomposed) {
    return record(context, op, arguments);
  }
  std::vector<Value> plain(arguments.begin(), arguments.end());
  for (size_t i = 0; i < plain.size(); ++i) {
    if (op.schema.arguments[i].is_written()) continue;
    for_each_tensor(plain[i], [&](Tensor& tensor) { tensor = restored(tensor, context.library()); });
  }
  return record(context, op, plain);
}

std::vector<Value> Recorder::record(ops::Context& context, const ops::Operator& op,
                                    std::span<const Value> arguments) {
  if (may_fold(op, arguments)) return fold(context, op, arguments);
  if (ops::takes_quantized(arguments)) return add_function(context, op, arguments);
  switch (op.kind) {
    case Kind::kKernel:
      return add_kernel(context.library(), op, arguments);
    case Kind::kView:
      return ops::execute(context, op, arguments);
    case Kind::kDecomposition:
      return op.decomposition(context, arguments);
    case Kind::kFunction:
      return add_function(context, op, arguments);
    case Kind::kInPlace:
      return add_in_place(context, op, arguments);
    case Kind::kViewCopy: {
      std::vector<Value> results = ops::execute(context, *op.base, arguments);
      for (Value& result : results) {
        for_each_tensor(result, [&](Tensor& tensor) {
          tensor = ops::call(context, "aten::clone", tensor, MemoryFormat::kContiguous);
        });
      }
      return results;
    }
    case Kind::kOut:
      break;
  }
  throw Error(ErrorCode::kUnsupported, "an operator with given results has no plan");
}

}  // namespace flambeau::runtime
