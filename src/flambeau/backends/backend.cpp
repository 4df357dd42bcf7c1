#include "flambeau/backends/backend.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

#include "flambeau/base/error.h"

namespace flambeau::backends {
namespace {

constexpr std::unique_ptr<const Backend> (*kMakers[])() = {make_onednn, make_portable};

}  // namespace

std::shared_ptr<Storage> Backend::allocate(size_t bytes) const { return Storage::uninitialized(bytes); }

void Backend::copy(const Tensor& from, const Tensor& to) const {
  if (from.byte_count() != 0) std::memcpy(to.mutable_data(), from.data(), from.byte_count());
}

kernels::ImageOrder Backend::image_order(const ops::ConvolutionCall&) const {
  return kernels::ImageOrder::kChannelsFirst;
}
LayerPointer Backend::convolution(ops::Context&, const Convolution&) const { return nullptr; }
LayerPointer Backend::product(ops::Context&, const Product&, PackedWeights&) const { return nullptr; }
LayerPointer Backend::recurrent(ops::Context&, const ops::RecurrentCall&) const { return nullptr; }
LayerPointer Backend::kernel(ops::Context&, const ops::Operator&, std::span<const Value>,
                             std::span<const Tensor>) const {
  return nullptr;
}

std::shared_ptr<const Backend> make_backend(std::string_view name) {
  for (const auto make : kMakers) {
    std::unique_ptr<const Backend> made = make();
    if (made && (name.empty() || made->name() == name)) return made;
  }
  throw Error(ErrorCode::kInvalidArgument, fmt::format("there is no backend '{}' in this build; it has {}",
                                                       printable(name), fmt::join(backend_names(), " and ")));
}

std::vector<std::string_view> backend_names() {
  std::vector<std::string_view> names;
  for (const auto make : kMakers) {
    if (const std::unique_ptr<const Backend> made = make()) names.push_back(made->name());
  }
  return names;
}

}  // namespace flambeau::backends
