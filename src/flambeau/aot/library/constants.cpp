#include "flambeau/aot/library/constants.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "flambeau/base/error.h"

namespace flambeau::aot {
namespace {

constexpr uint64_t kAlignment = 64;

ConstantKind kind_of(graph::InputKind kind) {
  switch (kind) {
    case graph::InputKind::kParameter:
      return ConstantKind::kParameter;
    case graph::InputKind::kBuffer:
      return ConstantKind::kBuffer;
    case graph::InputKind::kTensorConstant:
      return ConstantKind::kTensorConstant;
    default:
      return ConstantKind::kUnknown;
  }
}

const Tensor* find_weight(const graph::ExportedProgram& program, std::string_view name) {
  for (const auto* const list : {&program.state_dict, &program.constants}) {
    for (const graph::Weight& weight : *list) {
      if (weight.name == name) return &weight.tensor;
    }
  }
  return nullptr;
}

std::string plain_name(std::string_view name) {
  std::string plain(name);
  for (char& c : plain) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return plain;
}

}  // namespace

Constants::Constants(const graph::ExportedProgram& program) {
  std::set<std::string> names;
  for (const graph::InputSpec& input : program.signature.inputs) {
    const ConstantKind kind = kind_of(input.kind);
    if (kind == ConstantKind::kUnknown || places_.contains(input.target)) continue;
    const Tensor* const tensor = find_weight(program, input.target);
    if (tensor == nullptr || !tensor->defined()) continue;  // which Program refuses
    Constant constant{plain_name(input.target), input.target,        kind, tensor->dtype(), tensor->sizes(),
                      tensor->strides(),        tensor->byte_count()};
    for (int number = 1; !names.insert(constant.name).second; ++number)
      constant.name = fmt::format("{}_{}", plain_name(input.target), number);
    constant.offset = blob_bytes_;
    blob_bytes_ += (constant.bytes + kAlignment - 1) / kAlignment * kAlignment;
    places_.emplace(constant.original, all_.size());
    all_.push_back(std::move(constant));
  }
  for (size_t i = 0; i < all_.size(); ++i) places_.emplace(all_[i].name, i);
}

const Constant& Constants::at(size_t index) const {
  if (index >= all_.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("there is no constant {}, only {} of them", index, all_.size()));
  }
  return all_[index];
}

size_t Constants::find(std::string_view name) const {
  const auto found = places_.find(std::string(name));
  return found == places_.end() ? all_.size() : found->second;
}

void set_weight(graph::ExportedProgram& program, std::string_view name, const Tensor& tensor) {
  for (auto* const list : {&program.state_dict, &program.constants}) {
    for (graph::Weight& weight : *list) {
      if (weight.name == name) weight.tensor = tensor;
    }
  }
}

void require_fit(const Constant& constant, const Tensor& values) {
  if (values.dtype() == constant.dtype && values.sizes() == constant.sizes) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("the constant '{}' is {}[{}], and is given {}", printable(constant.original),
                          dtype_name(constant.dtype), fmt::join(constant.sizes, ", "), values.summary()),
              "give a tensor of the same type and sizes");
}

Tensor fitted(const Constant& constant, const Tensor& values) {
  require_fit(constant, values);
  const Tensor packed = values.to_contiguous();
  Geometry geometry{constant.sizes, constant.strides, 0};
  const auto extent = static_cast<size_t>(storage_extent(geometry)) * dtype_size(constant.dtype);
  std::shared_ptr<Storage> storage = Storage::allocate(extent);
  const Tensor made = Tensor::strided(constant.dtype, geometry, storage);
  const size_t size = made.element_size();
  const size_t dims = made.dim();
  Dims at(std::span<const int64_t>(constant.sizes.begin(), dims));
  std::ranges::fill(at, 0);
  const uint8_t* from = made.element_count() == 0 ? nullptr : packed.data();
  uint8_t* const to = made.element_count() == 0 ? nullptr : made.mutable_data();
  if (made.is_contiguous()) {
    if (to != nullptr) std::copy_n(from, made.byte_count(), to);
    return made;
  }
  for (int64_t i = 0; i < made.element_count(); ++i, from += size) {
    int64_t place = 0;
    for (size_t d = 0; d < dims; ++d) place += at[d] * constant.strides[d];
    std::copy_n(from, size, to + static_cast<size_t>(place) * size);
    for (size_t d = dims; d-- > 0;) {
      if (++at[d] < constant.sizes[d]) break;
      at[d] = 0;
    }
  }
  return made;
}

}  // namespace flambeau::aot
